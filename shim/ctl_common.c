#include "ctl_dump.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

/* ---- common --------------------------------------------------------------- */

struct cluster {
	char **files;
	struct dump *dumps;
	size_t count;
	struct dump common;
};

static int read_all(struct cluster *c)
{
	for (size_t i = 0; i < c->count; i++) {
		int status = dump_read(c->files[i], &c->dumps[i]);

		if (status)
			return status;
		if (strcmp(c->dumps[i].arch, c->dumps[0].arch))
			return ctl_fail(CTL_FAILED,
					"%s is of %s, %s of %s: they have nothing in common",
					c->files[0], c->dumps[0].arch, c->files[i],
					c->dumps[i].arch);
	}
	return CTL_OK;
}

/* What every machine has, and what no mask may leave on some of them only. */
static void intersect(struct cluster *c)
{
	struct hwcap_table t;
	bool differ = false;

	c->common = c->dumps[0];
	for (size_t i = 1; i < c->count; i++) {
		for (int n = 0; n < HWCAP_ENTRIES; n++) {
			uint64_t *word = &c->common.vector.value.word[n];
			uint64_t other = c->dumps[i].vector.value.word[n];

			differ |= *word != other;
			*word &= other;
			c->common.vector.has[n] |= c->dumps[i].vector.has[n];
		}
	}
	/* Any mask hides these as well (arm64's cpuid): then do so everywhere. */
	ctl_table_of(c->common.arch, &t);
	for (int n = 0; n < HWCAP_ENTRIES && differ; n++)
		c->common.vector.value.word[n] &= ~t.also.word[n];
}

static void warn_differing(const struct cluster *c, const char *name)
{
	const char *first = dump_other(&c->dumps[0], name);

	for (size_t i = 1; i < c->count; i++) {
		const char *other = dump_other(&c->dumps[i], name);

		if (first && other && !strcmp(first, other))
			continue;
		ctl_fail(0, "warning: no mask changes %s: %s in %s, %s in %s", name,
			 first ? first : "none", c->files[0], other ? other : "none", c->files[i]);
		return;
	}
}

static void warn(const struct cluster *c)
{
	for (int n = 0; n < HWCAP_ENTRIES; n++)
		for (size_t i = 0; i < c->count; i++)
			if (c->common.vector.has[n] && !c->dumps[i].vector.has[n])
				ctl_fail(0, "warning: no mask adds %s, which %s does not have",
					 spec_entry_name(n), c->files[i]);
	/* Names that only a later dump has are compared when it is their turn. */
	for (size_t i = 0; i < c->count; i++) {
		for (unsigned int n = 0; n < c->dumps[i].others; n++) {
			const char *name = c->dumps[i].other[n].name;
			bool seen = false;

			for (size_t before = 0; before < i && !seen; before++)
				seen = dump_other(&c->dumps[before], name) != NULL;
			if (!seen)
				warn_differing(c, name);
		}
	}
}

static void mask_of(const struct cluster *c, size_t i, struct hwcaps *mask)
{
	for (int n = 0; n < HWCAP_ENTRIES; n++)
		mask->word[n] = c->dumps[i].vector.value.word[n] & ~c->common.vector.value.word[n];
}

static void print_specs(const struct cluster *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct hwcaps mask;

		mask_of(c, i, &mask);
		ctl_print_name(stdout, c->files[i]);
		putchar('\t');
		ctl_print_spec(stdout, &mask);
		putchar('\n');
	}
}

static void print_json(const struct cluster *c)
{
	printf("{\"arch\":\"%s\",\"machines\":[\n", c->common.arch);
	for (size_t i = 0; i < c->count; i++) {
		struct hwcaps mask;

		mask_of(c, i, &mask);
		fputs(i ? ",\n{\"file\":" : "{\"file\":", stdout);
		ctl_json_string(stdout, c->files[i]);
		fputs(",\"mask\":\"", stdout);
		ctl_print_spec(stdout, &mask);
		fputs("\"}", stdout);
	}
	fputs("\n],\"keep\":\"", stdout);
	ctl_print_spec(stdout, &c->common.vector.value);
	puts("\"}");
}

static void print(const struct cluster *c, int form)
{
	struct dump d = c->common;

	switch (form) {
	case 'd':
		/* What differs is not common; what does not is. */
		for (unsigned int n = 0; n < d.others;) {
			bool same = true;

			for (size_t i = 1; i < c->count && same; i++) {
				const char *other = dump_other(&c->dumps[i], d.other[n].name);

				same = other && !strcmp(other, d.other[n].value);
			}
			if (same)
				n++;
			else
				memmove(&d.other[n], &d.other[n + 1],
					(--d.others - n) * sizeof(d.other[0]));
		}
		dump_print(&d);
		break;
	case 'k':
		ctl_print_spec(stdout, &d.vector.value);
		putchar('\n');
		break;
	case 'j': print_json(c); break;
	default: print_specs(c); break;
	}
}

int ctl_common(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "dump", no_argument, NULL, 'd' },    { "json", no_argument, NULL, 'j' },
		{ "keep", no_argument, NULL, 'k' },    { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
	};
	struct cluster c = { 0 };
	int option, form = 0, status;

	(void)ctl;
	while ((option = getopt_long(argc, argv, "djkhV", options, NULL)) != -1) {
		if (option != 'd' && option != 'j' && option != 'k')
			return ctl_common_option(self, option);
		form = option;
	}
	if (optind == argc)
		return ctl_misuse(self, "common: of which dumps?");
	c.files = argv + optind;
	c.count = (size_t)(argc - optind);
	c.dumps = calloc(c.count, sizeof(*c.dumps));
	if (!c.dumps)
		return ctl_fail(CTL_FAILED, "out of memory");
	status = read_all(&c);
	if (!status) {
		intersect(&c);
		warn(&c);
		print(&c, form);
	}
	free(c.dumps);
	return status;
}

/* ---- check ---------------------------------------------------------------- */

static int check(const struct dump *wanted, const struct dump *own, const char *file)
{
	struct cluster both = { .files = (char *[]){ (char *)file, (char *)"this machine" },
				.dumps = (struct dump[]){ *wanted, *own },
				.count = 2 };
	struct hwcap_table t;
	int status = CTL_OK;

	if (strcmp(wanted->arch, own->arch))
		return ctl_fail(CTL_FAILED, "%s is of %s, this machine of %s", file, wanted->arch,
				own->arch);
	ctl_table_of(own->arch, &t);
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		uint64_t missing = wanted->vector.value.word[i] & ~own->vector.value.word[i];

		if (!missing)
			continue;
		printf("%s: missing ", spec_entry_name(i));
		dump_print_names(&t, i, missing);
		putchar('\n');
		status = CTL_FAILED;
	}
	for (unsigned int n = 0; n < wanted->others; n++)
		warn_differing(&both, wanted->other[n].name);
	return status;
}

int ctl_check(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option = getopt_long(argc, argv, "hV", options, NULL), status;
	struct dump wanted, own;

	if (option != -1)
		return ctl_common_option(self, option);
	if (argc - optind != 1)
		return ctl_misuse(self, "check takes one dump");
	status = dump_read(argv[optind], &wanted);
	if (status)
		return status;
	dump_own(ctl, &own);
	return check(&wanted, &own, argv[optind]);
}

/* ---- matrix --------------------------------------------------------------- */

int ctl_matrix(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *comma = "[";
	struct hwcap_table t;
	struct ctl_vector v;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "jhV", options, NULL)) != -1) {
		if (option != 'j')
			return ctl_common_option(self, option);
		json = true;
	}
	if (optind < argc)
		return ctl_misuse(self, "matrix takes no argument");
	ctl_table_of(NULL, &t);
	ctl_own_vector(ctl, &v);
	for (size_t i = 0; i < t.count; i++) {
		const struct hwcap_feature *f = &t.features[i];

		if (!ctl_has_bit(&v.value, f->entry, f->bit))
			continue;
		if (!json) {
			puts(f->name);
			continue;
		}
		printf("%s\"%s\"", comma, f->name);
		comma = ",";
	}
	if (json)
		puts(*comma == '[' ? "[]" : "]");
	return CTL_OK;
}
