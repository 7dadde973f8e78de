/*
 * arch_cache.h (arm64) - DCZID_EL0 and CTR_EL0, which programs may read
 *
 * The latter by the kernel's help where CPUs differ. What they say: the bytes
 * that DC ZVA clears, 0 where it is forbidden (DZP), and the smallest lines of
 * data and instruction caches. See arch/generic/arch_cache.h.
 */
#ifndef ARCH_CACHE_H
#define ARCH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

static inline bool arch_cache_fact(unsigned int i, const char **name, unsigned long *value)
{
	uint64_t zero, type;

	__asm__("mrs %0, dczid_el0" : "=r"(zero));
	__asm__("mrs %0, ctr_el0" : "=r"(type));
	switch (i) {
	case 0:
		*name = "dc-zva";
		*value = zero & 0x10 ? 0 : 4UL << (zero & 0xf);
		return true;
	case 1:
		*name = "dcache-line-min";
		*value = 4UL << (type >> 16 & 0xf);
		return true;
	case 2:
		*name = "icache-line-min";
		*value = 4UL << (type & 0xf);
		return true;
	default: return false;
	}
}

#endif
