/*
 * spec_parts.h - what the two halves of SPEC share
 *
 * shim/spec.c is the grammar and what it means, shim/spec_refuse.c says what is
 * wrong with a word and which one may have been meant. A refusal fills the
 * diagnosis and returns -1.
 */
#ifndef SPEC_PARTS_H
#define SPEC_PARTS_H

#include <string.h>

#include "spec.h"

struct slice {
	const char *at;
	size_t length;
};

struct spec_parser {
	struct diag *d;
	const struct hwcap_table *t;
	enum spec_mode mode;
	bool exact;
	struct hwcaps *bits;
};

static inline struct slice slice_from(struct slice s, size_t skip)
{
	return (struct slice){ s.at + skip, s.length - skip };
}

static inline char spec_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

enum spec_number {
	NUMBER,
	NUMBER_NOT,
	NUMBER_TOO_BIG,
	NUMBER_OCTAL, /* C says 8 where decimal says 10: which was meant? */
};

enum spec_number spec_parse_number(struct slice s, uint64_t *value);

/*
 * The longest feature that begins S and is followed by '+' or by the end;
 * ENTRY -1 means any entry. Longest, because `power5+` is a name as well.
 */
const struct hwcap_feature *spec_match(const struct hwcap_table *t, int entry, struct slice s);

/* A word that is no feature, or none of ENTRY and no number either. */
int spec_refuse_feature(struct spec_parser *p, struct slice s) __attribute__((cold));
int spec_refuse_value(struct spec_parser *p, int entry, struct slice s) __attribute__((cold));
int spec_refuse_number(struct spec_parser *p, int entry, struct slice s, enum spec_number why)
	__attribute__((cold));
int spec_refuse_entry(struct spec_parser *p, struct slice s) __attribute__((cold));
int spec_refuse_baseline(struct spec_parser *p, struct slice s) __attribute__((cold));
int spec_refuse_architecture(struct spec_parser *p, struct slice s) __attribute__((cold));

#endif
