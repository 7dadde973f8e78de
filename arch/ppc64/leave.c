#include <string.h>
#include <sys/syscall.h>

#include "arch.h"

/*
 * A site is `sc`, any of `bns+ .+8`, `neg r3,r3` and `extsw r3,r3`, then
 * `blr`; the trampoline is `li r0,172; sc`, in the vDSO after an `addi
 * r1,r1,128` (arch/powerpc/kernel/vdso/).
 */
static const uint32_t sc = 0x44000002, bns = 0x40e30008, neg = 0x7c6300d0, extsw = 0x7c6307b4,
		      blr = 0x4e800020, addi_r1 = 0x38210080, li_r0_sigreturn = 0x380000ac;

enum {
	SIGNAL_DISABLED = 2, /* SS_DISABLE */
	PT_NIP = 32,         /* arch/powerpc/include/uapi/asm/ptrace.h */
	PT_MSR = 33,
};

/* What sigreturn reads: arch/powerpc/include/asm/ucontext.h; sigcontext.h. */
struct frame {
	uint64_t flags, link;
	uint64_t stack_at;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	uint64_t mask[16];
	uint64_t unused[4];
	uint32_t signal, pad_signal;
	uint64_t handler, oldmask, regs;
	uint64_t gp_regs[48];
	uint64_t fp_regs[33];
	uint64_t v_regs;
	uint64_t vmx_reserve[101];
};

_Static_assert(sizeof(struct frame) == ARCH_LEAVE_ROOM - 16, "signal frame");

static bool returns(const uint32_t *insn, size_t count)
{
	for (size_t i = 0; i < count && i < 5; i++) {
		if (insn[i] == blr)
			return true;
		if (insn[i] != bns && insn[i] != neg && insn[i] != extsw)
			return false;
	}
	return false;
}

bool arch_find_leave_site(const unsigned char *code, size_t size, uint64_t at,
			  struct arch_leave_site *site)
{
	const uint32_t *insn = (const uint32_t *)(const void *)code;
	size_t count = size / sizeof(*insn);

	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t here = at + i * sizeof(*insn);

		if (insn[i] == li_r0_sigreturn && insn[i + 1] == sc && !site->sigreturn) {
			site->frame = i && insn[i - 1] == addi_r1 ? 128 : 0;
			site->sigreturn = here - (site->frame ? sizeof(*insn) : 0);
		}
		if (insn[i] == sc && !site->returns && returns(insn + i + 1, count - i - 1))
			site->returns = here;
		if (site->returns && site->sigreturn) {
			site->at = site->returns;
			return true;
		}
	}
	return false;
}

/*
 * The registers of start_thread(): zero but for the entry's address in r12
 * (ELFv2) or its TOC in r2 (ELFv1).
 */
void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
			const struct arch_entry *entry)
{
	struct frame *f = (struct frame *)((entry->sp - sizeof(*f)) & ~15UL);
	const uint64_t *descriptor = (const uint64_t *)entry->pc;
	bool described = arch_has_descriptors(entry->flags);

	memset(f, 0, sizeof(*f));
	f->stack_flags = SIGNAL_DISABLED;
	arch_syscall(SYS_rt_sigprocmask, 0, 0, (long)&f->mask[0], sizeof(f->mask[0]), 0, 0);
	f->gp_regs[0] = SYS_execve; /* which execve, too, leaves there */
	f->gp_regs[1] = entry->sp;
	f->gp_regs[2] = described ? descriptor[1] + entry->base : 0;
	f->gp_regs[12] = described ? 0 : entry->pc;
	f->gp_regs[PT_NIP] = described ? descriptor[0] + entry->base : entry->pc;
	f->gp_regs[PT_MSR] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	how->site = site->at;
	how->link = site->sigreturn;
	how->stack = (uint64_t)f - site->frame;
}
