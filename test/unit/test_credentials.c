/* credentials.c: which ids a line of a map has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "credentials.h"

static bool has(const char *line, unsigned int id)
{
	return idmap_line_has(line, strlen(line), id);
}

static void all_ids(void **state)
{
	static const char line[] = "         0          0 4294967295";

	(void)state;
	assert_true(has(line, 0));
	assert_true(has(line, 65534));
	assert_true(has(line, UINT32_MAX - 1));
	assert_false(has(line, UINT32_MAX));
}

static void a_range(void **state)
{
	static const char line[] = "      1000     100000      65536";

	(void)state;
	assert_false(has(line, 0));
	assert_false(has(line, 999));
	assert_true(has(line, 1000));
	assert_true(has(line, 66535));
	assert_false(has(line, 66536));
	assert_false(has(line, 100000));
	assert_true(has("4294967294 0 1", UINT32_MAX - 1));
	assert_false(has("4294967294 0 1", 0));
}

/* No line that a kernel writes; nothing beyond LENGTH is looked at. */
static void other_lines(void **state)
{
	(void)state;
	assert_false(has("", 0));
	assert_false(has("0", 0));
	assert_false(has("0 0", 0));
	assert_false(has("x y z", 0));
	assert_false(idmap_line_has("0 0 10", 4, 0));
	assert_true(idmap_line_has("0 0 10", 5, 0));
	assert_false(idmap_line_has("0 0 10", 5, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ids),
		cmocka_unit_test(a_range),
		cmocka_unit_test(other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
