#include <string.h>

#include "options.h"
#include "spec.h"

/* What they do is in the manual's OPTIONS, and in short in report.c. */
struct option {
	char letter; /* '\0': none */
	char name[12];
	enum { NO_VALUE, VALUE, OPTIONAL_VALUE, LONG_VALUE } value; /* long: as --NAME=VALUE */
};

static const struct option table[] = {
	{ 'm', "mask", VALUE },
	{ 'k', "keep", VALUE },
	{ 'c', "cgroup", OPTIONAL_VALUE },
	{ 'C', "no-cgroup", NO_VALUE },
	{ 'R', "cgroup-root", VALUE },
	{ 'f', "follow", LONG_VALUE },
	{ 'a', "argv0", VALUE },
	{ 'e', "engine", VALUE },
	{ 'd', "no-vdso", NO_VALUE },
	{ 'x', "exact", NO_VALUE },
	{ 'E', "enforce", NO_VALUE },
	{ 'n', "dry-run", NO_VALUE },
	{ 'v', "verbose", NO_VALUE },
	{ 'h', "help", NO_VALUE },
	{ 'V', "version", NO_VALUE },
};

/* Those whose letter is only a name for the switch below. */
static bool letter_is_internal(char letter)
{
	return letter == 'x' || letter == 'd' || letter == 'C' || letter == 'R' || letter == 'E';
}

enum { OPTIONS = sizeof(table) / sizeof(table[0]) };

static int parse_engine(struct diag *d, const char *name, enum engine *engine)
{
	if (!strcmp(name, "auto"))
		*engine = ENGINE_AUTO;
	else if (!strcmp(name, "loader"))
		*engine = ENGINE_LOADER;
	else if (!strcmp(name, "trace"))
		*engine = ENGINE_TRACE;
	else
		return diag(d, EXIT_FAILED, 0,
			    "--engine=%s: no such engine; use auto, loader or "
			    "trace",
			    name);
	return 0;
}

static void insist_on_cgroup(struct options *o, const char *path)
{
	o->cgroup = CGROUP_INSIST;
	o->cgroup_path = path;
}

static int parse_follow(struct diag *d, const char *value, enum follow_mode *follow)
{
	if (value && strcmp(value, "try"))
		return diag(d, EXIT_FAILED, 0, "--follow=%s: the only value is try", value);
	*follow = value ? FOLLOW_TRY : FOLLOW_MUST;
	return 0;
}

/* SPECs are parsed in a second pass: --exact counts wherever it stands. */
static int apply(struct diag *d, struct options *o, char letter, const char *value)
{
	switch (letter) {
	case 'm': o->have_hide = true; break;
	case 'k': o->have_keep = true; break;
	case 'a': o->argv0 = value; break;
	case 'e': return parse_engine(d, value ? value : "", &o->engine);
	case 'c': insist_on_cgroup(o, value); break;
	case 'C': o->cgroup = CGROUP_LEAVE_OUT; break;
	case 'R': o->cgroup_root = value; break;
	case 'f': return parse_follow(d, value, &o->follow);
	case 'x': o->exact = true; break;
	case 'd': o->no_vdso = true; break;
	case 'E': o->enforce = true; break;
	case 'n': o->dry_run = true; break;
	case 'v': o->verbose = true; break;
	case 'h': o->action = ACTION_HELP; break;
	default: o->action = ACTION_VERSION; break;
	}
	return 0;
}

static int apply_spec(struct diag *d, struct options *o, char letter, const char *value)
{
	if (letter != 'm' && letter != 'k')
		return 0;
	o->by_name |= spec_has_names(value);
	if (letter == 'm')
		return spec_parse(d, SPEC_HIDE, o->exact, value, &o->hide);
	return spec_parse(d, SPEC_KEEP, o->exact, value, &o->keep);
}

typedef int apply_fn(struct diag *d, struct options *o, char letter, const char *value);

static int parse_long(struct diag *d, struct options *o, char **argv, unsigned long *at,
		      apply_fn *fn)
{
	const char *name = argv[*at] + 2;
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : NULL;

	for (unsigned int i = 0; i < OPTIONS; i++) {
		const struct option *option = &table[i];

		if (option->name[0] != name[0] || strncmp(option->name, name, length) ||
		    option->name[length])
			continue;
		if (option->value == NO_VALUE && value)
			return diag(d, EXIT_FAILED, 0, "--%s takes no value", option->name);
		if (option->value == VALUE && !value) {
			value = argv[*at + 1];
			if (!value)
				return diag(d, EXIT_FAILED, 0, "--%s needs a value", option->name);
			++*at;
		}
		return fn(d, o, option->letter, value);
	}
	return diag(d, EXIT_FAILED, 0, "unknown option %.60s; see hwcap-exec --help", argv[*at]);
}

static const struct option *find_letter(char letter)
{
	for (unsigned int i = 0; i < OPTIONS; i++)
		if (table[i].letter == letter && !letter_is_internal(letter))
			return &table[i];
	return NULL;
}

static int parse_letters(struct diag *d, struct options *o, char **argv, unsigned long *at,
			 apply_fn *fn)
{
	for (const char *c = argv[*at] + 1; *c; c++) {
		const struct option *option = find_letter(*c);
		const char *value = NULL;

		if (!option)
			return diag(d, EXIT_FAILED, 0, "unknown option -%c; see hwcap-exec --help",
				    *c > ' ' && *c < 127 ? *c : '?');
		if (option->value == VALUE) {
			value = c[1] ? c + 1 : argv[++*at];
			if (!value)
				return diag(d, EXIT_FAILED, 0, "-%c needs a value", *c);
		} else if (option->value == OPTIONAL_VALUE && c[1])
			value = c + 1;
		if (fn(d, o, option->letter, value))
			return -1;
		if (value)
			return 0;
	}
	return 0;
}

static int each_option(struct diag *d, unsigned long argc, char **argv, struct options *o,
		       apply_fn *fn)
{
	unsigned long i;

	for (i = 1; i < argc; i++) {
		const char *word = argv[i];
		int error;

		if (word[0] != '-' || !word[1])
			break;
		if (!strcmp(word, "--")) {
			i++;
			break;
		}
		error = word[1] == '-' ? parse_long(d, o, argv, &i, fn) :
					 parse_letters(d, o, argv, &i, fn);
		if (error)
			return -1;
	}
	o->first = i;
	return 0;
}

int options_parse(struct diag *d, unsigned long argc, char **argv, struct options *o)
{
	*o = (struct options){ .action = ACTION_RUN };
	if (each_option(d, argc, argv, o, apply))
		return -1;
	if (o->action != ACTION_RUN)
		return 0;
	if (o->have_hide && o->have_keep)
		return diag(d, EXIT_FAILED, 0, "--mask and --keep exclude each other");
	if (each_option(d, argc, argv, o, apply_spec))
		return -1;
	if (o->first >= argc)
		return diag(d, EXIT_FAILED, 0,
			    "nothing to run; usage: hwcap-exec [OPTION]... "
			    "[--] PROGRAM [ARG]...");
	return 0;
}
