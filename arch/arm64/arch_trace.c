#include <string.h>
#include <sys/wait.h>

#include "arch_trace.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

/* Indices of user_pt_regs, and of what an AArch32 thread has (PTRACE_GETREGS
 * of arch/arm).
 */
enum { X8 = 8, LR = 30, SP, PC, PSTATE };
enum { R0, R7 = 7, R13 = 13, R14, R15, CPSR, ORIG_R0 };
enum { CPSR_T = 1 << 5 };

static uint32_t narrow_get(const struct arch_trace_regs *r, unsigned int i)
{
	uint32_t value;

	memcpy(&value, (const char *)r->word + i * sizeof(value), sizeof(value));
	return value;
}

static void narrow_set(struct arch_trace_regs *r, unsigned int i, uint64_t to)
{
	uint32_t value = (uint32_t)to;

	memcpy((char *)r->word + i * sizeof(value), &value, sizeof(value));
}

uint64_t arch_trace_sp(const struct arch_trace_regs *r)
{
	return arch_trace_is_narrow(r) ? narrow_get(r, R13) : r->word[SP];
}

/* As a branch to it would have it: bit 0 is the instruction set. */
uint64_t arch_trace_ip(const struct arch_trace_regs *r)
{
	if (arch_trace_is_narrow(r))
		return narrow_get(r, R15) | (narrow_get(r, CPSR) & CPSR_T ? 1U : 0U);
	return r->word[PC];
}

long arch_trace_result(const struct arch_trace_regs *r)
{
	return arch_trace_is_narrow(r) ? (int32_t)narrow_get(r, R0) : (long)r->word[0];
}

void arch_trace_settle(struct arch_trace_regs *r)
{
	if (arch_trace_is_narrow(r))
		narrow_set(r, R0, 0);
	else
		r->word[0] = 0;
}

/* include/uapi/asm-generic/unistd.h; arch/arm/tools/syscall.tbl */
static unsigned int number(enum arch_trace_call call, bool narrow)
{
	switch (call) {
	case ARCH_TRACE_PRCTL: return narrow ? 172 : 167;
	case ARCH_TRACE_BRK: return narrow ? 45 : 214;
	default: return narrow ? 280 : 95;
	}
}

void arch_trace_set_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
			 enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[] = { a, b, c, d, 0 };

	if (!arch_trace_is_narrow(r)) {
		memcpy(r->word, args, sizeof(args));
		r->word[X8] = number(call, false);
		r->word[PC] = site->at;
		return;
	}
	for (unsigned int i = 0; i < 5; i++)
		narrow_set(r, i, args[i]);
	narrow_set(r, R7, number(call, true));
	narrow_set(r, R15, site->at);
	narrow_set(r, CPSR,
		   (narrow_get(r, CPSR) & ~(unsigned int)CPSR_T) | (site->thumb ? CPSR_T : 0U));
}

size_t arch_trace_set_last_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
				enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t then,
				uint64_t sp, uint64_t *stack)
{
	memset(stack, 0, ARCH_TRACE_STACK * sizeof(*stack));
	arch_trace_set_call(r, site, call, a, b, 0, WEXITED | __WALL);
	if (arch_trace_is_narrow(r)) {
		narrow_set(r, R13, sp - 4UL * site->words);
		narrow_set(r, R14, then);
	} else {
		r->word[SP] = sp;
		r->word[LR] = then;
	}
	return site->words;
}

/* svc #0; ret */
const unsigned char arch_trace_code[8] = { 0x01, 0, 0, 0xd4, 0xc0, 0x03, 0x5f, 0xd6 };

/* arch/arm64/kernel/signal.c, struct rt_sigframe; vector registers are zero. */
void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
		      unsigned char frame[ARCH_TRACE_FRAME])
{
	enum { SS_FLAGS = 19, MASK = 21, REGS = 39, FPSIMD = 74 };
	uint64_t word[ARCH_TRACE_FRAME / 8] = { 0 };

	word[SS_FLAGS] = 2; /* SS_DISABLE */
	word[MASK] = mask;
	memcpy(&word[REGS], r->word, sizeof(r->word));
	word[FPSIMD] = 0x46508001 | 528UL << 32; /* FPSIMD_MAGIC, size */
	memcpy(frame, word, sizeof(word));
}

/* AArch32: `svc 0; bx lr`, or with a `pop {r7}` in between; Thumb or not. */
static bool find_narrow(const unsigned char *code, size_t size, uint64_t at,
			struct arch_trace_site *site)
{
	enum { SVC = 0xdf00, POP_R7 = 0xbc80, BX_LR = 0x4770 };
	const uint32_t svc = 0xef000000, pop_r7 = 0xe49d7004, bx_lr = 0xe12fff1e;

	for (size_t i = 0; i + 12 <= size; i += 2) {
		uint16_t half[3];
		uint32_t word[3];

		memcpy(half, code + i, sizeof(half));
		memcpy(word, code + i, sizeof(word));
		site->at = at + i;
		site->thumb = half[0] == SVC;
		if (site->thumb)
			site->words = half[1] == POP_R7;
		else if (i % 4 == 0 && word[0] == svc)
			site->words = word[1] == pop_r7;
		else
			continue;
		if (site->thumb ? half[1 + site->words] == BX_LR : word[1 + site->words] == bx_lr)
			return true;
	}
	return false;
}

bool arch_trace_find_site(const unsigned char *code, size_t size, uint64_t at, bool narrow,
			  struct arch_trace_site *site)
{
	const uint32_t svc = 0xd4000001, ret = 0xd65f03c0, mov_x8_sigreturn = 0xd2801168;
	uint32_t insn[3];

	memset(site, 0, sizeof(*site));
	if (narrow) {
		site->returns = find_narrow(code, size, at, site);
		return site->returns;
	}
	for (size_t i = 0; i + sizeof(insn) <= size; i += sizeof(*insn)) {
		memcpy(insn, code + i, sizeof(insn));
		if (insn[0] == mov_x8_sigreturn && insn[1] == svc)
			site->sigreturn = at + i;
		if (insn[0] != svc || site->returns)
			continue;
		site->at = at + i;
		site->returns = insn[1] == ret;
	}
	return site->at && site->sigreturn;
}
