/* arch_trace.c: sites to call from, and the registers of a start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch_trace.h"

/* ecall; lw a0, 0(sp); ecall; ret; li a7, 139; ecall */
static const uint16_t code[] = { 0x0073, 0, 0x4502, 0x0073, 0, 0x8082, 0x0893, 0x08b0, 0x0073, 0 };

static void short_site(void **state)
{
	struct arch_trace_site site;

	(void)state;
	assert_true(arch_trace_find_site((const unsigned char *)code, sizeof(code), 0x1000, false,
					 &site));
	assert_int_equal(site.at, 0x1006);
	assert_int_equal(site.sigreturn, 0x100c);
	assert_false(arch_trace_lacks_code(&site, true));
	assert_false(
		arch_trace_find_site((const unsigned char *)code, sizeof(code), 0, true, &site));
}

static void no_trampoline(void **state)
{
	struct arch_trace_site site;

	(void)state;
	assert_true(arch_trace_find_site((const unsigned char *)code, 14, 0, false, &site));
	assert_true(arch_trace_lacks_code(&site, true));
	assert_false(arch_trace_lacks_code(&site, false));
	assert_false(arch_trace_find_site((const unsigned char *)code, 8, 0, false, &site));
}

static void settled(void **state)
{
	struct arch_trace_regs regs = { .size = sizeof(regs.word) };

	(void)state;
	memset(regs.word, 1, sizeof(regs.word));
	arch_trace_settle(&regs);
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(regs.word[i], i == 0 || i == 2 ? 0x0101010101010101 : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_site),
		cmocka_unit_test(no_trampoline),
		cmocka_unit_test(settled),
	};

	return cmocka_run_group_tests_name("trace (riscv)", tests, NULL, NULL);
}
