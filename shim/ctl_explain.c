#include "ctl.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

enum { NOTES = 16 };

struct request {
	enum spec_mode mode;
	bool exact;
	bool json;
	const char *arch; /* whose rules unprefixed items follow */
	const char *spec;
};

/* What SPEC means on one architecture. */
struct meaning {
	struct hwcap_table t;
	struct hwcaps named; /* as written */
	struct hwcaps bits;  /* after closure: what --mask hides or --keep keeps */
	struct hwcaps mask;
	char notes[NOTES][sizeof(((struct diag *)NULL)->text)];
	size_t note_count; /* of items that are an error there */
};

static const char *item_arch(const char *item)
{
	const char *colon = strchr(item, ':');

	return colon ? spec_arch(item, (size_t)(colon - item)) : NULL;
}

/*
 * An item without prefix is checked against the architecture asked for; on
 * one that other items name it may be unknown, which deserves a note.
 */
static int explain_item(const struct request *r, struct meaning *m, const char *item)
{
	struct diag d = { 0, 0, "" };

	if (!spec_parse_for(&d, &m->t, r->mode, true, item, &m->named) &&
	    !spec_parse_for(&d, &m->t, r->mode, r->exact, item, &m->bits))
		return CTL_OK;
	if (item_arch(item) || !strcmp(m->t.arch, r->arch))
		return ctl_fail(EXIT_FAILED, "%s: %s", m->t.arch, d.text);
	if (m->note_count == NOTES)
		strcpy(m->notes[NOTES - 1], "and more");
	else
		strcpy(m->notes[m->note_count++], d.text);
	return CTL_OK;
}

/* Calls EACH for every item of R's SPEC until it returns nonzero. */
static int for_each_item(const struct request *r, struct meaning *m,
			 int (*each)(const struct request *, struct meaning *, const char *))
{
	char *copy = strdup(r->spec), *item = copy;
	int result = 0;

	if (!copy)
		return ctl_fail(CTL_FAILED, "out of memory");
	while (item && !result) {
		char *comma = strchr(item, ',');

		if (comma)
			*comma = '\0';
		result = each(r, m, item);
		item = comma ? comma + 1 : NULL;
	}
	free(copy);
	return result;
}

static int is_for(const struct request *r, struct meaning *m, const char *item)
{
	const char *arch = item_arch(item);

	(void)r;
	return arch && !strcmp(arch, m->t.arch);
}

static int explain(const struct request *r, struct meaning *m)
{
	struct hwcaps none = { { 0, 0, 0, 0 } };
	int status = for_each_item(r, m, explain_item);

	if (r->mode == SPEC_HIDE)
		spec_mask_for(&m->t, &m->bits, NULL, r->exact, &m->mask);
	else
		spec_mask_for(&m->t, &none, &m->bits, r->exact, &m->mask);
	return status;
}

/* Why feature I is among the bits; WORDS receives the text. */
static void reason(const struct request *r, const struct meaning *m, size_t i, struct text *words)
{
	const struct hwcap_feature *f = &m->t.features[i];

	if (ctl_has_bit(&m->named, f->entry, f->bit)) {
		text_add(words, "named");
		return;
	}
	for (size_t n = 0; n < m->t.count; n++) {
		const struct hwcap_feature *by = &m->t.features[n];
		struct hwcaps closure;

		if (!ctl_has_bit(&m->named, by->entry, by->bit))
			continue;
		spec_closure(&m->t, n, r->mode, &closure);
		if (ctl_has_bit(&closure, f->entry, f->bit)) {
			text_add(words, r->mode == SPEC_HIDE ? "requires %s" : "required by %s",
				 by->name);
			return;
		}
	}
	text_add(words, "hidden with any mask");
}

/* The bits to list: of --mask what is hidden, of --keep what stays. */
static const struct hwcaps *listed(const struct request *r, const struct meaning *m)
{
	return r->mode == SPEC_HIDE ? &m->mask : &m->bits;
}

static void print_text(const struct request *r, const struct meaning *m)
{
	const struct hwcaps *bits = listed(r, m);
	bool any = false;

	printf("%s: %s\n", m->t.arch, r->mode == SPEC_HIDE ? "hides" : "keeps");
	for (size_t i = 0; i < m->t.count; i++) {
		const struct hwcap_feature *f = &m->t.features[i];
		struct text why;
		char buffer[64];

		if (!ctl_has_bit(bits, f->entry, f->bit))
			continue;
		text_init(&why, buffer, sizeof(buffer));
		reason(r, m, i, &why);
		printf("  %-17s %-9s bit %2u  %s\n", f->name, spec_entry_name(f->entry), f->bit,
		       buffer);
		any = true;
	}
	if (!any)
		puts("  no named feature");
	fputs("  mask ", stdout);
	ctl_print_spec(stdout, &m->mask);
	putchar('\n');
	for (size_t i = 0; i < m->note_count; i++)
		printf("  error there: %s\n", m->notes[i]);
}

static void print_json(const struct request *r, const struct meaning *m)
{
	const struct hwcaps *bits = listed(r, m);
	const char *comma = "\n";

	printf("{\"arch\":\"%s\",\"features\":[", m->t.arch);
	for (size_t i = 0; i < m->t.count; i++) {
		const struct hwcap_feature *f = &m->t.features[i];
		struct text why;
		char buffer[64];

		if (!ctl_has_bit(bits, f->entry, f->bit))
			continue;
		text_init(&why, buffer, sizeof(buffer));
		reason(r, m, i, &why);
		printf("%s{\"entry\":\"%s\",\"bit\":%u,\"name\":\"%s\",\"why\":\"%s\"}", comma,
		       spec_entry_name(f->entry), f->bit, f->name, buffer);
		comma = ",\n";
	}
	fputs("],\n\"named\":", stdout);
	ctl_json_words(stdout, &m->named);
	fputs(",\n\"mask\":", stdout);
	ctl_json_words(stdout, &m->mask);
	fputs(",\n\"errors\":[", stdout);
	for (size_t i = 0; i < m->note_count; i++) {
		fputs(i ? "," : "", stdout);
		ctl_json_string(stdout, m->notes[i]);
	}
	fputs("]}", stdout);
}

/* The architecture asked for, then those that a prefix of SPEC names. */
static int select_meanings(const struct request *r, struct meaning *all, size_t *count)
{
	struct hwcap_table t;
	int status;

	ctl_table_of(r->arch, &all[0].t);
	status = explain(r, &all[0]);
	*count = 1;
	for (unsigned int i = 0; !status && ctl_table(i, &t); i++) {
		all[*count].t = t;
		if (!strcmp(t.arch, r->arch) || !for_each_item(r, &all[*count], is_for))
			continue;
		status = explain(r, &all[(*count)++]);
	}
	return status;
}

static int answer(const struct request *r)
{
	struct meaning all[5]; /* one for each architecture, one to try */
	size_t count = 0;
	int status;

	memset(all, 0, sizeof(all));
	status = select_meanings(r, all, &count);
	if (status)
		return status;
	if (r->json) {
		fputs("{\"spec\":", stdout);
		ctl_json_string(stdout, r->spec);
		printf(",\"mode\":\"%s\",\"exact\":%s,\"architectures\":[\n",
		       r->mode == SPEC_HIDE ? "mask" : "keep", r->exact ? "true" : "false");
	}
	for (size_t i = 0; i < count; i++) {
		if (r->json) {
			fputs(i ? ",\n" : "", stdout);
			print_json(r, &all[i]);
		} else {
			print_text(r, &all[i]);
		}
	}
	if (r->json)
		puts("\n]}");
	return CTL_OK;
}

int ctl_explain(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "arch", required_argument, NULL, CTL_OPTION_ARCH },
		{ "exact", no_argument, NULL, CTL_OPTION_EXACT },
		{ "json", no_argument, NULL, 'j' },
		{ "keep", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct request r = { SPEC_HIDE, false, false, NULL, NULL };
	struct hwcap_table t;
	int option;

	(void)ctl;
	while ((option = getopt_long(argc, argv, "jkhV", options, NULL)) != -1) {
		if (option == CTL_OPTION_ARCH)
			r.arch = optarg;
		else if (option == CTL_OPTION_EXACT)
			r.exact = true;
		else if (option == 'j')
			r.json = true;
		else if (option == 'k')
			r.mode = SPEC_KEEP;
		else
			return ctl_common_option(self, option);
	}
	if (argc - optind != 1)
		return ctl_misuse(self, "explain takes one SPEC");
	if (!ctl_table_of(r.arch, &t))
		return ctl_misuse(self, "unknown architecture '%.*s'", 40, r.arch);
	r.arch = t.arch;
	r.spec = argv[optind];
	return answer(&r);
}
