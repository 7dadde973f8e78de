/*
 * arch_trace.h (x86_64) - registers of a traced thread, and calls made by it
 *
 * Every architecture has a file of this name with the same definitions; what
 * they are for arch/generic/arch_trace_calls.h says. The other ABI is i386.
 */
#ifndef ARCH_TRACE_H
#define ARCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A system call instruction of the target's vDSO, and what follows it. */
struct arch_trace_site {
	uint64_t at;
	unsigned int words; /* stack words it skips before its return */
	bool frame;         /* and it takes the stack from the frame pointer */
	bool clean;         /* it clears every register a call leaves changed */
	bool returns;       /* to where a last call is to go on */
	uint64_t sigreturn; /* where that call is made; 0 if nowhere */
};

struct arch_trace_regs {
	uint64_t word[27]; /* arch/x86/include/asm/user_64.h: user_regs_struct */
	size_t size;       /* as the kernel returned it */
};

/* PTRACE_SINGLESTEP stops right after a system call. */
#define ARCH_TRACE_CAN_STEP true

enum { ARCH_TRACE_STACK = 32 };

enum { ARCH_TRACE_FRAME = 304, ARCH_TRACE_FRAME_ROOM = ARCH_TRACE_FRAME };

static inline bool arch_trace_lacks_code(const struct arch_trace_site *site, bool sigreturn)
{
	return sigreturn && !site->sigreturn;
}

static inline void arch_trace_take_code(struct arch_trace_site *site, uint64_t at)
{
	site->sigreturn = at;
}

#include "arch_trace_calls.h"

#endif
