/* Where the last of hwcap-exec leaves from, and by which signal frame */
#include <ucontext.h>

#include "arch.h"
#include "unit.h"

enum {
	SVC = 0xd4000001,
	RET = 0xd65f03c0,
	AUTIASP = 0xd50323bf,
	SIGRETURN = 0xd2801168,
	NOP = 0xd503201f
};

static bool find(const uint32_t *code, size_t count, struct arch_leave_site *site)
{
	*site = (struct arch_leave_site){ 0 };
	return arch_find_leave_site((const unsigned char *)code, count * sizeof(*code), 0x1000,
				    site);
}

static void sites(void **state)
{
	const uint32_t both[] = { NOP, SVC, RET, SIGRETURN, SVC, NOP, NOP };
	const uint32_t signed_return[] = { SVC, AUTIASP, RET, NOP, NOP };
	const uint32_t neither[] = { SVC, NOP, RET, AUTIASP, RET, SVC, AUTIASP };
	struct arch_leave_site site;

	(void)state;
	assert_true(find(both, COUNT(both), &site));
	assert_int_equal(site.at, 0x1004);
	assert_int_equal(site.sigreturn, 0x100c);
	assert_false(site.authenticates);
	assert_false(find(signed_return, COUNT(signed_return), &site));
	assert_int_equal(site.at, 0x1000);
	assert_true(site.authenticates);
	assert_int_equal(site.sigreturn, 0);
	assert_false(find(neither, COUNT(neither), &site));
	assert_int_equal(site.at, 0);
}

/* What rt_sigreturn will read, as libc's header has it. */
static void frame(void **state)
{
	static _Alignas(16) unsigned char stack[16384];
	const struct arch_leave_site site = { .at = 0x1004, .sigreturn = 0x100c };
	const struct arch_entry entry = { .pc = 0x400000,
					  .sp = (uint64_t)stack + sizeof(stack) - 64 };
	const ucontext_t *uc;
	struct arch_leave how = { .fd = -1 };

	(void)state;
	memset(stack, 0xaa, sizeof(stack));
	arch_leave_prepare(&how, &site, &entry);
	assert_int_equal(how.site, site.at);
	assert_int_equal(how.link, site.sigreturn);
	assert_int_equal(how.stack % 16, 0);
	assert_true(how.stack < entry.sp && entry.sp - how.stack <= ARCH_LEAVE_ROOM);
	uc = (const ucontext_t *)(how.stack + 128);
	for (unsigned int i = 0; i < 31; i++)
		assert_int_equal(uc->uc_mcontext.regs[i], 0);
	assert_int_equal(uc->uc_mcontext.sp, entry.sp);
	assert_int_equal(uc->uc_mcontext.pc, entry.pc);
	assert_int_equal(uc->uc_mcontext.pstate, 0);
	assert_int_equal(uc->uc_stack.ss_flags, SS_DISABLE);
	assert_int_equal(stack[sizeof(stack) - 64], 0xaa);
}

/* The vDSO has no trampoline: registers are what the site leaves. */
static void without_frame(void **state)
{
	const struct arch_leave_site site = { .at = 0x1004 };
	const struct arch_entry entry = { .pc = 0x400000, .sp = 0x10000 };
	struct arch_leave how = { .fd = -1 };

	(void)state;
	arch_leave_prepare(&how, &site, &entry);
	assert_int_equal(how.stack, entry.sp);
	assert_int_equal(how.link, entry.pc);
}

static void address_spaces(void **state)
{
	static const unsigned int bits[] = { 39, 42, 47, 48 };

	(void)state;
	for (unsigned int i = 0; i < COUNT(bits); i++) {
		const uint64_t top = 1UL << bits[i];
		const struct arch_space lowest = arch_space(top - (1UL << 35)),
					highest = arch_space(top - 4096);

		assert_int_equal(lowest.stack_top, top);
		assert_int_equal(highest.stack_top, top);
		assert_int_equal(highest.dyn_base, top / 3 * 2);
		assert_int_equal(highest.task, bits[i] == 48 ? 1UL << 52 : top);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites),
		cmocka_unit_test(frame),
		cmocka_unit_test(without_frame),
		cmocka_unit_test(address_spaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
