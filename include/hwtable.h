/*
 * hwtable.h - what an architecture's generated feature table looks like
 *
 * arch/gen-hwcap.awk turns arch/ARCH/hwcap.tsv and its neighbours into a header that
 * defines hwcap_table_ARCH(), which fills a struct hwcap_table. The data hold
 * no pointers and so need no relocation; the pointers to them are computed at
 * run time. hwcap-exec contains the table of its own architecture only.
 */
#ifndef HWTABLE_H
#define HWTABLE_H

#include <stddef.h>

#include "hwcap.h"

struct hwcap_feature {
	char name[18];
	uint8_t entry; /* index into struct hwcaps */
	uint8_t bit;
};

/* Feature number FROM cannot be without feature number TO. */
struct hwcap_link {
	uint8_t from, to;
};

struct hwcap_baseline {
	char name[24];
	struct hwcaps bits;
};

struct hwcap_table {
	const char *arch;
	const struct hwcap_feature *features;
	size_t count;
	const struct hwcap_link *links;
	size_t link_count;
	const struct hwcap_baseline *baselines;
	size_t baseline_count;
	const char *unadvertised; /* NAME NUL TUNABLE NUL ..., empty name ends */
	const char *found_by;     /* how programs find those */
	struct hwcaps also;       /* hidden together with any bit at all */
};

#endif
