/*
 * arch_trace.h (arm64) - registers of a traced thread, and calls made by it
 *
 * See arch/generic/arch_trace_calls.h for what the definitions are for. The other
 * ABI is AArch32.
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
	bool returns;       /* to the link register, as it is */
	bool thumb;
	unsigned int words; /* on the stack that it takes before */
};

struct arch_trace_regs {
	uint64_t word[34]; /* arch/arm64/include/uapi/asm/ptrace.h: user_pt_regs */
	size_t size;
};

/* Not made use of: two stops serve as well. */
#define ARCH_TRACE_CAN_STEP false

enum { ARCH_TRACE_STACK = 2 };

/* Of a frame the kernel reads no more than that, but wants room for all of it. */
enum { ARCH_TRACE_FRAME = 1136, ARCH_TRACE_FRAME_ROOM = 4688 };

/*
 * Kernels built with pac-ret+leaf have no call in their vDSO that returns to
 * what the link register holds unsigned.
 */
static inline bool arch_trace_lacks_code(const struct arch_trace_site *site, bool sigreturn)
{
	(void)sigreturn;
	return !site->returns;
}

static inline void arch_trace_take_code(struct arch_trace_site *site, uint64_t at)
{
	site->at = at;
	site->returns = true;
}

#include "arch_trace_calls.h"

#endif
