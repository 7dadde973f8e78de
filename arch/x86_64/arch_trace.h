/*
 * arch_trace.h (x86_64) - registers of a traced thread, and calls made by it
 *
 * A regset as PTRACE_GETREGSET(NT_PRSTATUS) gives it, native or i386, behind
 * the few operations that the trace engine needs. Every architecture has a
 * file of this name with the same definitions.
 */
#ifndef ARCH_TRACE_H
#define ARCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arch_trace_call { ARCH_TRACE_PRCTL, ARCH_TRACE_BRK, ARCH_TRACE_WAITID };

/* A system call instruction of the target's vDSO, and what follows it. */
struct arch_trace_site {
	uint64_t at;
	unsigned int words; /* stack words it skips before its return */
	bool frame;         /* and it takes the stack from the frame pointer */
	bool clean;         /* it clears every register a call leaves changed */
};

struct arch_trace_regs {
	uint64_t word[27]; /* arch/x86/include/asm/user_64.h: user_regs_struct */
	size_t size;       /* as the kernel returned it */
};

/* Of another ABI: 32-bit registers, calls and numbers. */
static inline bool arch_trace_is_narrow(const struct arch_trace_regs *r)
{
	return r->size != sizeof(r->word);
}

uint64_t arch_trace_sp(const struct arch_trace_regs *r);

/* What the last system call returned. */
long arch_trace_result(const struct arch_trace_regs *r);

/* All of this file is there: see arch_trace_none.h. */
#define ARCH_TRACE_AVAILABLE true

/* PTRACE_SINGLESTEP stops right after a system call. */
#define ARCH_TRACE_CAN_STEP true

/* The thread is at an exec's exit: what it has to return is 0. */
void arch_trace_settle(struct arch_trace_regs *r);

/* Let it make CALL at SITE next. Unused arguments are 0. */
void arch_trace_set_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
			 enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * Let it make CALL at SITE with nobody watching, then go on at THEN, on the
 * stack at SP. As many words as returned, in *STACK, belong just below SP.
 */
size_t arch_trace_set_last_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
				enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t then,
				uint64_t sp, uint64_t *stack);

/* Room for them, in words. */
enum { ARCH_TRACE_STACK = 32 };

uint64_t arch_trace_ip(const struct arch_trace_regs *r);

/*
 * rt_sigreturn(2) restores every register and the signal mask. Code that makes
 * that call, and what it finds at the stack pointer: R, MASK, nothing else.
 */
enum { ARCH_TRACE_FRAME = 304 };
extern const unsigned char arch_trace_sigreturn[8] __attribute__((visibility("hidden")));
void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
		      unsigned char frame[ARCH_TRACE_FRAME]);

/* The site in CODE that leaves the fewest registers changed. */
bool arch_trace_find_site(const unsigned char *code, size_t size, uint64_t at, bool narrow,
			  struct arch_trace_site *site);

/*
 * clone(2) with FLAGS; the child runs FN(ARG) on the stack that ends at STACK
 * and must not return. PARENT_TID and CHILD_TID as clone's flags have them.
 */
long arch_clone(unsigned long flags, void *stack, int *parent_tid, int *child_tid,
		void (*fn)(void *), void *arg);

#endif
