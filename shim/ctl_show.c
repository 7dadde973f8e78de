#include "ctl.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "spec.h"

/* The value of entry I as a SPEC: names, and a number for what has none. */
static void print_names(const struct hwcap_table *t, const struct ctl_vector *v, int i)
{
	uint64_t rest = v->value.word[i];
	const char *comma = "  ";

	for (size_t n = 0; n < t->count && !v->narrow; n++) {
		const struct hwcap_feature *f = &t->features[n];

		if (f->entry != i || !(rest >> f->bit & 1))
			continue;
		printf("%s%s", comma, f->name);
		rest &= ~(1UL << f->bit);
		comma = ",";
	}
	if (rest && !v->narrow)
		printf("%s%s=%#lx", comma, spec_entry_name(i), (unsigned long)rest);
	if (v->value.word[i] && !v->narrow)
		putchar('\n');
}

static void print_text(const struct hwcap_table *t, const struct ctl_vector *v)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		if (!v->has[i])
			continue;
		printf("%s=0x%lx\n", spec_entry_name(i), (unsigned long)v->value.word[i]);
		print_names(t, v, i);
	}
}

static void print_json_entry(const struct hwcap_table *t, const struct ctl_vector *v, int i)
{
	uint64_t rest = v->value.word[i];
	const char *comma = "";

	printf("{\"entry\":\"%s\",\"value\":\"0x%lx\",\"features\":[", spec_entry_name(i),
	       (unsigned long)rest);
	for (size_t n = 0; n < t->count && !v->narrow; n++) {
		const struct hwcap_feature *f = &t->features[n];

		if (f->entry != i || !(rest >> f->bit & 1))
			continue;
		printf("%s\"%s\"", comma, f->name);
		rest &= ~(1UL << f->bit);
		comma = ",";
	}
	printf("],\"unnamed\":\"0x%lx\"}", (unsigned long)rest);
}

static void print_json(const struct hwcap_table *t, const struct ctl_vector *v, const char *pid)
{
	const char *comma = "";

	printf("{\"pid\":%s,\"arch\":\"%s\",\"bits\":%d,\"entries\":[\n", pid, t->arch,
	       v->narrow ? 32 : 64);
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		if (!v->has[i])
			continue;
		fputs(comma, stdout);
		print_json_entry(t, v, i);
		comma = ",\n";
	}
	fputs("\n],\"spec\":\"", stdout);
	ctl_print_spec(stdout, &v->value);
	puts("\"}");
}

/* 1 to 9 digits without leading zero: good in a path and in JSON alike. */
static bool is_pid(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && n < 10 && !s[n] && s[0] != '0';
}

int ctl_show(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct ctl_vector v;
	struct hwcap_table t;
	bool json = false;
	char own[16];
	const char *pid = own;
	int option, status;

	while ((option = getopt_long(argc, argv, "jhV", options, NULL)) != -1) {
		if (option != 'j')
			return ctl_common_option(self, option);
		json = true;
	}
	if (argc - optind > 1)
		return ctl_misuse(self, "show takes one PID");
	if (optind < argc && !is_pid(argv[optind]))
		return ctl_misuse(self, "'%.*s' is not a process id", 40, argv[optind]);

	if (optind < argc) {
		pid = argv[optind];
		status = ctl_process_vector(pid, &v);
		if (status)
			return status;
	} else {
		snprintf(own, sizeof(own), "%d", (int)getpid());
		ctl_own_vector(ctl, &v);
	}
	ctl_table_of(NULL, &t);
	if (json)
		print_json(&t, &v, pid);
	else
		print_text(&t, &v);
	return CTL_OK;
}
