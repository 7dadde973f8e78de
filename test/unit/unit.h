/*
 * unit.h - what the unit tests share: cmocka and numbers that look random
 *
 * Every test starts its generator from a fixed seed, so that a failure comes
 * back.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* xorshift64*; STATE must not be 0. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (next_random(state) >> 11) % limit;
}

static inline bool one_in(uint64_t *state, uint64_t n)
{
	return random_below(state, n) == 0;
}

/* A heap copy of exactly SIZE bytes, so that AddressSanitizer sees the edge. */
static inline void *exact_copy(const void *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

#endif
