#include "spec_parts.h"

#include "hwcap_table.h"

static bool slice_is(struct slice s, const char *word)
{
	return strlen(word) == s.length && !memcmp(s.at, word, s.length);
}

static const struct {
	char name[8];
	char alias[12];
} architectures[] = {
	{ "x86_64", "amd64" },
	{ "arm64", "aarch64" },
	{ "ppc64", "ppc64le" },
	{ "riscv", "riscv64" },
};

static const char entry_names[HWCAP_ENTRIES][10] = {
	"AT_HWCAP",
	"AT_HWCAP2",
	"AT_HWCAP3",
	"AT_HWCAP4",
};

const char *spec_arch(const char *name, size_t length)
{
	struct slice s = { name, length };

	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++)
		if (slice_is(s, architectures[i].name) || slice_is(s, architectures[i].alias))
			return architectures[i].name;
	return NULL;
}

const char *spec_entry_name(int index)
{
	return entry_names[index];
}

const struct hwcap_feature *spec_match(const struct hwcap_table *t, int entry, struct slice s)
{
	const struct hwcap_feature *best = NULL;
	size_t best_length = 0;

	for (size_t i = 0; s.length && i < t->count; i++) {
		const struct hwcap_feature *f = &t->features[i];
		size_t n;

		if (f->name[0] != s.at[0])
			continue;
		n = strlen(f->name);
		if (n > s.length || n <= best_length || memcmp(f->name, s.at, n))
			continue;
		if (entry >= 0 && f->entry != entry)
			continue;
		if (n < s.length && s.at[n] != '+')
			continue;
		best = f;
		best_length = n;
	}
	return best;
}

static bool has_bit(const struct hwcaps *bits, const struct hwcap_feature *f)
{
	return bits->word[f->entry] >> f->bit & 1;
}

static void add_bit(struct hwcaps *bits, const struct hwcap_feature *f)
{
	bits->word[f->entry] |= 1UL << f->bit;
}

void spec_closure(const struct hwcap_table *t, size_t feature, enum spec_mode mode,
		  struct hwcaps *bits)
{
	bool more = true;

	*bits = (struct hwcaps){ { 0 } };
	add_bit(bits, &t->features[feature]);
	while (more) {
		more = false;
		for (size_t i = 0; i < t->link_count; i++) {
			const struct hwcap_feature *from = &t->features[t->links[i].from];
			const struct hwcap_feature *to = &t->features[t->links[i].to];

			if (has_bit(bits, from) == has_bit(bits, to) ||
			    !has_bit(bits, mode == SPEC_HIDE ? to : from))
				continue;
			add_bit(bits, mode == SPEC_HIDE ? from : to);
			more = true;
		}
	}
}

static void add_feature(struct spec_parser *p, const struct hwcap_feature *f)
{
	struct hwcaps closure;

	if (p->exact) {
		add_bit(p->bits, f);
		return;
	}
	spec_closure(p->t, (size_t)(f - p->t->features), p->mode, &closure);
	hwcaps_or(p->bits, &closure);
}

enum spec_number spec_parse_number(struct slice s, uint64_t *value)
{
	unsigned int base = 10;
	enum spec_number result = NUMBER;
	uint64_t v = 0;

	if (s.length > 2 && s.at[0] == '0' && spec_lower(s.at[1]) == 'x') {
		base = 16;
		s = slice_from(s, 2);
	}
	if (!s.length)
		return NUMBER_NOT;
	for (size_t i = 0; i < s.length; i++) {
		char c = spec_lower(s.at[i]);
		unsigned int digit = base;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned int)(c - 'a') + 10;
		if (digit >= base)
			return NUMBER_NOT;
		if (v > (UINT64_MAX - digit) / base)
			result = NUMBER_TOO_BIG;
		v = v * base + digit;
	}
	if (base == 10 && s.length > 1 && s.at[0] == '0')
		return NUMBER_OCTAL;
	*value = v;
	return result;
}

static int parse_names(struct spec_parser *p, int entry, struct slice s)
{
	for (;;) {
		const struct hwcap_feature *f = spec_match(p->t, entry, s);
		const char *plus;

		if (!f) {
			plus = memchr(s.at, '+', s.length);
			if (plus)
				s.length = (size_t)(plus - s.at);
			return spec_refuse_value(p, entry, s);
		}
		add_feature(p, f);
		s = slice_from(s, strlen(f->name));
		if (!s.length)
			return 0;
		s = slice_from(s, 1);
	}
}

static int parse_value(struct spec_parser *p, int entry, struct slice s)
{
	enum spec_number kind;
	uint64_t v;

	if (spec_match(p->t, entry, s))
		return parse_names(p, entry, s);
	kind = spec_parse_number(s, &v);
	if (kind == NUMBER_NOT)
		return parse_names(p, entry, s);
	if (kind != NUMBER)
		return spec_refuse_number(p, entry, s, kind);
	p->bits->word[entry] |= v;
	return 0;
}

static int parse_entry(struct spec_parser *p, struct slice name, struct slice value)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (slice_is(name, entry_names[i]) ||
		    slice_is(name, entry_names[i] + strlen("AT_")))
			return parse_value(p, i, value);
	return spec_refuse_entry(p, name);
}

static int parse_baseline(struct spec_parser *p, struct slice s)
{
	const struct slice name = slice_from(s, 1);

	for (size_t i = 0; i < p->t->baseline_count; i++) {
		const struct hwcap_baseline *b = &p->t->baselines[i];

		if (!slice_is(name, b->name))
			continue;
		if (p->mode == SPEC_HIDE)
			return diag(p->d, EXIT_FAILED, 0,
				    "'@%s' says what to keep: use it with --keep", b->name);
		hwcaps_or(p->bits, &b->bits);
		return 0;
	}
	return spec_refuse_baseline(p, s);
}

static int parse_unprefixed(struct spec_parser *p, struct slice s)
{
	const struct hwcap_feature *f;
	const char *equals;

	if (s.length && s.at[0] == '@')
		return parse_baseline(p, s);
	equals = memchr(s.at, '=', s.length);
	if (equals) {
		size_t n = (size_t)(equals - s.at);

		return parse_entry(p, (struct slice){ s.at, n }, slice_from(s, n + 1));
	}
	if (slice_is(s, "none"))
		return 0;
	if (slice_is(s, "all")) {
		memset(p->bits, 0xff, sizeof(*p->bits));
		return 0;
	}
	f = spec_match(p->t, -1, s);
	if (!f || strlen(f->name) != s.length)
		return spec_refuse_feature(p, s);
	add_feature(p, f);
	return 0;
}

static int parse_item(struct spec_parser *p, struct slice s)
{
	const char *colon = memchr(s.at, ':', s.length);

	if (colon) {
		size_t n = (size_t)(colon - s.at);
		const char *arch = spec_arch(s.at, n);

		if (!arch)
			return spec_refuse_architecture(p, (struct slice){ s.at, n });
		if (strcmp(arch, p->t->arch))
			return 0;
		s = slice_from(s, n + 1);
	}
	if (!s.length)
		return diag(p->d, EXIT_FAILED, 0,
			    "empty item (write 'none' for no feature at all)");
	return parse_unprefixed(p, s);
}

int spec_parse_for(struct diag *d, const struct hwcap_table *t, enum spec_mode mode, bool exact,
		   const char *spec, struct hwcaps *bits)
{
	struct spec_parser p = { d, t, mode, exact, bits };

	for (;;) {
		struct slice item = { spec, 0 };

		while (spec[item.length] && spec[item.length] != ',')
			item.length++;
		if (parse_item(&p, item))
			return -1;
		if (!spec[item.length])
			return 0;
		spec += item.length + 1;
	}
}

void spec_mask_for(const struct hwcap_table *t, const struct hwcaps *hide,
		   const struct hwcaps *keep, bool exact, struct hwcaps *mask)
{
	*mask = *hide;
	if (keep) {
		/* A keep list decides on cpuid and the like by itself. */
		for (int i = 0; i < HWCAP_ENTRIES; i++)
			mask->word[i] |= ~keep->word[i];
		return;
	}
	if (!exact && hwcaps_any(mask))
		hwcaps_or(mask, &t->also);
}

int spec_parse(struct diag *d, enum spec_mode mode, bool exact, const char *spec,
	       struct hwcaps *bits)
{
	struct hwcap_table t;

	hwcap_table_own(&t);
	return spec_parse_for(d, &t, mode, exact, spec, bits);
}

void spec_mask(const struct hwcaps *hide, const struct hwcaps *keep, bool exact,
	       struct hwcaps *mask)
{
	struct hwcap_table t;

	hwcap_table_own(&t);
	spec_mask_for(&t, hide, keep, exact, mask);
}

static bool item_has_names(const char *own, struct slice s)
{
	const char *colon = memchr(s.at, ':', s.length);
	const char *equals;
	uint64_t value;

	if (colon) {
		size_t n = (size_t)(colon - s.at);
		const char *arch = spec_arch(s.at, n);

		if (!arch || strcmp(arch, own))
			return false;
		s = slice_from(s, n + 1);
	}
	if (slice_is(s, "all") || slice_is(s, "none"))
		return false;
	equals = memchr(s.at, '=', s.length);
	return !equals ||
	       spec_parse_number(slice_from(s, (size_t)(equals - s.at) + 1), &value) != NUMBER;
}

bool spec_has_names(const char *spec)
{
	struct hwcap_table t;

	hwcap_table_own(&t);
	for (;;) {
		struct slice item = { spec, 0 };

		while (spec[item.length] && spec[item.length] != ',')
			item.length++;
		if (item_has_names(t.arch, item))
			return true;
		if (!spec[item.length])
			return false;
		spec += item.length + 1;
	}
}
