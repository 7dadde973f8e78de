/* arch_trace.c: sites to call from, and how a call tells that it failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch_trace.h"

enum { SC = 0x44000002, BNS = 0x40e30008, NEG = 0x7c6300d0, BLR = 0x4e800020 };
enum { ADDI_R1 = 0x38210080, SIGRETURN = 0x380000ac };
enum { R3 = 3, CCR = 38, TRAP = 40 };

static bool find(const uint32_t *code, size_t count, struct arch_trace_site *site)
{
	return arch_trace_find_site((const unsigned char *)code, count * sizeof(*code), 0x1000,
				    false, site);
}

static void sites(void **state)
{
	const uint32_t code[] = { SC, SIGRETURN, SC, 0, SC, BNS, NEG, BLR };
	const uint32_t framed[] = { ADDI_R1, SIGRETURN, SC, SC, BLR };
	struct arch_trace_site site;

	(void)state;
	assert_true(find(code, 8, &site));
	assert_int_equal(site.at, 0x1010);
	assert_int_equal(site.sigreturn, 0x1004);
	assert_int_equal(site.skip, 0);
	assert_false(find(code, 7, &site));
	assert_true(find(framed, 5, &site));
	assert_int_equal(site.sigreturn, 0x1000);
	assert_int_equal(site.skip, 128);
}

static void last_call(void **state)
{
	const struct arch_trace_site site = { .at = 0x5000, .sigreturn = 0x6000, .skip = 128 };
	struct arch_trace_regs regs = { .size = sizeof(regs.word) };
	uint64_t stack[ARCH_TRACE_STACK];

	(void)state;
	arch_trace_set_last_call(&regs, &site, ARCH_TRACE_WAITID, 1, 2, 0x6000, 0x8000, stack);
	assert_int_equal(arch_trace_sp(&regs), 0x8000 - 128);
	assert_int_equal(arch_trace_ip(&regs), 0x5000);
}

static void results(void **state)
{
	struct arch_trace_regs regs = { .size = sizeof(regs.word) };

	(void)state;
	regs.word[R3] = 22;
	regs.word[TRAP] = 0xc01;
	assert_int_equal(arch_trace_result(&regs), 22);
	regs.word[CCR] = 0x10000000;
	assert_int_equal(arch_trace_result(&regs), -22);
	regs.word[R3] = (uint64_t)-2;
	regs.word[TRAP] = 0x3000;
	assert_int_equal(arch_trace_result(&regs), -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites),
		cmocka_unit_test(last_call),
		cmocka_unit_test(results),
	};

	return cmocka_run_group_tests_name("trace (ppc64)", tests, NULL, NULL);
}
