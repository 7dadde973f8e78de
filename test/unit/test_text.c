/* text.c and diag.c: formatting against printf(3), cutting, one line. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "diag.h"
#include "text.h"

/* The same FORMAT through text_add() and snprintf() gives the same bytes. */
#define same(...)                                                \
	do {                                                     \
		char got_[256], wanted_[256];                    \
		struct text t_;                                  \
		text_init(&t_, got_, sizeof(got_));              \
		text_add(&t_, __VA_ARGS__);                      \
		snprintf(wanted_, sizeof(wanted_), __VA_ARGS__); \
		assert_string_equal(got_, wanted_);              \
		assert_int_equal(t_.length, strlen(wanted_));    \
	} while (0)

static void formats_as_printf(void **state)
{
	(void)state;
	same("plain");
	same("%s|%s", "", "text");
	same("%.*s|%.*s|%.*s", 3, "abcdef", 0, "x", 9, "short");
	same("%.*s", -1, "negative means all");
	same("%.3s|%.0s|%.20s", "abcdef", "x", "short");
	same("%d %d %d", 0, INT_MAX, INT_MIN);
	same("%u %u", 0U, UINT_MAX);
	same("%ld %ld", LONG_MAX, LONG_MIN);
	same("%lu", ULONG_MAX);
	same("%lx %lx", 0UL, ULONG_MAX);
	same("%#lx %#lx", 0UL, 0xabcUL);
	same("%016lx %016lx", 0UL, ULONG_MAX);
	same("%c%c%%", 'a', 'b');
	same("%d%s%lx%%%c", 1, "two", 3UL, '4');
}

static void precision_needs_no_nul(void **state)
{
	const char bytes[3] = { 'a', 'b', 'c' };
	char got[8];
	struct text t;

	(void)state;
	text_init(&t, got, sizeof(got));
	text_add(&t, "%.*s", 3, bytes);
	assert_string_equal(got, "abc");
}

static void null_is_printed(void **state)
{
	const char *volatile nothing = NULL;
	char got[32];
	struct text t;

	(void)state;
	text_init(&t, got, sizeof(got));
	text_add(&t, "%s %.*s", nothing, 3, nothing);
	assert_string_equal(got, "(null) (nu");
}

static void unknown_conversions_stay(void **state)
{
	/* Not literals: the compiler would object. */
	static const char *const formats[] = { "%y", "%08x|", "a%", "%lo", "%l", "%.3d", "%#" };
	char got[32];

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct text t;

		text_init(&t, got, sizeof(got));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
		text_add(&t, formats[i]);
#pragma GCC diagnostic pop
		assert_string_equal(got, formats[i]);
	}
}

static void cuts_at_every_size(void **state)
{
	const char *whole = "ab-2147483648ffffffffffffffff!";

	(void)state;
	for (size_t size = 0; size <= strlen(whole) + 2; size++) {
		char buffer[64];
		struct text t;

		memset(buffer, '#', sizeof(buffer));
		text_init(&t, buffer, size);
		text_add(&t, "%s%d", "ab", INT_MIN);
		text_add(&t, "%016lx%c", ULONG_MAX, '!');
		if (size) {
			size_t n = size - 1 < strlen(whole) ? size - 1 : strlen(whole);

			assert_int_equal(t.length, n);
			assert_memory_equal(buffer, whole, n);
			assert_int_equal(buffer[n], '\0');
		}
		for (size_t i = size; i < sizeof(buffer); i++)
			assert_int_equal(buffer[i], '#');
	}
}

static void errno_texts(void **state)
{
	char buffer[16];

	(void)state;
#ifdef __GLIBC__ /* whose texts they are */
	static const int errors[] = { EPERM, ENOENT,  EACCES,       ENOEXEC, ELIBBAD, ELOOP,
				      E2BIG, ETXTBSY, ENAMETOOLONG, ENOTDIR, EIO,     EINVAL };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		assert_string_equal(errno_text(errors[i], buffer), strerror(errors[i]));
#endif
	assert_string_equal(errno_text(1234567, buffer), "error 1234567");
	assert_string_equal(errno_text(0, buffer), "error 0");
	assert_string_equal(errno_text(INT_MIN, buffer), "error -21474836");
}

static void diag_records(void **state)
{
	struct diag d = { 0, 0, "" };

	(void)state;
	assert_int_equal(diag(&d, EXIT_NOT_FOUND, ENOENT, "%s: not %d", "x", 1), -1);
	assert_int_equal(d.status, 127);
	assert_int_equal(d.error, ENOENT);
	assert_string_equal(d.text, "x: not 1");
}

static void diag_stays_one_line(void **state)
{
	struct diag d = { 0, 0, "" };
	char all[256];
	size_t n = 0;

	(void)state;
	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = '\0';
	diag(&d, EXIT_FAILED, 0, "%s", all);
	for (int i = 1; i < 256; i++) {
		char escape[5], *at = d.text + n;

		snprintf(escape, sizeof(escape), i < ' ' || i == 0x7f ? "\\%03o" : "%c", i);
		n += strlen(escape);
		assert_memory_equal(at, escape, strlen(escape));
	}
	assert_int_equal(strlen(d.text), n);
	diag(&d, EXIT_FAILED, 0, "%s", d.text);
	assert_int_equal(strlen(d.text), n);
}

/* An escape takes its room, and is left out where it has none. */
static void escapes_count(void **state)
{
	struct diag d = { 0, 0, "" };

	(void)state;
	diag(&d, EXIT_FAILED, 0, "%.4s|%.3s|%.6s|%.5s|%.*s", "\n\n", "\n", "a\033[b", "\177xyz", -1,
	     "\r");
	assert_string_equal(d.text, "\\012||a\\033[|\\177x|\\015");
}

static void raw_stays_raw(void **state)
{
	char got[8];
	struct text t;

	(void)state;
	text_init(&t, got, sizeof(got));
	text_add(&t, "%d/", 1);
	text_add_raw(&t, "a\nb");
	assert_string_equal(got, "1/a\nb");
	text_add_raw(&t, "cdefg");
	assert_string_equal(got, "1/a\nbcd");
}

static void diag_may_wrap_itself(void **state)
{
	struct diag d = { 0, 0, "" };

	(void)state;
	diag(&d, EXIT_FAILED, 0, "inner");
	diag(&d, EXIT_FAILED, 0, "outer: %.560s", d.text);
	assert_string_equal(d.text, "outer: inner");
}

static void diag_cuts(void **state)
{
	char longer[2000];
	struct diag d = { 0, 0, "" };

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	diag(&d, EXIT_FAILED, 0, "%s", longer);
	assert_int_equal(strlen(d.text), sizeof(d.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_as_printf),    cmocka_unit_test(precision_needs_no_nul),
		cmocka_unit_test(null_is_printed),      cmocka_unit_test(unknown_conversions_stay),
		cmocka_unit_test(cuts_at_every_size),   cmocka_unit_test(errno_texts),
		cmocka_unit_test(diag_records),         cmocka_unit_test(diag_stays_one_line),
		cmocka_unit_test(escapes_count),        cmocka_unit_test(raw_stays_raw),
		cmocka_unit_test(diag_may_wrap_itself), cmocka_unit_test(diag_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
