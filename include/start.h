/*
 * start.h - the initial stack, as the kernel built it for this process
 *
 * Reads what fs/binfmt_elf.c:create_elf_tables() left at the stack pointer.
 * Everything points into that stack; nothing is copied or changed.
 */
#ifndef START_H
#define START_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct start {
	unsigned long argc;
	char **argv;
	char **envp;
	unsigned long envc;
	const Elf64_auxv_t *auxv; /* AT_NULL-terminated */
	size_t auxc;              /* pairs, AT_NULL included */

	/* Values of the vector, 0 where it has no such entry. */
	uint64_t page_size, flags, secure, vdso, phdr, hwcap, uid, euid;
	const char *random, *platform, *base_platform, *execfn;
	int exec_fd; /* AT_EXECFD, -1 if none */
};

void start_read(struct start *s, void *sp);

/* Value of NAME in the environment, NULL if unset. */
const char *start_getenv(const struct start *s, const char *name);

#endif
