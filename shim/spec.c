#include "spec.h"

#include <string.h>

#include "hwcap_table.h"

enum {
	SHOWN_MAX = 40,   /* bytes of a word that a message repeats */
	SUGGEST_MAX = 23, /* longest word a suggestion is looked for */
};

struct slice {
	const char *at;
	size_t length;
};

struct parse {
	struct diag *d;
	const struct hwcap_table *t;
	enum spec_mode mode;
	bool exact;
	struct hwcaps *bits;
};

struct shown {
	char text[SHOWN_MAX + 4];
};

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

static bool slice_is(struct slice s, const char *word)
{
	return strlen(word) == s.length && !memcmp(s.at, word, s.length);
}

static struct slice slice_from(struct slice s, size_t skip)
{
	return (struct slice){ s.at + skip, s.length - skip };
}

/* Every known word is printable ASCII, so nothing else need be repeated. */
static const char *show(struct slice s, struct shown *out)
{
	size_t n = s.length < SHOWN_MAX ? s.length : SHOWN_MAX;

	for (size_t i = 0; i < n; i++)
		out->text[i] = s.at[i] >= ' ' && s.at[i] <= '~' ? s.at[i] : '?';
	memcpy(out->text + n, "...", 4);
	if (n == s.length)
		out->text[n] = '\0';
	return out->text;
}

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

/*
 * The longest feature that begins S and is followed by '+' or by the end;
 * ENTRY -1 means any entry. Longest, because `power5+` is a name as well.
 */
static const struct hwcap_feature *match(const struct hwcap_table *t, int entry, struct slice s)
{
	const struct hwcap_feature *best = NULL;
	size_t best_length = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct hwcap_feature *f = &t->features[i];
		size_t n = strlen(f->name);

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

static const struct hwcap_feature *match_whole(const struct hwcap_table *t, int entry,
					       struct slice s)
{
	const struct hwcap_feature *f = match(t, entry, s);

	return f && strlen(f->name) == s.length ? f : NULL;
}

static void add_feature(struct parse *p, const struct hwcap_feature *f)
{
	const struct hwcap_closure *c = &p->t->closures[f - p->t->features];

	if (p->exact)
		p->bits->word[f->entry] |= 1UL << f->bit;
	else
		hwcaps_or(p->bits, p->mode == SPEC_HIDE ? &c->hides : &c->needs);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static uint8_t least(unsigned int a, unsigned int b)
{
	return (uint8_t)(a < b ? a : b);
}

/*
 * Edits from A to B: insert, delete, replace, swap neighbours. Case does not
 * count. Both are at most SUGGEST_MAX long.
 */
static unsigned int distance(struct slice a, struct slice b)
{
	/* Rows i, i - 1 and i - 2, in turn. */
	uint8_t rows[3][SUGGEST_MAX + 1] = { { 0 } };

	for (size_t i = 0; i <= a.length; i++) {
		uint8_t *row = rows[i % 3];
		const uint8_t *above = rows[(i + 2) % 3];

		row[0] = (uint8_t)i;
		for (size_t j = 1; j <= b.length; j++) {
			if (!i) {
				row[j] = (uint8_t)j;
				continue;
			}
			char x = lower(a.at[i - 1]), y = lower(b.at[j - 1]);

			row[j] = least(above[j] + 1U, row[j - 1] + 1U);
			row[j] = least(row[j], above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower(b.at[j - 2]) && y == lower(a.at[i - 2]))
				row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1U);
		}
	}
	return rows[a.length % 3][b.length];
}

struct nearest {
	struct slice wanted;
	const char *name; /* NULL: WANTED is too long for any */
	unsigned int distance;
};

static void consider(struct nearest *n, const char *name)
{
	struct slice s = { name, strlen(name) };
	unsigned int d;

	if (n->wanted.length > SUGGEST_MAX || s.length > SUGGEST_MAX)
		return;
	d = distance(n->wanted, s);
	if (n->name && d >= n->distance)
		return;
	n->name = name;
	n->distance = d;
}

static struct nearest nearest_feature(const struct hwcap_table *t, int entry, struct slice s)
{
	struct nearest n = { s, NULL, 0 };

	for (size_t i = 0; i < t->count; i++)
		if (entry < 0 || t->features[i].entry == entry)
			consider(&n, t->features[i].name);
	if (entry < 0) {
		consider(&n, "all");
		consider(&n, "none");
	}
	return n;
}

struct hint {
	char text[112];
};

/* What to do about an unknown word; LIST is the command that shows all. */
static const char *advise(const struct nearest *n, const char *sigil, const char *list,
			  struct hint *out)
{
	struct text t;

	text_init(&t, out->text, sizeof(out->text));
	if (n->name && n->distance <= (n->wanted.length + 1) / 3)
		text_add(&t, "did you mean '%s%s'?", sigil, n->name);
	else if (n->name)
		text_add(&t, "nearest is '%s%s'; %s shows all", sigil, n->name, list);
	else
		text_add(&t, "%s shows all", list);
	return out->text;
}

/* The TUNABLE of a feature no entry tells of, NULL if S is not one. */
static const char *unadvertised(const struct hwcap_table *t, struct slice s)
{
	const char *name = t->unadvertised;

	while (*name) {
		const char *tunable = name + strlen(name) + 1;
		struct slice known = { name, strlen(name) };

		if (s.length == known.length && s.length <= SUGGEST_MAX && !distance(s, known))
			return tunable;
		name = tunable + strlen(tunable) + 1;
	}
	return NULL;
}

static bool has_blank(struct slice s)
{
	return memchr(s.at, ' ', s.length) || memchr(s.at, '\t', s.length) ||
	       memchr(s.at, '\n', s.length);
}

enum number {
	NUMBER,
	NUMBER_NOT,
	NUMBER_TOO_BIG,
	NUMBER_OCTAL, /* C says 8 where decimal says 10: which was meant? */
};

static enum number parse_number(struct slice s, uint64_t *value)
{
	unsigned int base = 10;
	enum number result = NUMBER;
	uint64_t v = 0;

	if (s.length > 2 && s.at[0] == '0' && lower(s.at[1]) == 'x') {
		base = 16;
		s = slice_from(s, 2);
	}
	if (!s.length)
		return NUMBER_NOT;
	for (size_t i = 0; i < s.length; i++) {
		char c = lower(s.at[i]);
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

static int refuse_unadvertised(struct parse *p, struct slice s, const char *tunable)
{
	const char *by = p->t->found_by;
	struct shown name;

	if (*tunable)
		return diag(p->d, EXIT_FAILED, 0,
			    "'%s' is a CPU feature that %s does not advertise through AT_HWCAP*: "
			    "programs find it by %s, which cannot be masked here; for what glibc "
			    "selects set GLIBC_TUNABLES=glibc.cpu.hwcaps=-%s",
			    show(s, &name), p->t->arch, by, tunable);
	return diag(p->d, EXIT_FAILED, 0,
		    "'%s' is a CPU feature that %s does not advertise through AT_HWCAP*: "
		    "programs find it by %s, which cannot be masked here "
		    "(GLIBC_TUNABLES=glibc.cpu.hwcaps has no name for it)",
		    show(s, &name), p->t->arch, by);
}

static int refuse_feature(struct parse *p, struct slice s)
{
	const char *tunable = unadvertised(p->t, s);
	struct nearest near;
	struct shown name;
	struct hint hint;
	uint64_t value;

	if (parse_number(s, &value) != NUMBER_NOT)
		return diag(p->d, EXIT_FAILED, 0, "%s: of which entry? (AT_HWCAP=%s)",
			    show(s, &name), name.text);
	if (has_blank(s))
		return diag(p->d, EXIT_FAILED, 0,
			    "blank in '%s': items are separated by commas alone", show(s, &name));
	if (tunable)
		return refuse_unadvertised(p, s, tunable);
	near = nearest_feature(p->t, -1, s);
	return diag(p->d, EXIT_FAILED, 0, "unknown feature '%s' (%s)", show(s, &name),
		    advise(&near, "", "hwcapctl list", &hint));
}

static int refuse_value(struct parse *p, int entry, struct slice s)
{
	const struct hwcap_feature *f = match_whole(p->t, -1, s);
	struct nearest near = nearest_feature(p->t, entry, s);
	struct shown name;
	struct hint hint;

	if (!s.length)
		return diag(p->d, EXIT_FAILED, 0, "%s= wants a number or features joined by '+'",
			    entry_names[entry]);
	if (f)
		return diag(p->d, EXIT_FAILED, 0, "'%s' is a feature of %s, not of %s", f->name,
			    entry_names[f->entry], entry_names[entry]);
	if (unadvertised(p->t, s))
		return refuse_feature(p, s);
	return diag(p->d, EXIT_FAILED, 0,
		    "'%s' is neither a feature of %s nor a number, decimal or 0x... (%s)",
		    show(s, &name), entry_names[entry], advise(&near, "", "hwcapctl list", &hint));
}

static int parse_names(struct parse *p, int entry, struct slice s)
{
	for (;;) {
		const struct hwcap_feature *f = match(p->t, entry, s);
		const char *plus;

		if (!f) {
			plus = memchr(s.at, '+', s.length);
			if (plus)
				s.length = (size_t)(plus - s.at);
			return refuse_value(p, entry, s);
		}
		add_feature(p, f);
		s = slice_from(s, strlen(f->name));
		if (!s.length)
			return 0;
		s = slice_from(s, 1);
	}
}

static int parse_value(struct parse *p, int entry, struct slice s)
{
	struct shown value;
	uint64_t v;

	if (match(p->t, entry, s))
		return parse_names(p, entry, s);
	switch (parse_number(s, &v)) {
	case NUMBER: p->bits->word[entry] |= v; return 0;
	case NUMBER_TOO_BIG:
		return diag(p->d, EXIT_FAILED, 0, "%s=%s does not fit into 64 bits",
			    entry_names[entry], show(s, &value));
	case NUMBER_OCTAL:
		return diag(p->d, EXIT_FAILED, 0,
			    "%s=%s has a leading zero: write it decimal, or hexadecimal with 0x",
			    entry_names[entry], show(s, &value));
	default: return parse_names(p, entry, s);
	}
}

static int parse_entry(struct parse *p, struct slice name, struct slice value)
{
	struct shown shown;

	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (slice_is(name, entry_names[i]) ||
		    slice_is(name, entry_names[i] + strlen("AT_")))
			return parse_value(p, i, value);
	return diag(p->d, EXIT_FAILED, 0,
		    "unknown entry '%s': there are AT_HWCAP, AT_HWCAP2, AT_HWCAP3 and AT_HWCAP4",
		    show(name, &shown));
}

static int parse_baseline(struct parse *p, struct slice s)
{
	struct nearest near = { slice_from(s, 1), NULL, 0 };
	struct shown name;
	struct hint hint;

	for (size_t i = 0; i < p->t->baseline_count; i++) {
		const struct hwcap_baseline *b = &p->t->baselines[i];

		consider(&near, b->name);
		if (!slice_is(near.wanted, b->name))
			continue;
		if (p->mode == SPEC_HIDE)
			return diag(p->d, EXIT_FAILED, 0,
				    "'@%s' says what to keep: use it with --keep", b->name);
		hwcaps_or(p->bits, &b->bits);
		return 0;
	}
	return diag(p->d, EXIT_FAILED, 0, "unknown baseline '%s' (%s)", show(s, &name),
		    advise(&near, "@", "hwcapctl list --baselines", &hint));
}

static int parse_unprefixed(struct parse *p, struct slice s)
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
	f = match_whole(p->t, -1, s);
	if (!f)
		return refuse_feature(p, s);
	add_feature(p, f);
	return 0;
}

static int parse_item(struct parse *p, struct slice s)
{
	const char *colon = memchr(s.at, ':', s.length);
	struct shown name;

	if (colon) {
		size_t n = (size_t)(colon - s.at);
		const char *arch = spec_arch(s.at, n);

		if (!arch)
			return diag(
				p->d, EXIT_FAILED, 0,
				"unknown architecture '%s': there are x86_64, arm64, ppc64 and riscv",
				show((struct slice){ s.at, n }, &name));
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
	struct parse p = { d, t, mode, exact, bits };

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
	       parse_number(slice_from(s, (size_t)(equals - s.at) + 1), &value) != NUMBER;
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
