/* fuzz.h - what the harnesses share; each is one LLVMFuzzerTestOneInput() */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that has to hold for every input. */
#define HOLDS(condition)                  \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

/* An allocation of its own, so that no byte beyond is readable. */
static inline void *fuzz_copy(const uint8_t *data, size_t size, size_t more)
{
	char *copy = malloc(size + more + !(size + more));

	HOLDS(copy);
	memcpy(copy, data, size);
	memset(copy + size, 0, more);
	return copy;
}

#endif
