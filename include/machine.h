/*
 * machine.h - what every architecture describes in the same words
 *
 * Included by arch/ARCH/arch.h, which has the difference: numbers, rules, and
 * the structs that are only named here.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The user address space as this kernel and this CPU make it. */
struct arch_space {
	uint64_t task;      /* TASK_SIZE: mappings of a program end below */
	uint64_t stack_top; /* STACK_TOP: where the stack ends but for its gap */
	uint64_t dyn_base;  /* ELF_ET_DYN_BASE */
};

/* The state in which the target starts. */
struct arch_entry {
	uint64_t pc, sp;
	uint64_t base;      /* what its first code is biased by */
	unsigned int flags; /* e_flags of the program */
	uint64_t hwcap;     /* AT_HWCAP as we got it */
};

/*
 * What arch_enforce() did: hidden features that can be turned off for a
 * process and what it starts are off now; or they are at its next exec; or
 * this architecture has none.
 */
enum arch_enforced { ARCH_ENFORCED, ARCH_ENFORCED_AT_EXEC, ARCH_ENFORCES_NOTHING };

/*
 * A "leave site" is an instruction sequence of the new image (vDSO, interp or
 * program) that makes a system call and then returns, so that the last page of
 * ours can be unmapped from code that is not ours.
 */
struct arch_leave_site;

/* Search CODE (SIZE bytes, mapped at address AT) for what SITE still lacks;
 * it starts out as zeroes. True once SITE cannot get better. A site that can
 * be left by has an address (AT).
 */
bool arch_find_leave_site(const unsigned char *code, size_t size, uint64_t at,
			  struct arch_leave_site *site);

/* The way out, and its code, position-independent: [arch_leave, arch_leave_end). */
struct arch_leave;
__attribute__((noreturn, visibility("hidden"))) void arch_leave(const struct arch_leave *how);
extern const char arch_leave_end[] __attribute__((visibility("hidden")));

#endif
