#include <string.h>
#include <sys/wait.h>

#include "arch_trace.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

/* Indices of user_regs_struct: of x0 there is nothing to keep but pc. */
enum { PC, RA, SP, A0 = 10, A7 = 17 };

uint64_t arch_trace_sp(const struct arch_trace_regs *r)
{
	uint32_t narrow[SP + 1];

	if (!arch_trace_is_narrow(r))
		return r->word[SP];
	memcpy(narrow, r->word, sizeof(narrow));
	return narrow[SP];
}

uint64_t arch_trace_ip(const struct arch_trace_regs *r)
{
	return r->word[PC];
}

long arch_trace_result(const struct arch_trace_regs *r)
{
	uint32_t narrow[A0 + 1];

	if (!arch_trace_is_narrow(r))
		return (long)r->word[A0];
	memcpy(narrow, r->word, sizeof(narrow));
	return (int32_t)narrow[A0];
}

/* All zero: start_thread() leaves most registers as they were before. */
void arch_trace_settle(struct arch_trace_regs *r)
{
	const uint64_t pc = r->word[PC], sp = r->word[SP];

	if (arch_trace_is_narrow(r))
		return;
	memset(r->word, 0, sizeof(r->word));
	r->word[PC] = pc;
	r->word[SP] = sp;
}

/* include/uapi/asm-generic/unistd.h */
static unsigned int number(enum arch_trace_call call)
{
	switch (call) {
	case ARCH_TRACE_PRCTL: return 167;
	case ARCH_TRACE_BRK: return 214;
	default: return 95;
	}
}

void arch_trace_set_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
			 enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[] = { a, b, c, d, 0 };

	memcpy(&r->word[A0], args, sizeof(args));
	r->word[A7] = number(call);
	r->word[PC] = site->at;
}

size_t arch_trace_set_last_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
				enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t then,
				uint64_t sp, uint64_t *stack)
{
	*stack = 0;
	arch_trace_set_call(r, site, call, a, b, 0, WEXITED | __WALL);
	r->word[SP] = sp;
	r->word[RA] = then;
	return 0;
}

/* li a7, 139; ecall */
const unsigned char arch_trace_code[8] = { 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0 };

/*
 * arch/riscv/kernel/signal.c, struct rt_sigframe; floating point registers are
 * zero, and so is the end of a list of extensions that is empty.
 */
void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
		      unsigned char frame[ARCH_TRACE_FRAME])
{
	enum { SS_FLAGS = 19, MASK = 21, REGS = 38 };
	uint64_t word[ARCH_TRACE_FRAME / 8] = { 0 };

	word[SS_FLAGS] = 2; /* SS_DISABLE */
	word[MASK] = mask;
	memcpy(&word[REGS], r->word, sizeof(r->word));
	memcpy(frame, word, sizeof(word));
}

/* `ecall; ret`, compressed or not; the trampoline is as arch_trace_code. */
bool arch_trace_find_site(const unsigned char *code, size_t size, uint64_t at, bool narrow,
			  struct arch_trace_site *site)
{
	enum { ECALL = 0x00000073, RET = 0x00008067, RET_SHORT = 0x8082 };
	uint32_t insn[2];

	memset(site, 0, sizeof(*site));
	if (narrow)
		return false;
	for (size_t i = 0; i + sizeof(insn) <= size; i += 2) {
		memcpy(insn, code + i, sizeof(insn));
		if (!memcmp(insn, arch_trace_code, sizeof(insn)))
			site->sigreturn = at + i;
		if (insn[0] == ECALL && (insn[1] == RET || (insn[1] & 0xffff) == RET_SHORT))
			site->at = at + i;
	}
	site->returns = site->at != 0;
	return site->returns;
}
