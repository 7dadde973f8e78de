/*
 * arch_cache.h - registers that tell programs of caches, where there are none
 *
 * arch_cache_fact(): name and value of the one with index I; false: there are
 * no more. Nobody can change what a program reads there.
 */
#ifndef ARCH_CACHE_H
#define ARCH_CACHE_H

#include <stdbool.h>

static inline bool arch_cache_fact(unsigned int i, const char **name, unsigned long *value)
{
	(void)i;
	(void)name;
	(void)value;
	return false;
}

#endif
