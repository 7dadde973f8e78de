/*
 * arch_trace.h (riscv) - registers of a traced thread, and calls made by it
 *
 * See arch/generic/arch_trace_calls.h for what the definitions are for. Programs of
 * 32 bits (CONFIG_COMPAT) have no site: they are refused.
 */
#ifndef ARCH_TRACE_H
#define ARCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_trace_site {
	uint64_t at;
	uint64_t sigreturn; /* the vDSO's own trampoline */
	bool clean;         /* never: the call's arguments stay */
	bool returns;       /* always */
};

struct arch_trace_regs {
	uint64_t word[32]; /* arch/riscv/include/uapi/asm/ptrace.h: user_regs_struct */
	size_t size;
};

/* The architecture has no single step. */
#define ARCH_TRACE_CAN_STEP false

enum { ARCH_TRACE_STACK = 1 };

enum { ARCH_TRACE_FRAME = 1088, ARCH_TRACE_FRAME_ROOM = ARCH_TRACE_FRAME };

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
