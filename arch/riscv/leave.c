#include <string.h>
#include <sys/syscall.h>

#include "arch.h"

/*
 * `ecall; ret` (compressed or not), and the trampoline `li a7, 139; ecall`
 * (arch/riscv/kernel/vdso/).
 */
enum {
	ECALL = 0x00000073,
	RET = 0x00008067,
	RET_SHORT = 0x8082,
	LI_A7_SIGRETURN = 0x08b00893,
	SIGNAL_DISABLED = 2, /* SS_DISABLE */
};

/* What sigreturn reads: arch/riscv/kernel/signal.c, struct rt_sigframe. */
struct frame {
	unsigned char info[128];
	uint64_t flags, link;
	uint64_t stack_at;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	uint64_t mask;
	unsigned char unused[128];
	uint64_t pc, ra, sp, regs[29];
	/* Floating point; zeroes at the end are a list of no extensions. */
	unsigned char fp[528];
};

_Static_assert(sizeof(struct frame) == ARCH_LEAVE_ROOM - 16, "signal frame");

static uint32_t word_at(const unsigned char *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

bool arch_find_leave_site(const unsigned char *code, size_t size, uint64_t at,
			  struct arch_leave_site *site)
{
	for (size_t i = 0; i + 8 <= size; i += 2) {
		uint32_t first = word_at(code + i), second = word_at(code + i + 4);

		if (first == LI_A7_SIGRETURN && second == ECALL && !site->sigreturn)
			site->sigreturn = at + i;
		if (first == ECALL && !site->at &&
		    (second == RET || (second & 0xffff) == RET_SHORT))
			site->at = at + i;
		if (site->at && site->sigreturn)
			return true;
	}
	return false;
}

/* All registers zero, which is stricter than start_thread(): that leaves
 * some as they were before execve.
 */
void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
			const struct arch_entry *entry)
{
	struct frame *f;

	how->site = site->at;
	how->stack = entry->sp;
	how->link = entry->pc;
	if (!site->sigreturn)
		return;
	how->stack = (entry->sp - sizeof(*f)) & ~15UL;
	how->link = site->sigreturn;
	f = (struct frame *)how->stack;
	memset(f, 0, sizeof(*f));
	f->stack_flags = SIGNAL_DISABLED;
	arch_syscall(SYS_rt_sigprocmask, 0, 0, (long)&f->mask, sizeof(f->mask), 0, 0);
	f->sp = entry->sp;
	f->pc = entry->pc;
}
