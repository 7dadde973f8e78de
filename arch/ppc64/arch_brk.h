/*
 * arch_brk.h (ppc64) - where the heap starts
 *
 * arch/powerpc/mm/book3s64/hash_utils.c: arch_randomize_brk(). With the hash
 * MMU it starts in the second 1T segment at least.
 */
#ifndef ARCH_BRK_H
#define ARCH_BRK_H

#include <stdint.h>

#define ARCH_BRK_RANGE (1UL << 30)

/* Where a random brk starts at least; OWN is the one we got. */
static inline uint64_t arch_brk_floor(uint64_t own)
{
	const uint64_t segment = 1UL << 40;

	return own >= segment ? segment : 0;
}

#endif
