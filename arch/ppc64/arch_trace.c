#include <string.h>
#include <sys/wait.h>

#include "arch_trace.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

/* arch/powerpc/include/uapi/asm/ptrace.h; the same indices with 32 bits. */
enum { R0, R1, R3 = 3, NIP = 32, MSR, ORIG_R3, CTR, LNK, XER, CCR, SOFTE, TRAP };

enum {
	MSR_LE = 1,
	CR0_SO = 0x10000000, /* the call failed, and r3 is errno */
	TRAP_SCV = 0x3000,   /* but not after scv: there r3 is as elsewhere */
};

static const uint32_t sc = 0x44000002, bns = 0x40e30008, neg = 0x7c6300d0, extsw = 0x7c6307b4,
		      blr = 0x4e800020, addi_r1 = 0x38210080, li_r0_sigreturn = 0x380000ac;

static uint64_t get(const struct arch_trace_regs *r, unsigned int i)
{
	uint32_t value;

	if (!arch_trace_is_narrow(r))
		return r->word[i];
	memcpy(&value, (const char *)r->word + i * sizeof(value), sizeof(value));
	return value;
}

static void set(struct arch_trace_regs *r, unsigned int i, uint64_t to)
{
	uint32_t value = (uint32_t)to;

	if (arch_trace_is_narrow(r))
		memcpy((char *)r->word + i * sizeof(value), &value, sizeof(value));
	else
		r->word[i] = to;
}

uint64_t arch_trace_sp(const struct arch_trace_regs *r)
{
	return get(r, R1);
}

uint64_t arch_trace_ip(const struct arch_trace_regs *r)
{
	return get(r, NIP);
}

long arch_trace_result(const struct arch_trace_regs *r)
{
	const long value = arch_trace_is_narrow(r) ? (int32_t)get(r, R3) : (long)get(r, R3);

	return (get(r, TRAP) & 0xfff0) != TRAP_SCV && (get(r, CCR) & CR0_SO) ? -value : value;
}

void arch_trace_settle(struct arch_trace_regs *r)
{
	set(r, R3, 0);
}

/* arch/powerpc/kernel/syscalls/syscall.tbl: the same for both ABIs. */
static unsigned int number(enum arch_trace_call call)
{
	switch (call) {
	case ARCH_TRACE_PRCTL: return 171;
	case ARCH_TRACE_BRK: return 45;
	default: return 272;
	}
}

void arch_trace_set_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
			 enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[] = { a, b, c, d, 0 };

	for (unsigned int i = 0; i < 5; i++)
		set(r, R3 + i, args[i]);
	set(r, R0, number(call));
	set(r, NIP, site->at);
}

size_t arch_trace_set_last_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
				enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t then,
				uint64_t sp, uint64_t *stack)
{
	*stack = 0;
	arch_trace_set_call(r, site, call, a, b, 0, WEXITED | __WALL);
	set(r, R1, sp - (then == site->sigreturn ? site->skip : 0));
	set(r, LNK, then);
	return 0;
}

/* li r0, 172; sc */
const unsigned char arch_trace_code[8] =
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	{ 0x38, 0, 0, 0xac, 0x44, 0, 0, 0x02 };
#else
	{ 0xac, 0, 0, 0x38, 0x02, 0, 0, 0x44 };
#endif

/* arch/powerpc/include/asm/ucontext.h; sigcontext.h; no vector registers. */
void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
		      unsigned char frame[ARCH_TRACE_FRAME])
{
	enum { SS_FLAGS = 3, MASK = 5, REGS = 29 };
	const uint32_t disabled = 2; /* SS_DISABLE */
	uint64_t word[ARCH_TRACE_FRAME / 8] = { 0 };

	memcpy(&word[SS_FLAGS], &disabled, sizeof(disabled));
	word[MASK] = mask;
	memcpy(&word[REGS], r->word, (CCR + 1) * sizeof(*word));
	word[REGS + MSR] &= MSR_LE;
	memcpy(frame, word, sizeof(word));
}

static bool returns(const unsigned char *code, size_t size)
{
	uint32_t insn;

	for (size_t i = 0; i + sizeof(insn) <= size && i < 5 * sizeof(insn); i += sizeof(insn)) {
		memcpy(&insn, code + i, sizeof(insn));
		if (insn == blr)
			return true;
		if (insn != bns && insn != neg && insn != extsw)
			return false;
	}
	return false;
}

/* As leave.c: `sc`, what turns its result into a C one, `blr`. */
bool arch_trace_find_site(const unsigned char *code, size_t size, uint64_t at, bool narrow,
			  struct arch_trace_site *site)
{
	uint32_t before = 0, insn[2];

	memset(site, 0, sizeof(*site));
	for (size_t i = 0; i + sizeof(insn) <= size; i += sizeof(*insn)) {
		memcpy(insn, code + i, sizeof(insn));
		if (insn[0] == li_r0_sigreturn && insn[1] == sc && !narrow) {
			site->skip = before == addi_r1 ? 128 : 0;
			site->sigreturn = at + i - (site->skip ? sizeof(*insn) : 0);
		}
		if (insn[0] == sc && !site->at && returns(code + i + 4, size - i - 4))
			site->at = at + i;
		before = insn[0];
	}
	site->returns = site->at != 0;
	return site->returns;
}
