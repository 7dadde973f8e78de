/*
 * arch_enforce.h (riscv) - what can be turned off for a process: the vector unit
 *
 * While it is on it can be turned off for what is executed next only, and for
 * all that comes of that (Documentation/arch/riscv/vector.rst).
 */
#ifndef ARCH_ENFORCE_H
#define ARCH_ENFORCE_H

#include "arch.h"

/* HIDDEN is AT_HWCAP's mask. Returns an enum arch_enforced or a negative errno. */
static inline long arch_enforce(uint64_t hidden)
{
	enum {
		SET_CONTROL = 69, /* include/uapi/linux/prctl.h */
		GET_CONTROL = 70,
		OFF = 1,
		NEXT = OFF << 2 | 1 << 4, /* off, and inherited */
		PRCTL = 167,
		UNSUPPORTED = -22, /* EINVAL: no vector unit that could be used */
	};
	long control, r;

	if (!(hidden >> ('v' - 'a') & 1))
		return ARCH_ENFORCED;
	control = arch_syscall(PRCTL, GET_CONTROL, 0, 0, 0, 0, 0);
	if (control == UNSUPPORTED)
		return ARCH_ENFORCED;
	if (control < 0)
		return control;
	if ((control & NEXT) == NEXT)
		return (control & 3) == OFF ? ARCH_ENFORCED : UNSUPPORTED;
	r = arch_syscall(PRCTL, SET_CONTROL, NEXT | ((control & 3) == OFF ? OFF : 0), 0, 0, 0, 0);
	if (r < 0)
		return r;
	return (control & 3) == OFF ? ARCH_ENFORCED : ARCH_ENFORCED_AT_EXEC;
}

#endif
