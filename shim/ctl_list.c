#include "ctl.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

enum answer { NO, YES, UNKNOWN };

struct row {
	const struct hwcap_feature *feature;
	enum answer present; /* in the vector hwcapctl itself was given */
	enum answer masked;  /* the CPU has it, the vector hides it */
};

/* The first `flags` (x86) or `Features` (arm64) line, a blank at both ends. */
char *ctl_cpu_features(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *found = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	while (!found && getline(&line, &size, f) > 0) {
		char *value = strchr(line, ':');

		if (!value || (strncmp(line, "flags", 5) && strncmp(line, "Features", 8)))
			continue;
		value[strcspn(value, "\n")] = ' ';
		found = strdup(value + 1);
	}
	free(line);
	fclose(f);
	return found;
}

bool ctl_has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(list, word); p; p = strstr(p + 1, word))
		if (p > list && p[-1] == ' ' && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

static void judge(struct row *row, const struct ctl_vector *own, const char *cpu)
{
	const struct hwcap_feature *f = row->feature;

	row->present = ctl_has_bit(&own->value, f->entry, f->bit) ? YES : NO;
	if (row->present == YES)
		row->masked = NO;
	else if (!cpu)
		row->masked = UNKNOWN;
	else
		/* A mask keeps the entry: without one the kernel is too old. */
		row->masked = own->has[f->entry] && ctl_has_word(cpu, f->name) ? YES : NO;
}

static void print_row(const struct row *row)
{
	static const char words[][4] = { "no", "yes", "-" };

	printf("%-10s %3u  %-17s %-8s %s\n", spec_entry_name(row->feature->entry),
	       row->feature->bit, row->feature->name, words[row->present], words[row->masked]);
}

static void print_json_row(const struct row *row)
{
	static const char words[][6] = { "false", "true", "null" };

	printf("{\"entry\":\"%s\",\"bit\":%u,\"name\":\"%s\",\"present\":%s,\"masked\":%s}",
	       spec_entry_name(row->feature->entry), row->feature->bit, row->feature->name,
	       words[row->present], words[row->masked]);
}

static void list(const struct ctl *ctl, const struct hwcap_table *t, bool own, bool json)
{
	char *cpu = own ? ctl_cpu_features() : NULL;
	struct ctl_vector v;

	ctl_own_vector(ctl, &v);
	if (json)
		printf("{\"arch\":\"%s\",\"features\":[\n", t->arch);
	else
		puts("ENTRY      BIT  NAME              PRESENT  MASKED");
	for (size_t i = 0; i < t->count; i++) {
		struct row row = { &t->features[i], UNKNOWN, UNKNOWN };

		if (own)
			judge(&row, &v, cpu);
		if (!json) {
			print_row(&row);
			continue;
		}
		fputs(i ? ",\n" : "", stdout);
		print_json_row(&row);
	}
	if (json)
		puts("\n]}");
	free(cpu);
}

static void list_names(const struct hwcap_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		puts(t->features[i].name);
}

static void list_baselines(const struct hwcap_table *t)
{
	for (size_t i = 0; i < t->baseline_count; i++)
		printf("@%s\n", t->baselines[i].name);
}

int ctl_list(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "arch", required_argument, NULL, CTL_OPTION_ARCH },
		{ "baselines", no_argument, NULL, CTL_OPTION_BASELINES },
		{ "json", no_argument, NULL, 'j' },
		{ "names", no_argument, NULL, CTL_OPTION_NAMES },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *arch = NULL;
	struct hwcap_table t, own;
	int option, form = 0;

	while ((option = getopt_long(argc, argv, "jhV", options, NULL)) != -1) {
		if (option == CTL_OPTION_ARCH)
			arch = optarg;
		else if (option == 'j' || option == CTL_OPTION_NAMES ||
			 option == CTL_OPTION_BASELINES) {
			if (form && form != option)
				return ctl_misuse(
					self, "--json, --names and --baselines exclude each other");
			form = option;
		} else
			return ctl_common_option(self, option);
	}
	if (optind < argc)
		return ctl_misuse(self, "list takes no argument: '%.*s'", 40, argv[optind]);
	if (!ctl_table_of(arch, &t))
		return ctl_misuse(self, "unknown architecture '%.*s'", 40, arch);

	ctl_table_of(NULL, &own);
	if (form == CTL_OPTION_NAMES)
		list_names(&t);
	else if (form == CTL_OPTION_BASELINES)
		list_baselines(&t);
	else
		list(ctl, &t, !strcmp(t.arch, own.arch), form == 'j');
	return CTL_OK;
}
