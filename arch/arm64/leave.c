#include <string.h>
#include <sys/syscall.h>

#include "arch.h"

/*
 * `svc #0; ret`, or with an autiasp before the ret, and the trampoline
 * `mov x8, #139; svc #0` (arch/arm64/kernel/vdso/).
 */
static const uint32_t svc = 0xd4000001, autiasp = 0xd50323bf, ret = 0xd65f03c0,
		      mov_x8_sigreturn = 0xd2801168;

enum {
	HWCAP_SSBS = 1 << 28,
	PSTATE_SSBS = 1 << 12,
	SIGNAL_DISABLED = 2, /* SS_DISABLE */
};

/* What sigreturn reads: arch/arm64/kernel/signal.c, struct rt_sigframe. */
struct frame {
	unsigned char info[128];
	uint64_t flags, link;
	uint64_t stack_at;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	uint64_t mask;
	unsigned char unused[128];
	uint64_t fault_address, regs[31], sp, pc, pstate, align;
	uint32_t fpsimd_magic, fpsimd_size, fpsr, fpcr;
	unsigned char vregs[512];
	uint64_t end;
	/* The kernel checks the range of all of it, but reads no further. */
	unsigned char reserved[4096 - 528 - 8];
};

_Static_assert(sizeof(struct frame) == ARCH_LEAVE_ROOM - 16, "signal frame");

bool arch_find_leave_site(const unsigned char *code, size_t size, uint64_t at,
			  struct arch_leave_site *site)
{
	const uint32_t *insn = (const uint32_t *)(const void *)code;

	for (size_t i = 0; i + 2 < size / sizeof(*insn); i++) {
		uint64_t here = at + i * sizeof(*insn);
		bool plain = insn[i + 1] == ret;

		if (insn[i] == mov_x8_sigreturn && insn[i + 1] == svc && !site->sigreturn)
			site->sigreturn = here;
		if (insn[i] == svc && !site->at &&
		    (plain || (insn[i + 1] == autiasp && insn[i + 2] == ret))) {
			site->at = here;
			site->authenticates = !plain;
		}
		if (site->at && site->sigreturn)
			return true;
	}
	return false;
}

/* Speculative store bypassing as it is set for us, where that can be read. */
static uint64_t pstate(uint64_t hwcap)
{
	uint64_t ssbs;

	if (!(hwcap & HWCAP_SSBS))
		return 0;
	__asm__ volatile("mrs %0, S3_3_C4_C2_6" : "=r"(ssbs));
	return ssbs & PSTATE_SSBS;
}

/* The registers of start_thread(), all zero, and what else a frame sets. */
static void fill_frame(struct frame *f, const struct arch_entry *entry)
{
	memset(f, 0, offsetof(struct frame, reserved));
	f->stack_flags = SIGNAL_DISABLED;
	arch_syscall(SYS_rt_sigprocmask, 0, 0, (long)&f->mask, sizeof(f->mask), 0, 0);
	f->sp = entry->sp;
	f->pc = entry->pc;
	f->pstate = pstate(entry->hwcap);
	f->fpsimd_magic = 0x46508001; /* FPSIMD_MAGIC */
	f->fpsimd_size = 528;
}

void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
			const struct arch_entry *entry)
{
	how->site = site->at;
	how->sign = site->authenticates;
	how->stack = entry->sp;
	how->link = entry->pc;
	if (!site->sigreturn)
		return;
	how->stack = (entry->sp - sizeof(struct frame)) & ~15UL;
	how->link = site->sigreturn;
	fill_frame((struct frame *)how->stack, entry);
}
