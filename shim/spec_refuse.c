#include "spec_parts.h"

enum {
	SHOWN_MAX = 40,   /* bytes of a word that a message repeats */
	SUGGEST_MAX = 23, /* longest word a suggestion is looked for */
};

struct shown {
	char text[SHOWN_MAX + 4];
};

/* Every known word is ASCII, so nothing else need be repeated. */
static const char *show(struct slice s, struct shown *out)
{
	size_t n = s.length < SHOWN_MAX ? s.length : SHOWN_MAX;

	for (size_t i = 0; i < n; i++)
		out->text[i] = (signed char)s.at[i] > 0 ? s.at[i] : '?';
	memcpy(out->text + n, "...", 4);
	if (n == s.length)
		out->text[n] = '\0';
	return out->text;
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
			char x = spec_lower(a.at[i - 1]), y = spec_lower(b.at[j - 1]);

			row[j] = least(above[j] + 1U, row[j - 1] + 1U);
			row[j] = least(row[j], above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == spec_lower(b.at[j - 2]) &&
			    y == spec_lower(a.at[i - 2]))
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

static int refuse_unadvertised(struct spec_parser *p, struct slice s, const char *tunable)
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

int spec_refuse_feature(struct spec_parser *p, struct slice s)
{
	const char *tunable = unadvertised(p->t, s);
	struct nearest near;
	struct shown name;
	struct hint hint;
	uint64_t value;

	if (spec_parse_number(s, &value) != NUMBER_NOT)
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

int spec_refuse_value(struct spec_parser *p, int entry, struct slice s)
{
	const struct hwcap_feature *f = spec_match(p->t, -1, s);
	struct nearest near = nearest_feature(p->t, entry, s);
	struct shown name;
	struct hint hint;

	if (!s.length)
		return diag(p->d, EXIT_FAILED, 0, "%s= wants a number or features joined by '+'",
			    spec_entry_name(entry));
	if (f && strlen(f->name) == s.length)
		return diag(p->d, EXIT_FAILED, 0, "'%s' is a feature of %s, not of %s", f->name,
			    spec_entry_name(f->entry), spec_entry_name(entry));
	if (unadvertised(p->t, s))
		return spec_refuse_feature(p, s);
	return diag(p->d, EXIT_FAILED, 0,
		    "'%s' is neither a feature of %s nor a number, decimal or 0x... (%s)",
		    show(s, &name), spec_entry_name(entry),
		    advise(&near, "", "hwcapctl list", &hint));
}

int spec_refuse_number(struct spec_parser *p, int entry, struct slice s, enum spec_number why)
{
	struct shown value;

	return diag(p->d, EXIT_FAILED, 0,
		    why == NUMBER_OCTAL ? "%s=%s has a leading zero: write it decimal, or "
					  "hexadecimal with 0x" :
					  "%s=%s does not fit into 64 bits",
		    spec_entry_name(entry), show(s, &value));
}

int spec_refuse_entry(struct spec_parser *p, struct slice s)
{
	struct shown name;

	return diag(p->d, EXIT_FAILED, 0,
		    "unknown entry '%s': there are AT_HWCAP, AT_HWCAP2, AT_HWCAP3 and AT_HWCAP4",
		    show(s, &name));
}

int spec_refuse_baseline(struct spec_parser *p, struct slice s)
{
	struct nearest near = { slice_from(s, 1), NULL, 0 };
	struct shown name;
	struct hint hint;

	for (size_t i = 0; i < p->t->baseline_count; i++)
		consider(&near, p->t->baselines[i].name);
	return diag(p->d, EXIT_FAILED, 0, "unknown baseline '%s' (%s)", show(s, &name),
		    advise(&near, "@", "hwcapctl list --baselines", &hint));
}

int spec_refuse_architecture(struct spec_parser *p, struct slice s)
{
	struct shown name;

	return diag(p->d, EXIT_FAILED, 0,
		    "unknown architecture '%s': there are x86_64, arm64, ppc64 and riscv",
		    show(s, &name));
}
