/*
 * stamp.h - what a copy of hwcap-exec knows by itself
 *
 * hwcap-exec holds one struct stamp, empty as it is built. Copies are made
 * with it filled in: such a copy does what its stamp says and parses no
 * options. Reading our own stamp is a memory access.
 */
#ifndef STAMP_H
#define STAMP_H

#include <stddef.h>
#include <stdint.h>

#include "hwcap.h"

enum { STAMP_VERSION = 1, STAMP_PATH = 1024 };

/* Bits of FLAGS. A copy with one that it does not know must not be made. */
enum {
	STAMP_TARGET = 1,  /* run what PATH says with our arguments as they are */
	STAMP_NO_VDSO = 2, /* as --no-vdso */
};

struct stamp {
	char magic[16];
	uint32_t version, flags;
	struct hwcaps hide;
	/* Two strings: the program as it was started, its /proc/self/exe. */
	char path[STAMP_PATH];
};

extern const struct stamp stamp_own;

/*
 * The stamp of this version in BYTES, SIZE bytes of an executable file of
 * hwcap-exec, any alignment; NULL if there is none. Copy it out and in.
 */
void *stamp_find(void *bytes, size_t size);

#endif
