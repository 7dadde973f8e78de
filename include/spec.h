/*
 * spec.h - SPEC, the language of --mask and --keep
 *
 * Pure functions over strings and the generated table of the architecture
 * that this build is for: no system call, no allocation, no locale.
 * Grammar and closure rules: hwcap-exec(1), MASKS.
 */
#ifndef SPEC_H
#define SPEC_H

#include "diag.h"
#include "hwcap.h"
#include "hwtable.h"

enum spec_mode {
	SPEC_HIDE, /* --mask: closes over what depends on a named feature */
	SPEC_KEEP, /* --keep: closes over what a named feature requires */
};

/*
 * Parse SPEC and OR its bits into *BITS. With EXACT there is no closure.
 * Returns 0, or -1 with D filled (status 125); *BITS is then unspecified.
 */
int spec_parse(struct diag *d, enum spec_mode mode, bool exact, const char *spec,
	       struct hwcaps *bits);

/*
 * Does SPEC, which spec_parse() took, name features of this architecture? If
 * not (numbers, `all`, `none`), its bits mean the same to a program of
 * another ABI, such as a 32-bit one.
 */
bool spec_has_names(const char *spec);

/*
 * The mask that results: HIDE as parsed, or, if KEEP is not NULL, everything
 * KEEP does not name. Adds what any nonzero mask must hide as well (arm64's
 * cpuid) unless EXACT or KEEP has it. *MASK may be HIDE itself.
 */
void spec_mask(const struct hwcaps *hide, const struct hwcaps *keep, bool exact,
	       struct hwcaps *mask);

/* The same for the architecture whose table T is. */
int spec_parse_for(struct diag *d, const struct hwcap_table *t, enum spec_mode mode, bool exact,
		   const char *spec, struct hwcaps *bits);
void spec_mask_for(const struct hwcap_table *t, const struct hwcaps *hide,
		   const struct hwcaps *keep, bool exact, struct hwcaps *mask);

/*
 * What feature number FEATURE of T closes over, its own bit included: to hide
 * it, all that cannot be without it; to keep it, all that it cannot be without.
 */
void spec_closure(const struct hwcap_table *t, size_t feature, enum spec_mode mode,
		  struct hwcaps *bits);

/* Our name of the architecture called NAME (aliases too), NULL if unknown. */
const char *spec_arch(const char *name, size_t length);

/* "AT_HWCAP" and so on; INDEX is that into struct hwcaps. */
const char *spec_entry_name(int index);

#endif
