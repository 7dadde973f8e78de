/*
 * stamp.h - what a copy of hwcap-exec knows by itself
 *
 * hwcap-exec holds one struct stamp, empty as it is built. Copies are made
 * with it filled in. One with STAMP_TARGET does what its stamp says and parses
 * no options; one with STAMP_MASK is hwcap-exec with a mask of its own, as an
 * interpreter of binfmt_misc or by its name. Reading our own stamp is a memory
 * access.
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
	/* What `hwcapctl binfmt` writes: HIDE is added to every other mask. */
	STAMP_MASK = 4,
	STAMP_BY_NAME = 8,       /* features' names are among what made HIDE */
	STAMP_CGROUP = 16,       /* insist on the cgroup's mask */
	STAMP_NO_CGROUP = 32,    /* leave it out */
	STAMP_RUN_UNMASKED = 64, /* under binfmt_misc: a cgroup that cannot be read
				    hides nothing, rather than ends the program */
	STAMP_CREDENTIALS = 128, /* the rule has flag C */
	STAMP_KNOWN = 255,
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
