/*
 * arch_trace.h (ppc64) - registers of a traced thread, and calls made by it
 *
 * See arch/generic/arch_trace_calls.h for what the definitions are for. The other
 * ABI is that of 32-bit PowerPC, where the kernel is big endian.
 */
#ifndef ARCH_TRACE_H
#define ARCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_trace_site {
	uint64_t at;
	uint64_t sigreturn; /* the vDSO's own trampoline, */
	uint64_t skip;      /* which adds that to the stack pointer */
	bool clean;         /* never: the call's arguments stay */
	bool returns;       /* always */
};

struct arch_trace_regs {
	uint64_t word[48]; /* ELF_NGREG of arch/powerpc/include/uapi/asm/elf.h */
	size_t size;
};

/* Not made use of: two stops serve as well. */
#define ARCH_TRACE_CAN_STEP false

enum { ARCH_TRACE_STACK = 1 };

/* Of a frame the kernel reads no more than that, but wants room for all of it. */
enum { ARCH_TRACE_FRAME = 888, ARCH_TRACE_FRAME_ROOM = 1696 };

static inline bool arch_trace_lacks_code(const struct arch_trace_site *site, bool sigreturn)
{
	return sigreturn && !site->sigreturn;
}

static inline void arch_trace_take_code(struct arch_trace_site *site, uint64_t at)
{
	site->sigreturn = at;
	site->skip = 0;
}

#include "arch_trace_calls.h"

#endif
