/* Where the last of hwcap-exec leaves from, and by which signal frame */
#include <ucontext.h>

#include "arch.h"
#include "unit.h"

enum {
	SC = 0x44000002,
	BNS = 0x40e30008,
	NEG = 0x7c6300d0,
	BLR = 0x4e800020,
	NOP = 0x60000000,
	ADDI = 0x38210080,
	LI = 0x380000ac,
	NIP = 32,
	MSR = 33
};

static bool find(const uint32_t *code, size_t count, struct arch_leave_site *site)
{
	*site = (struct arch_leave_site){ 0 };
	return arch_find_leave_site((const unsigned char *)code, count * sizeof(*code), 0x1000,
				    site);
}

static void sites(void **state)
{
	const uint32_t both[] = { NOP, SC, BNS, NEG, BLR, ADDI, LI, SC, NOP };
	const uint32_t no_frame[] = { LI, SC, NOP, SC, BLR, NOP };
	const uint32_t no_trampoline[] = { SC, BLR, ADDI, LI, NOP, NOP };
	struct arch_leave_site site;

	(void)state;
	assert_true(find(both, COUNT(both), &site));
	assert_int_equal(site.at, 0x1004);
	assert_int_equal(site.sigreturn, 0x1014);
	assert_int_equal(site.frame, 128);
	assert_true(find(no_frame, COUNT(no_frame), &site));
	assert_int_equal(site.at, 0x100c);
	assert_int_equal(site.sigreturn, 0x1000);
	assert_int_equal(site.frame, 0);
	/* One without the other is of no use. */
	assert_false(find(no_trampoline, COUNT(no_trampoline), &site));
	assert_int_equal(site.at, 0);
}

/* What rt_sigreturn will read for ENTRY, as libc's header has it. */
static const ucontext_t *prepare(struct arch_entry *entry, struct arch_leave *how)
{
	static _Alignas(16) unsigned char stack[16384];
	const struct arch_leave_site site = { .at = 0x1004, .sigreturn = 0x1014, .frame = 128 };

	entry->sp = (uint64_t)stack + sizeof(stack) - 64;
	memset(stack, 0xaa, sizeof(stack));
	arch_leave_prepare(how, &site, entry);
	assert_int_equal(how->site, site.at);
	assert_int_equal(how->link, site.sigreturn);
	assert_true(how->stack + site.frame < entry->sp);
	assert_true(entry->sp - how->stack - site.frame <= ARCH_LEAVE_ROOM);
	assert_int_equal(stack[sizeof(stack) - 64], 0xaa);
	return (const ucontext_t *)(how->stack + site.frame);
}

static void expect_registers(const ucontext_t *uc, const struct arch_entry *entry, uint64_t nip,
			     uint64_t r2, uint64_t r12)
{
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(uc->uc_mcontext.gp_regs[i], i == 0  ? 11 /* execve */ :
							     i == 1  ? entry->sp :
							     i == 2  ? r2 :
							     i == 12 ? r12 :
								       0);
	assert_int_equal(uc->uc_mcontext.gp_regs[NIP], nip);
	assert_int_equal(uc->uc_mcontext.gp_regs[MSR], __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	assert_int_equal(uc->uc_stack.ss_flags, SS_DISABLE);
}

/* start_thread(): r12 has the entry's address. */
static void elfv2(void **state)
{
	struct arch_entry entry = { .pc = 0x400000, .flags = 2 };
	struct arch_leave how = { .fd = -1 };

	(void)state;
	expect_registers(prepare(&entry, &how), &entry, entry.pc, 0, entry.pc);
}

/* The entry is a descriptor: its code, its TOC in r2, both biased by an interp's base. */
static void elfv1(void **state)
{
	static const uint64_t descriptor[3] = { 0x1230, 0x5670, 0 };
	static const unsigned int flags[] = { 0, 1 };

	(void)state;
	for (unsigned int i = 0; i < COUNT(flags); i++) {
		struct arch_entry entry = { .pc = (uint64_t)descriptor,
					    .flags = flags[i],
					    .base = 0x10000 };
		struct arch_leave how = { .fd = -1 };

		expect_registers(prepare(&entry, &how), &entry, 0x11230, 0x15670, 0);
	}
	assert_int_equal(arch_descriptor_size(1), 16);
	assert_int_equal(arch_descriptor_size(2), 0);
}

/* The stack is in the default window of 46 or 47 bits. */
static void address_spaces(void **state)
{
	static const unsigned int bits[] = { 46, 47 };

	(void)state;
	for (unsigned int i = 0; i < COUNT(bits); i++) {
		const uint64_t top = 1UL << bits[i];
		const struct arch_space space = arch_space(top - 65536);

		assert_int_equal(space.stack_top, top);
		assert_int_equal(space.dyn_base, 1UL << 32);
		assert_int_equal(space.task, bits[i] == 47 ? 1UL << 52 : top);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites),
		cmocka_unit_test(elfv2),
		cmocka_unit_test(elfv1),
		cmocka_unit_test(address_spaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
