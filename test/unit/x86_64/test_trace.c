/* arch_trace.c: sites to call from, and what is laid out for the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch_trace.h"

static const unsigned char plain[] = { 0x90, 0x0f, 0x05, 0xc3, 0, 0 };
static const unsigned char clearing[] = {
	0x0f, 0x05, 0x5b, 0xc3, /* pops only: usable, but not clean */
	0x0f, 0x05, 0xc9,       /* leave */
	0x31, 0xc9, 0x31, 0xf6, 0x31, 0xff, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xdb, 0xc3, 0, 0,
};
static const unsigned char narrow_code[] = { 0x0f, 0x05, 0xc3, 0xcd, 0x80, 0x5d,
					     0x5a, 0x59, 0xc3, 0,    0 };

static void plain_site(void **state)
{
	struct arch_trace_site site;

	(void)state;
	assert_true(arch_trace_find_site(plain, sizeof(plain), 0x1000, false, &site));
	assert_int_equal(site.at, 0x1001);
	assert_int_equal(site.words, 0);
	assert_false(site.clean);
	assert_true(site.returns);
	assert_int_equal(site.sigreturn, 0);
	assert_false(arch_trace_find_site(plain, sizeof(plain), 0, true, &site));
}

static void best_site(void **state)
{
	struct arch_trace_site site;

	(void)state;
	assert_true(arch_trace_find_site(clearing, sizeof(clearing), 0, false, &site));
	assert_int_equal(site.at, 4);
	assert_int_equal(site.words, 1);
	assert_true(site.frame);
	assert_true(site.clean);
}

static void narrow_site(void **state)
{
	struct arch_trace_site site;

	(void)state;
	assert_true(arch_trace_find_site(narrow_code, sizeof(narrow_code), 0, true, &site));
	assert_int_equal(site.at, 3);
	assert_int_equal(site.words, 3);
}

static void refused_sites(void **state)
{
	static const unsigned char bad[][6] = {
		{ 0x0f, 0x05, 0x5c, 0xc3, 0, 0 },       /* pop %rsp */
		{ 0x0f, 0x05, 0x31, 0xe4, 0xc3, 0 },    /* xor %esp, %esp */
		{ 0x0f, 0x05, 0x58, 0xc3, 0, 0 },       /* pop %rax: the result */
		{ 0x0f, 0x05, 0x48, 0x89, 0xc3, 0xc3 }, /* anything else */
		{ 0x90, 0x90, 0x90, 0xc3, 0x0f, 0x05 }, /* no return */
	};
	struct arch_trace_site site;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(arch_trace_find_site(bad[i], sizeof(bad[i]), 0, false, &site));
}

static void last_call(void **state)
{
	struct arch_trace_site site = { .at = 0x5000, .words = 2, .frame = true };
	struct arch_trace_regs regs = { .size = sizeof(regs.word) };
	uint64_t stack[ARCH_TRACE_STACK];

	(void)state;
	assert_int_equal(arch_trace_set_last_call(&regs, &site, ARCH_TRACE_WAITID, 1, 2, 0x1234,
						  0x8000, stack),
			 3);
	assert_int_equal(arch_trace_sp(&regs), 0x8000 - 3 * 8);
	assert_int_equal(arch_trace_ip(&regs), 0x5000);
	assert_int_equal(stack[0], 0);
	assert_int_equal(stack[1], 0);
	assert_int_equal(stack[2], 0x1234);
	assert_false(arch_trace_lacks_code(&site, false));
	assert_true(arch_trace_lacks_code(&site, true));
	arch_trace_take_code(&site, 0x6ff8);
	assert_false(arch_trace_lacks_code(&site, true));
	assert_int_equal(site.sigreturn, 0x6ff8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_site),  cmocka_unit_test(best_site),
		cmocka_unit_test(narrow_site), cmocka_unit_test(refused_sites),
		cmocka_unit_test(last_call),
	};

	return cmocka_run_group_tests_name("trace (x86_64)", tests, NULL, NULL);
}
