/*
 * arch_trace_calls.h - what arch_trace.h of every architecture offers
 *
 * A regset as PTRACE_GETREGSET(NT_PRSTATUS) gives it, native or of another
 * ABI, behind the few operations that the trace engine needs. For arch_trace.h
 * only, which defines the two structs and their sizes before.
 */
#ifndef ARCH_TRACE_CALLS_H
#define ARCH_TRACE_CALLS_H

enum arch_trace_call { ARCH_TRACE_PRCTL, ARCH_TRACE_BRK, ARCH_TRACE_WAITID };

/* Of another ABI: 32-bit registers, calls and numbers. */
static inline bool arch_trace_is_narrow(const struct arch_trace_regs *r)
{
	return r->size != sizeof(r->word);
}

uint64_t arch_trace_sp(const struct arch_trace_regs *r);
uint64_t arch_trace_ip(const struct arch_trace_regs *r);

/* What the last system call returned: a negative errno if it failed. */
long arch_trace_result(const struct arch_trace_regs *r);

/* The thread is at an exec's exit: what it has to return is 0. */
void arch_trace_settle(struct arch_trace_regs *r);

/* Let it make CALL at SITE next. Unused arguments are 0. */
void arch_trace_set_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
			 enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * Let it make CALL at SITE with nobody watching, then go on at THEN, on the
 * stack at SP. As many words as returned, in *STACK (ARCH_TRACE_STACK words),
 * belong just below SP.
 */
size_t arch_trace_set_last_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
				enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t then,
				uint64_t sp, uint64_t *stack);

/*
 * rt_sigreturn(2) restores every register and the signal mask from a frame at
 * the stack pointer: R, MASK, nothing else. Of the frame ARCH_TRACE_FRAME
 * bytes are read; its place has to have ARCH_TRACE_FRAME_ROOM.
 */
void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
		      unsigned char frame[ARCH_TRACE_FRAME]);

/*
 * What a vDSO may lack for a last call, or for a last call and sigreturn
 * (arch_trace_lacks_code()); arch_trace_take_code() if it has been put at AT.
 */
extern const unsigned char arch_trace_code[8] __attribute__((visibility("hidden")));

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
