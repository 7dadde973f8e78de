/*
 * stack.h - the target's initial stack, where the kernel would have put it
 *
 * The new strings, vector and pointers are built in the kernel's own [stack],
 * from its end downwards, with the arithmetic of fs/exec.c and
 * fs/binfmt_elf.c:create_elf_tables(); the random gaps are those the kernel
 * chose for this process. stack_plan() only computes. stack_build() writes,
 * and may write over everything above its own frame.
 */
#ifndef STACK_H
#define STACK_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "hwcap.h"
#include "start.h"

enum {
	STACK_PREFIX_MAX = 16,
	STACK_AUX_MAX = 64, /* AT_VECTOR_SIZE is at most about 40 pairs */
	STACK_PLATFORM_MAX = 128,
};

struct stack_args {
	unsigned int prefixes; /* strings before the rest of argv */
	const char *const *prefix;
	unsigned long skip; /* of our argv: how many are not passed on */
	const char *execfn;
};

struct stack_plan {
	uint64_t sp; /* 16-byte aligned, at argc */
	unsigned long argc, envc;
	uint64_t strings;                       /* argv[0]: arg_start */
	uint64_t block, block_size, block_from; /* argv rest and environment */
	uint64_t env_start, execfn;             /* execfn is env_end and arg strings' end */
	char *const *pointers_from;             /* to the strings of the block, */
	unsigned long pointers;                 /* both NULLs included */
	uint64_t end;                           /* end of the stack */
	uint64_t random;                        /* random bytes and platform strings */
	uint64_t random_from, random_size;
	uint64_t strings_from; /* where our own argv[0] is */
	int64_t platform_shift;
};

/* What differs from our own vector. */
struct stack_aux {
	uint64_t phdr, phent, phnum, base, entry, vdso;
	bool no_vdso;
	struct hwcaps hide;
};

/*
 * Compute where everything goes. Returns 0, or EINVAL if the initial stack is
 * not laid out as the kernel lays it out.
 */
int stack_plan(const struct start *s, const struct stack_args *args, struct stack_plan *plan);

/*
 * The new vector in AUXV (room for STACK_AUX_MAX pairs): the kernel's entries
 * in their order, as changed by AUX. Returns the number of pairs, AT_NULL
 * included. Pure.
 */
size_t stack_vector(const struct start *s, const struct stack_plan *plan,
		    const struct stack_aux *aux, Elf64_auxv_t *auxv);

/* Write it. PREFIX strings and AUXV must lie below plan->sp. */
void stack_build(const struct stack_plan *plan, const struct stack_args *args,
		 const Elf64_auxv_t *auxv, size_t auxc);

#endif
