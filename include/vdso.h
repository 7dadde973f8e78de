/*
 * vdso.h - the vDSO and the data pages in front of it
 *
 * execve maps the vDSO after the interp, so it lies below; for us it is there
 * first. It can be moved by mremap(2) as one block, which the kernel follows
 * (arch_setup_additional_pages(), vdso_mremap()).
 */
#ifndef VDSO_H
#define VDSO_H

#include <stdbool.h>
#include <stdint.h>

struct vdso {
	uint64_t text;        /* AT_SYSINFO_EHDR, 0 if there is no vDSO */
	uint64_t block, size; /* with its data pages; size 0: do not move */
};

/*
 * Find the block that v->text is in. STACK: an address in the stack; a vDSO
 * above it was not placed by mmap and stays where it is.
 */
void vdso_find(struct vdso *v, uint64_t stack, uint64_t page);

/* Move the block to TO. False if the kernel does not let us (nothing moved).
 * Does not return where a part moved and the rest did not.
 */
bool vdso_move(struct vdso *v, uint64_t to, uint64_t page);

/* Executable bytes of the vDSO, for arch_find_leave_site(). */
const unsigned char *vdso_code(const struct vdso *v, uint64_t *size);

/*
 * How much is mapped of a vDSO that begins with HEAD, but for the rest of the
 * last page: sections that are not loaded are there, too. 0 if it is none.
 */
uint64_t vdso_file_size(const void *head);

#endif
