/*
 * hwcap.h - the four words this project is about
 *
 * An entry is one of AT_HWCAP, AT_HWCAP2, AT_HWCAP3, AT_HWCAP4. A mask has one
 * word per entry; a set bit hides. Masks only ever clear bits of a vector.
 * Entry numbers: include/uapi/linux/auxvec.h. AT_HWCAP3 and AT_HWCAP4 are
 * younger than many libc headers, hence our own constants.
 */
#ifndef HWCAP_H
#define HWCAP_H

#include <stdbool.h>
#include <stdint.h>

enum { HWCAP_ENTRIES = 4 };

enum {
	AUX_HWCAP = 16,
	AUX_HWCAP2 = 26,
	AUX_HWCAP3 = 29,
	AUX_HWCAP4 = 30,
};

struct hwcaps {
	uint64_t word[HWCAP_ENTRIES];
};

/* Index into struct hwcaps of auxiliary vector entry `type`, or -1. */
static inline int hwcap_index(unsigned long type)
{
	switch (type) {
	case AUX_HWCAP: return 0;
	case AUX_HWCAP2: return 1;
	case AUX_HWCAP3: return 2;
	case AUX_HWCAP4: return 3;
	default: return -1;
	}
}

static inline bool hwcaps_any(const struct hwcaps *h)
{
	return (h->word[0] | h->word[1] | h->word[2] | h->word[3]) != 0;
}

static inline void hwcaps_or(struct hwcaps *to, const struct hwcaps *from)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		to->word[i] |= from->word[i];
}

#endif
