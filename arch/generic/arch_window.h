/*
 * arch_window.h - how much of the address space the stack is at the top of
 */
#ifndef ARCH_WINDOW_H
#define ARCH_WINDOW_H

#include <stdint.h>

/* The smallest power of two above ADDRESS, which is in the initial stack: its
 * random gap is far too small to leave the upper half of the address space.
 */
static inline uint64_t arch_window(uint64_t address)
{
	uint64_t window = 1UL << 32;

	while (window <= address)
		window <<= 1;
	return window;
}

/* The stack's share of the gap above the mmap zone is up to 1 GiB and more. */
enum { ARCH_RANDOM_SLACK = 4 };

#endif
