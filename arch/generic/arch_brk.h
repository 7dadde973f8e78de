/*
 * arch_brk.h - where the heap starts
 */
#ifndef ARCH_BRK_H
#define ARCH_BRK_H

#include <stdint.h>

/* mm/util.c: arch_randomize_brk(); arch/x86/kernel/process.c has the same. */
#define ARCH_BRK_RANGE (1UL << 30)

/* Where a random brk starts at least; OWN is the one we got. */
static inline uint64_t arch_brk_floor(uint64_t own)
{
	(void)own;
	return 0;
}

#endif
