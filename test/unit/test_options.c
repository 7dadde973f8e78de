/*
 * The command line of hwcap-exec
 */
#include <stdio.h>

#include "hwcap_table.h"
#include "options.h"
#include "spec.h"
#include "unit.h"

enum { WORDS_MAX = 12 };

/* Parse WORDS (a NULL ends them), copied so that no byte too many is read. */
static int parse(const char *const *words, struct options *o, struct diag *d)
{
	unsigned long argc = 0;
	char **argv;
	int error;

	while (words[argc])
		argc++;
	argv = malloc((argc + 1) * sizeof(*argv));
	assert_non_null(argv);
	for (unsigned long i = 0; i < argc; i++)
		argv[i] = exact_copy(words[i], strlen(words[i]) + 1);
	argv[argc] = NULL;
	*d = (struct diag){ .status = 0 };
	error = options_parse(d, argc, argv, o);
	/* What points into argv is replaced by what the caller has. */
	for (unsigned long i = 0; i < argc; i++) {
		if (!error && o->argv0 >= argv[i] && o->argv0 <= argv[i] + strlen(argv[i]))
			o->argv0 = words[i] + (o->argv0 - argv[i]);
		free(argv[i]);
	}
	free(argv);
	assert_int_equal(error, error ? -1 : 0);
	assert_int_equal(d->status, error ? EXIT_FAILED : 0);
	return error;
}

#define WORDS(...) ((const char *const[]){ "hwcap-exec", __VA_ARGS__, NULL })

static struct options good(const char *const *words)
{
	struct options o;
	struct diag d;

	if (parse(words, &o, &d))
		fail_msg("%s %s: refused: %s", words[1], words[2], d.text);
	return o;
}

/* Refused, with a message that has PART in it. */
static void bad(const char *const *words, const char *part)
{
	struct options o;
	struct diag d;

	if (!parse(words, &o, &d))
		fail_msg("%s: accepted", words[1]);
	if (!strstr(d.text, part))
		fail_msg("%s: \"%s\" is not in \"%s\"", words[1], part, d.text);
}

static void assert_options_equal(const struct options *a, const struct options *b)
{
	assert_int_equal(a->action, b->action);
	assert_int_equal(a->engine, b->engine);
	assert_int_equal(a->have_hide, b->have_hide);
	assert_int_equal(a->have_keep, b->have_keep);
	assert_memory_equal(&a->hide, &b->hide, sizeof(a->hide));
	assert_memory_equal(&a->keep, &b->keep, sizeof(a->keep));
	assert_int_equal(a->exact, b->exact);
	assert_int_equal(a->no_vdso, b->no_vdso);
	assert_int_equal(a->enforce, b->enforce);
	assert_int_equal(a->dry_run, b->dry_run);
	assert_int_equal(a->verbose, b->verbose);
	assert_int_equal(a->cgroup, b->cgroup);
	assert_ptr_equal(a->cgroup_path, b->cgroup_path);
	assert_ptr_equal(a->cgroup_root, b->cgroup_root);
	assert_ptr_equal(a->argv0, b->argv0);
	assert_int_equal(a->first, b->first);
}

static void no_options(void **unused)
{
	struct options o = good(WORDS("program", "-v", "--mask=all"));
	const struct options none = { .first = 1 };

	(void)unused;
	assert_options_equal(&o, &none);
}

static void flags(void **unused)
{
	static const struct {
		const char *word, *letter;
		size_t at;
	} cases[] = {
		{ "--exact", NULL, offsetof(struct options, exact) },
		{ "--no-vdso", NULL, offsetof(struct options, no_vdso) },
		{ "--enforce", NULL, offsetof(struct options, enforce) },
		{ "--dry-run", "-n", offsetof(struct options, dry_run) },
		{ "--verbose", "-v", offsetof(struct options, verbose) },
	};

	(void)unused;
	for (unsigned int i = 0; i < COUNT(cases); i++) {
		struct options want = { .first = 2 }, have;
		char value[32];

		*((bool *)&want + cases[i].at) = true;
		have = good(WORDS(cases[i].word, "program"));
		assert_options_equal(&have, &want);
		if (cases[i].letter) {
			have = good(WORDS(cases[i].letter, "program"));
			assert_options_equal(&have, &want);
		}
		snprintf(value, sizeof(value), "%s=", cases[i].word);
		bad(WORDS(value, "program"), "takes no value");
		/* Nothing is abbreviated. */
		snprintf(value, strlen(cases[i].word), "%s", cases[i].word);
		bad(WORDS(value, "program"), "unknown option");
		snprintf(value, sizeof(value), "%sx", cases[i].word);
		bad(WORDS(value, "program"), "unknown option");
	}
}

static void cgroup_options(void **unused)
{
	struct options o;

	(void)unused;
	assert_int_equal(good(WORDS("x")).cgroup, CGROUP_IF_ANY);
	o = good(WORDS("--cgroup", "/a"));
	assert_int_equal(o.cgroup, CGROUP_INSIST);
	assert_null(o.cgroup_path);
	assert_int_equal(o.first, 2);
	o = good(WORDS("-vc", "/a"));
	assert_int_equal(o.cgroup, CGROUP_INSIST);
	assert_null(o.cgroup_path);
	assert_true(o.verbose);
	o = good(WORDS("-vc/a", "x"));
	assert_non_null(o.cgroup_path);
	o = good(WORDS("--cgroup=/a", "x"));
	assert_non_null(o.cgroup_path);
	assert_int_equal(o.cgroup, CGROUP_INSIST);
	assert_int_equal(good(WORDS("-c", "--no-cgroup", "x")).cgroup, CGROUP_LEAVE_OUT);
	assert_int_equal(good(WORDS("--no-cgroup", "-c", "x")).cgroup, CGROUP_INSIST);
	o = good(WORDS("--cgroup-root", "/d", "x"));
	assert_non_null(o.cgroup_root);
	assert_int_equal(o.cgroup, CGROUP_IF_ANY);
	bad(WORDS("--no-cgroup=x", "x"), "takes no value");
	bad(WORDS("--cgroup-root"), "needs a value");
}

static void help_and_version(void **unused)
{
	(void)unused;
	assert_int_equal(good(WORDS("--help")).action, ACTION_HELP);
	assert_int_equal(good(WORDS("-h")).action, ACTION_HELP);
	assert_int_equal(good(WORDS("--version")).action, ACTION_VERSION);
	assert_int_equal(good(WORDS("-V")).action, ACTION_VERSION);
	assert_int_equal(good(WORDS("-nvh", "program")).action, ACTION_HELP);
	/* They need neither a program nor a good SPEC. */
	assert_int_equal(good(WORDS("-m", "?", "-k", "?", "-h")).action, ACTION_HELP);
	/* After the program's name they are its own. */
	assert_int_equal(good(WORDS("program", "--help")).action, ACTION_RUN);
	bad(WORDS("-h", "--bogus"), "unknown option --bogus");
	bad(WORDS("--help=x"), "takes no value");
}

/* The ways to give a value: apart, attached, after "=". */
static void values(void **unused)
{
	const char *const *const ways[] = {
		WORDS("--argv0", "name", "program"), WORDS("--argv0=name", "program"),
		WORDS("-a", "name", "program"),      WORDS("-aname", "program"),
		WORDS("-nva", "name", "program"),    WORDS("-vaname", "program"),
	};
	static const unsigned long first[] = { 3, 2, 3, 2, 3, 2 };

	(void)unused;
	for (unsigned int i = 0; i < COUNT(ways); i++) {
		struct options o = good(ways[i]);

		assert_string_equal(o.argv0, "name");
		assert_int_equal(o.first, first[i]);
		assert_int_equal(o.verbose, i >= 4);
		assert_int_equal(o.dry_run, i == 4);
	}
	assert_string_equal(good(WORDS("-a=name", "x")).argv0, "=name");
	assert_string_equal(good(WORDS("--argv0=a=b", "x")).argv0, "a=b");
	assert_string_equal(good(WORDS("--argv0=", "x")).argv0, "");
	assert_string_equal(good(WORDS("-a", "", "x")).argv0, "");
	assert_string_equal(good(WORDS("-a", "-sh", "x")).argv0, "-sh");
	assert_string_equal(good(WORDS("-a", "--", "x")).argv0, "--");
	assert_string_equal(good(WORDS("-a1", "-a2", "x")).argv0, "2");
}

static void missing_values(void **unused)
{
	static const char *const words[] = { "--mask", "--keep", "--argv0", "--engine" };
	static const char *const letters[] = { "-m", "-k", "-a", "-e" };
	char cluster[8];

	(void)unused;
	for (unsigned int i = 0; i < COUNT(words); i++) {
		bad(WORDS(words[i]), "needs a value");
		bad(WORDS(letters[i]), "needs a value");
		bad(WORDS("-v", letters[i]), "needs a value");
		snprintf(cluster, sizeof(cluster), "-nv%c", letters[i][1]);
		bad(WORDS(cluster), "needs a value");
	}
	/* A value that swallows the program leaves nothing to run. */
	bad(WORDS("--argv0", "program"), "nothing to run");
}

static void engines(void **unused)
{
	(void)unused;
	assert_int_equal(good(WORDS("x")).engine, ENGINE_AUTO);
	assert_int_equal(good(WORDS("-eauto", "x")).engine, ENGINE_AUTO);
	assert_int_equal(good(WORDS("--engine=loader", "x")).engine, ENGINE_LOADER);
	assert_int_equal(good(WORDS("-e", "trace", "x")).engine, ENGINE_TRACE);
	assert_int_equal(good(WORDS("-eloader", "-eauto", "x")).engine, ENGINE_AUTO);
	bad(WORDS("--engine=load", "x"), "no such engine");
	bad(WORDS("--engine=", "x"), "no such engine");
	bad(WORDS("-eLOADER", "x"), "no such engine");
}

static void masks_add_up(void **unused)
{
	struct options o = good(WORDS("--mask=AT_HWCAP2=0x2", "-mAT_HWCAP=0x10,AT_HWCAP2=1", "-m",
				      "AT_HWCAP4=0x8000000000000000", "x"));
	const struct hwcaps want = { { 0x10, 3, 0, 1UL << 63 } };

	(void)unused;
	assert_true(o.have_hide);
	assert_false(o.have_keep);
	assert_memory_equal(&o.hide, &want, sizeof(want));
	o = good(WORDS("-kAT_HWCAP=0x10", "--keep", "AT_HWCAP2=3", "-kAT_HWCAP4=0x8000000000000000",
		       "x"));
	assert_true(o.have_keep);
	assert_false(o.have_hide);
	assert_memory_equal(&o.keep, &want, sizeof(want));
	o = good(WORDS("--mask=none", "x"));
	assert_true(o.have_hide);
	assert_false(hwcaps_any(&o.hide));
	bad(WORDS("--mask=", "x"), "empty");
	bad(WORDS("-m", "", "x"), "empty");
	bad(WORDS("-mAT_HWCAP=0x10000000000000000", "x"), "64 bits");
	bad(WORDS("-mnone", "-mno_such_feature", "x"), "no_such_feature");
}

static void mask_and_keep_exclude_each_other(void **unused)
{
	(void)unused;
	bad(WORDS("--mask=none", "--keep=all", "x"), "exclude each other");
	bad(WORDS("-kall", "-v", "-mnone", "x"), "exclude each other");
	bad(WORDS("-kall", "-mnone"), "exclude each other");
	/* The program's own options are its own. */
	good(WORDS("-kall", "x", "-mnone"));
}

/* A feature that others depend on. */
static const struct hwcap_feature *required_feature(const struct hwcap_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct hwcaps hides;
		int bits = 0;

		spec_closure(t, i, SPEC_HIDE, &hides);
		for (int k = 0; k < HWCAP_ENTRIES; k++)
			bits += __builtin_popcountll(hides.word[k]);
		if (bits > 1)
			return &t->features[i];
	}
	fail_msg("no feature of %s has others depend on it", t->arch);
	return NULL;
}

/* --exact counts for every SPEC, wherever it stands. */
static void exact_counts_everywhere(void **unused)
{
	const struct hwcap_feature *feature;
	struct hwcaps exact = { { 0 } };
	struct hwcap_table t;
	struct options o;

	(void)unused;
	hwcap_table_own(&t);
	feature = required_feature(&t);
	exact.word[feature->entry] = 1UL << feature->bit;
	o = good(WORDS("-m", feature->name, "x"));
	assert_memory_not_equal(&o.hide, &exact, sizeof(exact));
	assert_int_equal(exact.word[feature->entry] & ~o.hide.word[feature->entry], 0);
	o = good(WORDS("--exact", "-m", feature->name, "x"));
	assert_memory_equal(&o.hide, &exact, sizeof(exact));
	o = good(WORDS("-m", feature->name, "--exact", "x"));
	assert_memory_equal(&o.hide, &exact, sizeof(exact));
	o = good(WORDS("-m", feature->name, "--exact", "-mnone", "x"));
	assert_memory_equal(&o.hide, &exact, sizeof(exact));
}

static void options_end(void **unused)
{
	(void)unused;
	assert_int_equal(good(WORDS("--", "-v", "x")).first, 2);
	assert_false(good(WORDS("--", "-v", "x")).verbose);
	assert_int_equal(good(WORDS("-v", "--", "--", "x")).first, 3);
	assert_int_equal(good(WORDS("-v", "x", "--", "y")).first, 2);
	assert_int_equal(good(WORDS("-", "-v")).first, 1);
	assert_false(good(WORDS("-", "-v")).verbose);
	assert_int_equal(good(WORDS("", "-v")).first, 1);
	assert_int_equal(good(WORDS("-v", "x", "-n")).first, 2);
	assert_false(good(WORDS("-v", "x", "-n")).dry_run);
}

static void nothing_to_run(void **unused)
{
	static const char *const alone[] = { "hwcap-exec", NULL };
	struct options o;
	struct diag d;

	(void)unused;
	assert_int_equal(parse(alone, &o, &d), -1);
	assert_non_null(strstr(d.text, "nothing to run; usage:"));
	assert_int_equal(parse(alone + 1, &o, &d), -1);
	assert_non_null(strstr(d.text, "nothing to run"));
	bad(WORDS("-v"), "nothing to run");
	bad(WORDS("--"), "nothing to run");
	bad(WORDS("--mask=none", "--"), "nothing to run");
}

static void unknown_options(void **unused)
{
	/* Letters that only stand for a long option, too. */
	static const char *const letters = "bdgijloprstuwxyzABCDEFGHIJKLMNOPQRSTUWXYZ019?=-+";
	char word[4] = "-v";

	(void)unused;
	for (const char *c = letters; *c; c++) {
		word[2] = *c;
		bad(WORDS(word, "x"), "unknown option");
	}
	bad(WORDS("--bogus", "x"), "unknown option --bogus; see hwcap-exec --help");
	bad(WORDS("--=x", "x"), "unknown option");
	bad(WORDS("---", "x"), "unknown option");
	bad(WORDS("--Mask=all", "x"), "unknown option");
	bad(WORDS("-\n", "x"), "unknown option -?");
	bad(WORDS("-\377", "x"), "unknown option -?");
	bad(WORDS("--a\033[31m", "x"), "unknown option --a\\033[31m");
}

static void follow(void **unused)
{
	(void)unused;
	assert_int_equal(good(WORDS("x")).follow, FOLLOW_NO);
	assert_int_equal(good(WORDS("-f", "x")).follow, FOLLOW_MUST);
	assert_int_equal(good(WORDS("-fv", "x")).follow, FOLLOW_MUST);
	assert_int_equal(good(WORDS("--follow", "x")).follow, FOLLOW_MUST);
	assert_int_equal(good(WORDS("--follow=try", "x")).follow, FOLLOW_TRY);
	bad(WORDS("--follow=", "x"), "the only value is try");
	bad(WORDS("--follow=must", "x"), "the only value is try");
	bad(WORDS("-f=try", "x"), "unknown option -=");
}

/* Any words at all: an answer, and nothing read that is not there. */
static void random_words(void **unused)
{
	static const char *const pool[] = {
		"-m",        "--mask",     "--mask=none",
		"-k",        "--keep=all", "-a",
		"--argv0=",  "-e",         "--engine=auto",
		"-nv",       "-nvm",       "--exact",
		"--no-vdso", "--",         "-",
		"",          "x",          "-h",
		"--version", "-xd",        "none",
		"auto",      "--=",        "-mnone",
		"--enforce", "-E",         "--enforce=",
	};
	uint64_t state = 11;

	(void)unused;
	for (unsigned int i = 0; i < 20000; i++) {
		const char *words[WORDS_MAX + 1] = { "hwcap-exec" };
		uint64_t n = random_below(&state, WORDS_MAX - 1), count = 1;
		struct options o;
		struct diag d;

		for (; count <= n; count++)
			words[count] = pool[random_below(&state, COUNT(pool))];
		if (parse(words, &o, &d)) {
			assert_true(d.text[0]);
			continue;
		}
		assert_true(o.first >= 1 && o.first <= count);
		if (o.action != ACTION_RUN)
			continue;
		assert_true(o.first < count);
		assert_false(o.have_hide && o.have_keep);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_options),
		cmocka_unit_test(flags),
		cmocka_unit_test(cgroup_options),
		cmocka_unit_test(help_and_version),
		cmocka_unit_test(values),
		cmocka_unit_test(missing_values),
		cmocka_unit_test(engines),
		cmocka_unit_test(masks_add_up),
		cmocka_unit_test(mask_and_keep_exclude_each_other),
		cmocka_unit_test(exact_counts_everywhere),
		cmocka_unit_test(options_end),
		cmocka_unit_test(nothing_to_run),
		cmocka_unit_test(unknown_options),
		cmocka_unit_test(follow),
		cmocka_unit_test(random_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
