/*
 * arch_trace_none.h - an architecture whose arch_trace.h is not written yet
 *
 * No helper can be started, so that nothing else of the trace engine is ever
 * reached: --engine=trace fails, auto does without it.
 */
#ifndef ARCH_TRACE_NONE_H
#define ARCH_TRACE_NONE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arch_trace_call { ARCH_TRACE_PRCTL, ARCH_TRACE_BRK, ARCH_TRACE_WAITID };
enum { ARCH_TRACE_STACK = 1, ARCH_TRACE_FRAME = 8 };
#define ARCH_TRACE_AVAILABLE false
#define ARCH_TRACE_CAN_STEP  false

struct arch_trace_site {
	uint64_t at;
	bool clean;
};

struct arch_trace_regs {
	uint64_t word[1];
	size_t size;
};

static const unsigned char arch_trace_sigreturn[8] = { 0 };

static inline bool arch_trace_is_narrow(const struct arch_trace_regs *r)
{
	(void)r;
	return false;
}

static inline uint64_t arch_trace_sp(const struct arch_trace_regs *r)
{
	(void)r;
	return 0;
}

static inline uint64_t arch_trace_ip(const struct arch_trace_regs *r)
{
	(void)r;
	return 0;
}

static inline long arch_trace_result(const struct arch_trace_regs *r)
{
	(void)r;
	return -ENOSYS;
}

static inline void arch_trace_settle(struct arch_trace_regs *r)
{
	(void)r;
}

static inline void arch_trace_set_call(struct arch_trace_regs *r,
				       const struct arch_trace_site *site,
				       enum arch_trace_call call, uint64_t a, uint64_t b,
				       uint64_t c, uint64_t d)
{
	(void)r, (void)site, (void)call, (void)a, (void)b, (void)c, (void)d;
}

static inline size_t arch_trace_set_last_call(struct arch_trace_regs *r,
					      const struct arch_trace_site *site,
					      enum arch_trace_call call, uint64_t a, uint64_t b,
					      uint64_t then, uint64_t sp, uint64_t *stack)
{
	(void)r, (void)site, (void)call, (void)a, (void)b, (void)then, (void)sp;
	*stack = 0;
	return 0;
}

static inline void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
				    unsigned char frame[ARCH_TRACE_FRAME])
{
	(void)r, (void)mask;
	*frame = 0;
}

static inline bool arch_trace_find_site(const unsigned char *code, size_t size, uint64_t at,
					bool narrow, struct arch_trace_site *site)
{
	(void)code, (void)size, (void)at, (void)narrow, (void)site;
	return false;
}

static inline long arch_clone(unsigned long flags, void *stack, int *parent_tid, int *child_tid,
			      void (*fn)(void *), void *arg)
{
	(void)flags, (void)stack, (void)parent_tid, (void)child_tid, (void)fn;
	(void)arg;
	return -ENOSYS;
}

#endif
