/*
 * The `#!` line, against a model of fs/binfmt_script.c
 *
 * The model works on offsets of a constant line, as far from the code under
 * test as the rules allow.
 */
#include <errno.h>
#include <stdio.h>

#include "script.h"
#include "unit.h"

/* ---- the kernel ------------------------------------------------------------ */

struct parsed {
	int error;
	char name[SCRIPT_LINE + 1], argument[SCRIPT_LINE + 1];
	bool has_argument;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* strnchr(): stops at a NUL, unlike memchr(). -1 if there is none. */
static int newline_in(const char *line)
{
	for (int i = 0; i < SCRIPT_LINE; i++) {
		if (line[i] == '\n')
			return i;
		if (!line[i])
			return -1;
	}
	return -1;
}

/* next_non_spacetab() and next_terminator() in [from, last]. */
static int first_other(const char *line, int from, int last)
{
	for (; from <= last; from++)
		if (!blank(line[from]))
			return from;
	return -1;
}

static int first_end(const char *line, int from, int last)
{
	for (; from <= last; from++)
		if (blank(line[from]) || !line[from])
			return from;
	return -1;
}

/* The string at FROM, once there is a NUL at END and maybe one at CUT. */
static void take_string(char *to, const char *line, int from, int cut, int end)
{
	int n = 0;

	for (; from + n < end && from + n != cut && line[from + n]; n++)
		to[n] = line[from + n];
	to[n] = '\0';
}

static void model(const char *line, struct parsed *p)
{
	int last = SCRIPT_LINE - 1, end = newline_in(line), name, cut;
	int argument = -1;

	memset(p, 0, sizeof(*p));
	p->error = ENOEXEC;
	if (end < 0) {
		name = first_other(line, 2, last);
		if (name < 0 || first_end(line, name, last) < 0)
			return;
		end = last;
	}
	while (blank(line[end - 1]))
		end--;
	name = first_other(line, 2, end);
	if (name < 0 || name == end)
		return;
	cut = first_end(line, name, end);
	if (cut >= 0 && line[cut])
		argument = first_other(line, cut, end);
	p->error = 0;
	p->has_argument = argument >= 0;
	take_string(p->name, line, name, p->has_argument ? cut : -1, end);
	if (p->has_argument)
		take_string(p->argument, line, argument, -1, end);
}

/* ---- comparison ------------------------------------------------------------ */

static void parse(const char *line, struct parsed *p)
{
	char *copy = exact_copy(line, SCRIPT_LINE);
	struct script s;

	memset(p, 0, sizeof(*p));
	p->error = script_parse(copy, &s);
	if (!p->error) {
		assert_true(s.interpreter >= copy + 2);
		assert_true(s.interpreter + strlen(s.interpreter) < copy + SCRIPT_LINE);
		strcpy(p->name, s.interpreter);
		p->has_argument = s.argument;
		if (s.argument) {
			assert_true(s.argument + strlen(s.argument) < copy + SCRIPT_LINE);
			strcpy(p->argument, s.argument);
		}
	}
	free(copy);
}

static void check_line(const char *line)
{
	struct parsed want, have;

	model(line, &want);
	parse(line, &have);
	if (memcmp(&want, &have, sizeof(want)))
		fail_msg(
			"line \"%.256s\": error %d, \"%s\" \"%s\"; the kernel has %d, \"%s\" \"%s\"",
			line, have.error, have.name, have.argument, want.error, want.name,
			want.argument);
}

/* LINE as the kernel's buffer has it: zeros behind the end of the file. */
static void check_bytes(const void *bytes, size_t size, struct parsed *p)
{
	char line[SCRIPT_LINE] = { 0 };

	memcpy(line, bytes, size < SCRIPT_LINE ? size : SCRIPT_LINE);
	check_line(line);
	parse(line, p);
}

/* ---- tests ----------------------------------------------------------------- */

#define LINE(text, error, name, argument)                     \
	{                                                     \
		text, sizeof(text) - 1, error, name, argument \
	}

static void lines_and_their_meaning(void **unused)
{
	static const struct {
		const char *text;
		size_t size;
		int error;
		const char *name, *argument;
	} cases[] = {
		LINE("#!/bin/sh\n", 0, "/bin/sh", NULL),
		LINE("#!/bin/sh", 0, "/bin/sh", NULL),
		LINE("#! /bin/sh -e\necho\n", 0, "/bin/sh", "-e"),
		LINE("#!\t \t/bin/sh \t -e -x \t\n", 0, "/bin/sh", "-e -x"),
		LINE("#!/bin/sh\r\n", 0, "/bin/sh\r", NULL),
		LINE("#!/bin/sh -e\r\n", 0, "/bin/sh", "-e\r"),
		LINE("#!/bin/sh \r\n", 0, "/bin/sh", "\r"),
		LINE("#!/bin/sh\0 -e\n", 0, "/bin/sh", NULL),
		LINE("#!/bin/sh -e\0x\n", 0, "/bin/sh", "-e"),
		LINE("#!/bin/sh \0x\n", 0, "/bin/sh", ""),
		LINE("#!sh\n", 0, "sh", NULL),
		LINE("#!\v/bin/sh\n", 0, "\v/bin/sh", NULL),
		LINE("#!", 0, "", NULL), /* its open gives EACCES */
		LINE("#!  ", 0, "", NULL),
		LINE("#!\0\n", 0, "", NULL),
		LINE("#!\n", ENOEXEC, "", NULL),
		LINE("#! \t \n", ENOEXEC, "", NULL),
		LINE("#!\n/bin/sh\n", ENOEXEC, "", NULL),
	};

	(void)unused;
	for (unsigned int i = 0; i < COUNT(cases); i++) {
		struct parsed p;

		check_bytes(cases[i].text, cases[i].size, &p);
		assert_int_equal(p.error, cases[i].error);
		assert_string_equal(p.name, cases[i].name);
		assert_int_equal(p.has_argument, cases[i].argument != NULL);
		if (cases[i].argument)
			assert_string_equal(p.argument, cases[i].argument);
	}
}

/* The interpreter's path ends by byte 255; an argument is cut there. */
static void the_256_byte_edge(void **unused)
{
	(void)unused;
	for (size_t length = 240; length < 270; length++)
		for (unsigned int blanks = 0; blanks < 4; blanks++) {
			char text[400] = "#!   ";
			size_t name = length - 2 - blanks;
			struct parsed p;

			memset(text + 2 + blanks, 'x', name);
			strcpy(text + length, "\n");
			check_bytes(text, length + 1, &p);
			assert_int_equal(p.error, length <= 255 ? 0 : ENOEXEC);
			if (!p.error)
				assert_int_equal(strlen(p.name), name);
			/* A blank ends it as well as a newline does. */
			strcpy(text + length, " argument\n");
			check_bytes(text, length + 10, &p);
			assert_int_equal(p.error, length <= 255 ? 0 : ENOEXEC);
			/* So does the end of the file, if it is in the line. */
			check_bytes(text, length, &p);
			assert_int_equal(p.error, length <= 255 ? 0 : ENOEXEC);
		}
}

static void long_arguments_are_cut(void **unused)
{
	char text[600] = "#!/bin/sh ";
	struct parsed p;

	(void)unused;
	memset(text + 10, 'y', 500);
	check_bytes(text, sizeof(text), &p);
	assert_int_equal(p.error, 0);
	assert_string_equal(p.name, "/bin/sh");
	assert_int_equal(strlen(p.argument), 255 - 10);
	/* All blanks up to the cut: no argument, and no path at all. */
	memset(text + 9, ' ', 500);
	check_bytes(text, sizeof(text), &p);
	assert_int_equal(p.error, 0);
	assert_false(p.has_argument);
	memset(text + 2, ' ', 500);
	check_bytes(text, sizeof(text), &p);
	assert_int_equal(p.error, ENOEXEC);
}

static void random_lines(void **unused)
{
	static const char few[] = { ' ', '\t', '\n', '\0', '/', 'x', '\r' };
	uint64_t state = 99;

	(void)unused;
	for (unsigned int i = 0; i < 200000; i++) {
		char line[SCRIPT_LINE] = "#!";
		size_t size = one_in(&state, 2) ? SCRIPT_LINE : 2 + random_below(&state, 30);
		/* Long runs of one byte between changes, or none. */
		uint64_t run = 1 + random_below(&state, one_in(&state, 2) ? 3 : 200);
		char byte = 'x';

		for (size_t k = 2; k < size; k++) {
			if (one_in(&state, run))
				byte = few[random_below(&state, COUNT(few))];
			line[k] = byte;
		}
		check_line(line);
	}
}

static void what_a_script_is(void **unused)
{
	static const char bytes[] = "#!/";

	(void)unused;
	for (size_t size = 0; size < 4; size++) {
		char *copy = exact_copy(bytes, size);

		assert_int_equal(is_script(copy, size), size >= 2);
		free(copy);
	}
	assert_false(is_script(" #!/bin/sh", 10));
	assert_false(is_script("#\n!", 3));
}

static void what_text_is(void **unused)
{
	static const struct {
		const char *bytes;
		size_t size;
		bool text;
	} cases[] = {
		{ "", 0, true },         { "echo hello\n", 11, true }, { "echo", 4, true },
		{ "e\0", 2, false },     { "echo\n\0\0", 7, true },    { "\0\n", 2, false },
		{ "\177ELF", 4, false }, { "\177EL", 3, true },        { "\177ELF\n", 5, false },
		{ "\n", 1, true },
	};

	(void)unused;
	for (unsigned int i = 0; i < COUNT(cases); i++) {
		char *copy = exact_copy(cases[i].bytes, cases[i].size);

		assert_int_equal(is_text(copy, cases[i].size), cases[i].text);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_their_meaning), cmocka_unit_test(the_256_byte_edge),
		cmocka_unit_test(long_arguments_are_cut),  cmocka_unit_test(random_lines),
		cmocka_unit_test(what_a_script_is),        cmocka_unit_test(what_text_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
