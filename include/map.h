/*
 * map.h - from a plan to memory
 *
 * Chooses addresses in the zones in which the running kernel would have put
 * the images, and maps them file-backed, segment by segment, over nothing
 * that exists: a collision is an error (126), as it is for execve. All of it
 * happens before the point of no return.
 */
#ifndef MAP_H
#define MAP_H

#include "arch.h"
#include "diag.h"
#include "elf_plan.h"
#include "start.h"
#include "vdso.h"

/* The address space as the kernel set it up for this process. */
struct zones {
	uint64_t page;
	struct arch_space space;
	bool randomised;  /* PF_RANDOMIZE */
	bool brk_moved;   /* brk of a static PIE is in the ET_DYN zone */
	uint64_t brk;     /* our own initial brk */
	uint64_t brk_gap; /* random bytes the kernel put before brk */
	uint64_t stack_end;
	struct vdso vdso;           /* its block is found when it has to move */
	uint64_t image, image_size; /* our own */
};

struct image {
	const char *path;
	int fd;
	struct elf_file elf;
	struct elf_plan plan;
	uint64_t bias;
	int exec_prot; /* PROT_BTI and the like, for executable file mappings */
};

void zones_read(const struct start *s, const struct arch_space *space, uint64_t stack_end,
		struct zones *z);

/* Map the program: at its addresses, in the ET_DYN zone, or as map_high(). */
int map_program(struct diag *d, struct zones *z, struct image *program);

/*
 * Map an interp (or a static PIE), highest in the mmap zone, with the vDSO
 * below it, as execve does. UNBIASED_PROGRAM: the program is where its file
 * says; an interp's addresses are then a hint.
 */
int map_interp(struct diag *d, struct zones *z, struct image *interp, bool unbiased_program);

/* Initial brk of PROGRAM. */
uint64_t map_brk(const struct zones *z, const struct image *program);

#endif
