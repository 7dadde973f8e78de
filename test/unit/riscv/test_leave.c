/* Where the last of hwcap-exec leaves from, and by which signal frame */
#include <ucontext.h>

#include "arch.h"
#include "unit.h"

static bool find(const uint16_t *code, size_t count, struct arch_leave_site *site)
{
	*site = (struct arch_leave_site){ 0 };
	return arch_find_leave_site((const unsigned char *)code, count * sizeof(*code), 0x1000,
				    site);
}

static void sites(void **state)
{
	/* nop (compressed); ecall; ret (compressed); li a7, 139; ecall */
	const uint16_t both[] = { 0x0001, 0x0073, 0x0000, 0x8082, 0x0893,
				  0x08b0, 0x0073, 0x0000, 0x0001, 0x0001 };
	const uint16_t wide[] = { 0x0073, 0x0000, 0x8067, 0x0000, 0x0001, 0x0001 };
	const uint16_t neither[] = { 0x0073, 0x0000, 0x0001, 0x8082, 0x0893,
				     0x08b0, 0x0001, 0x0073, 0x0000 };
	struct arch_leave_site site;

	(void)state;
	assert_true(find(both, COUNT(both), &site));
	assert_int_equal(site.at, 0x1002);
	assert_int_equal(site.sigreturn, 0x1008);
	assert_false(find(wide, COUNT(wide), &site));
	assert_int_equal(site.at, 0x1000);
	assert_int_equal(site.sigreturn, 0);
	assert_false(find(neither, COUNT(neither), &site));
	assert_int_equal(site.at, 0);
}

/* What rt_sigreturn will read, as libc's header has it. */
static void frame(void **state)
{
	static _Alignas(16) unsigned char stack[16384];
	const struct arch_leave_site site = { .at = 0x1002, .sigreturn = 0x1008 };
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
	for (unsigned int i = 1; i < 32; i++)
		assert_int_equal(uc->uc_mcontext.__gregs[i], i == 2 ? entry.sp : 0);
	assert_int_equal(uc->uc_mcontext.__gregs[0], entry.pc);
	assert_int_equal(uc->uc_stack.ss_flags, SS_DISABLE);
	assert_int_equal(stack[sizeof(stack) - 64], 0xaa);
}

/* sv39, sv48, sv57. */
static void address_spaces(void **state)
{
	static const unsigned int bits[] = { 38, 47, 56 };

	(void)state;
	for (unsigned int i = 0; i < COUNT(bits); i++) {
		const uint64_t top = 1UL << bits[i];
		const struct arch_space lowest = arch_space(top - (1UL << 35)),
					highest = arch_space(top - 4096);

		assert_int_equal(lowest.stack_top, top);
		assert_int_equal(highest.stack_top, top);
		assert_int_equal(highest.dyn_base, top / 3 * 2);
		assert_int_equal(highest.task, bits[i] == 47 ? 1UL << 56 : top);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites),
		cmocka_unit_test(frame),
		cmocka_unit_test(address_spaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
