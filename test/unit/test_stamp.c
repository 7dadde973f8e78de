/* stamp.c: found wherever it lies, and nothing else taken for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stamp.h"

static void found_anywhere(void **state)
{
	unsigned char bytes[3 * sizeof(struct stamp)];

	(void)state;
	for (size_t at = 0; at <= sizeof(bytes) - sizeof(struct stamp); at += 333) {
		memset(bytes, 0x7f, sizeof(bytes));
		memcpy(bytes + at, &stamp_own, sizeof(stamp_own));
		assert_ptr_equal(stamp_find(bytes, sizeof(bytes)), bytes + at);
		assert_null(stamp_find(bytes, at + sizeof(struct stamp) - 1));
	}
}

static void not_found(void **state)
{
	unsigned char bytes[2 * sizeof(struct stamp)];
	struct stamp other = stamp_own;

	(void)state;
	memset(bytes, 0x7f, sizeof(bytes));
	assert_null(stamp_find(bytes, sizeof(bytes)));
	assert_null(stamp_find(bytes, 0));
	other.version++;
	memcpy(bytes + 5, &other, sizeof(other));
	assert_null(stamp_find(bytes, sizeof(bytes)));
}

static void empty_as_built(void **state)
{
	(void)state;
	assert_int_equal(stamp_own.flags, 0);
	assert_int_equal(stamp_own.path[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_anywhere),
		cmocka_unit_test(not_found),
		cmocka_unit_test(empty_as_built),
	};

	return cmocka_run_group_tests_name("stamp", tests, NULL, NULL);
}
