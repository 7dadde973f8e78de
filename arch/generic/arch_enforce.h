/*
 * arch_enforce.h - what can be turned off for a process: nothing
 */
#ifndef ARCH_ENFORCE_H
#define ARCH_ENFORCE_H

#include "machine.h"

static inline long arch_enforce(uint64_t hidden)
{
	(void)hidden;
	return ARCH_ENFORCES_NOTHING;
}

#endif
