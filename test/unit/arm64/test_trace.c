/* arch_trace.c: sites to call from, native and AArch32. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch_trace.h"

enum { SVC = 0xd4000001, RET = 0xd65f03c0, AUTIASP = 0xd50323bf, SIGRETURN = 0xd2801168 };

static bool find(const uint32_t *code, size_t size, bool narrow, struct arch_trace_site *site)
{
	return arch_trace_find_site((const unsigned char *)code, size, 0x1000, narrow, site);
}

static void plain_site(void **state)
{
	const uint32_t code[] = { SVC, AUTIASP, RET, SVC, RET, SIGRETURN, SVC, 0 };
	struct arch_trace_site site;

	(void)state;
	assert_true(find(code, sizeof(code), false, &site));
	assert_int_equal(site.at, 0x100c);
	assert_int_equal(site.sigreturn, 0x1014);
	assert_true(site.returns);
	assert_false(arch_trace_lacks_code(&site, true));
	assert_false(find(code, 5 * sizeof(*code), false, &site));
}

static void signed_site(void **state)
{
	const uint32_t code[] = { SVC, AUTIASP, RET, SIGRETURN, SVC, 0, 0 };
	struct arch_trace_site site;

	(void)state;
	assert_true(find(code, sizeof(code), false, &site));
	assert_true(arch_trace_lacks_code(&site, true));
	arch_trace_take_code(&site, 0x1ff8);
	assert_false(arch_trace_lacks_code(&site, true));
	assert_int_equal(site.at, 0x1ff8);
}

static void narrow_site(void **state)
{
	/* svc 0; mov r0, r0; svc 0; pop {r7}; bx lr */
	static const uint16_t thumb[] = { 0xdf00, 0x4600, 0xdf00, 0xbc80, 0x4770, 0, 0, 0, 0, 0 };
	static const uint32_t arm[] = { 0xef000000, 0xe49d7004, 0xe12fff1e, 0 };
	struct arch_trace_site site;

	(void)state;
	assert_true(find((const uint32_t *)(const void *)thumb, sizeof(thumb), true, &site));
	assert_int_equal(site.at, 0x1004);
	assert_int_equal(site.words, 1);
	assert_true(site.thumb);
	assert_true(find(arm, sizeof(arm), true, &site));
	assert_false(site.thumb);
	assert_int_equal(site.words, 1);
}

static void narrow_call(void **state)
{
	const struct arch_trace_site site = { .at = 0x5000, .words = 1, .thumb = true };
	struct arch_trace_regs regs = { .size = 72 };
	uint64_t stack[ARCH_TRACE_STACK];

	(void)state;
	assert_int_equal(arch_trace_set_last_call(&regs, &site, ARCH_TRACE_WAITID, 1, 2, 0x1234,
						  0x8000, stack),
			 1);
	assert_int_equal(arch_trace_sp(&regs), 0x8000 - 4);
	assert_int_equal(arch_trace_ip(&regs), 0x5001);
	assert_int_equal(stack[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_site),
		cmocka_unit_test(signed_site),
		cmocka_unit_test(narrow_site),
		cmocka_unit_test(narrow_call),
	};

	return cmocka_run_group_tests_name("trace (arm64)", tests, NULL, NULL);
}
