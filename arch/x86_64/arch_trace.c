#include <string.h>
#include <sys/wait.h>

#include "arch_trace.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

/* Indices of user_regs_struct, and of its i386 counterpart. */
enum {
	R15,
	R14,
	R13,
	R12,
	RBP,
	RBX,
	R11,
	R10,
	R9,
	R8,
	RAX,
	RCX,
	RDX,
	RSI,
	RDI,
	ORIG_RAX,
	RIP,
	CS,
	RFLAGS,
	RSP,
	SS,
};
enum {
	EBX,
	ECX,
	EDX,
	ESI,
	EDI,
	EBP,
	EAX,
	XDS,
	XES,
	XFS,
	XGS,
	ORIG_EAX,
	EIP,
	XCS,
	EFLAGS,
	ESP,
};

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
	return arch_trace_is_narrow(r) ? narrow_get(r, ESP) : r->word[RSP];
}

long arch_trace_result(const struct arch_trace_regs *r)
{
	return arch_trace_is_narrow(r) ? (int32_t)narrow_get(r, EAX) : (long)r->word[RAX];
}

void arch_trace_settle(struct arch_trace_regs *r)
{
	if (arch_trace_is_narrow(r)) {
		narrow_set(r, EAX, 0);
		narrow_set(r, ORIG_EAX, ~0UL);
	} else {
		r->word[RAX] = 0;
		r->word[ORIG_RAX] = ~0UL;
	}
}

/* arch/x86/entry/syscalls/syscall_{64,32}.tbl */
static unsigned int number(enum arch_trace_call call, bool narrow)
{
	switch (call) {
	case ARCH_TRACE_PRCTL: return narrow ? 172 : 157;
	case ARCH_TRACE_BRK: return narrow ? 45 : 12;
	default: return narrow ? 284 : 247;
	}
}

void arch_trace_set_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
			 enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (arch_trace_is_narrow(r)) {
		narrow_set(r, EAX, number(call, true));
		narrow_set(r, EBX, a);
		narrow_set(r, ECX, b);
		narrow_set(r, EDX, c);
		narrow_set(r, ESI, d);
		narrow_set(r, EDI, 0);
		narrow_set(r, EIP, site->at);
		return;
	}
	r->word[RAX] = number(call, false);
	r->word[RDI] = a;
	r->word[RSI] = b;
	r->word[RDX] = c;
	r->word[R10] = d;
	r->word[R8] = 0;
	r->word[RIP] = site->at;
}

uint64_t arch_trace_ip(const struct arch_trace_regs *r)
{
	return arch_trace_is_narrow(r) ? narrow_get(r, EIP) : r->word[RIP];
}

size_t arch_trace_set_last_call(struct arch_trace_regs *r, const struct arch_trace_site *site,
				enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t then,
				uint64_t sp, uint64_t *stack)
{
	size_t width = arch_trace_is_narrow(r) ? 4 : 8;
	size_t words = site->words + 1;

	memset(stack, 0, ARCH_TRACE_STACK * sizeof(*stack));
	memcpy((char *)stack + site->words * width, &then, width);
	arch_trace_set_call(r, site, call, a, b, 0, WEXITED | __WALL);
	sp -= words * width;
	if (width == 4)
		narrow_set(r, ESP, sp);
	else
		r->word[RSP] = sp;
	if (site->frame && width == 4)
		narrow_set(r, EBP, sp);
	else if (site->frame)
		r->word[RBP] = sp;
	return words;
}

/* mov $15, %eax; syscall; nop */
const unsigned char arch_trace_code[8] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05, 0x90 };

/* include/uapi/asm/sigcontext.h and ucontext.h; fpstate 0: as at the start. */
void arch_trace_frame(const struct arch_trace_regs *r, uint64_t mask,
		      unsigned char frame[ARCH_TRACE_FRAME])
{
	static const unsigned char order[] = { R8,  R9,  R10, R11, R12, R13, R14, R15, RDI,
					       RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP, RFLAGS };
	enum { UC_FLAGS = 0, SS_FLAGS = 3, CONTEXT = 5, SELECTORS = 23, MASK = 37 };
	uint64_t word[ARCH_TRACE_FRAME / 8] = { 0 };

	word[UC_FLAGS] = 2 | 4; /* UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
	word[SS_FLAGS] = 2;     /* SS_DISABLE */
	for (unsigned int i = 0; i < sizeof(order); i++)
		word[CONTEXT + i] = r->word[order[i]];
	word[SELECTORS] = r->word[CS] | r->word[SS] << 48;
	word[MASK] = mask;
	memcpy(frame, word, sizeof(word));
}

/* What a site may consist of: see leave.c; and `leave`, as its first part. */
static bool site_at(const unsigned char *code, size_t size, struct arch_trace_site *site,
		    unsigned int *cleared)
{
	size_t i = 2;

	site->words = 0;
	site->frame = false;
	site->returns = true;
	*cleared = 0;
	if (size > 2 && code[i] == 0xc9) {
		site->frame = true;
		site->words = 1;
		i++;
	}
	while (i + 2 < size && code[i] != 0xc3) {
		unsigned int high = code[i] == 0x45 || code[i] == 0x41 ? 8 : 0;
		const unsigned char *c = code + i + high / 8;

		if (c[0] == 0x31 && c[1] >= 0xc0 && (c[1] - 0xc0) % 9 == 0 &&
		    (high ? code[i] == 0x45 : c[1] != 0xe4 && c[1] != 0xc0)) {
			*cleared |= 1U << (c[1] % 8 + high);
			i += 2 + high / 8;
		} else if (c[0] >= 0x58 && c[0] <= 0x5f &&
			   (high ? code[i] == 0x41 : c[0] > 0x58 && c[0] != 0x5c)) {
			site->words++;
			*cleared |= 1U << (c[0] - 0x58 + high);
			i += 1 + high / 8;
		} else {
			return false;
		}
	}
	return i < size && code[i] == 0xc3 && site->words + 1 < ARCH_TRACE_STACK;
}

bool arch_trace_find_site(const unsigned char *code, size_t size, uint64_t at, bool narrow,
			  struct arch_trace_site *best)
{
	const unsigned int left = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 11;
	const unsigned char first = narrow ? 0xcd : 0x0f;
	const unsigned char second = narrow ? 0x80 : 0x05;
	const unsigned char *end = code + size, *p = code;
	int best_rank = -1;

	while (p + 2 < end && (p = memchr(p, first, (size_t)(end - p - 2)))) {
		struct arch_trace_site site = { .at = at + (uint64_t)(p - code) };
		unsigned int cleared;
		int rank;

		if (p[1] == second && site_at(p, (size_t)(end - p), &site, &cleared)) {
			rank = __builtin_popcount(cleared & left);
			if (rank > best_rank)
				*best = site;
			best->clean = best_rank == 5 || rank == 5;
			best_rank = rank > best_rank ? rank : best_rank;
			if (rank == 5)
				break;
		}
		p++;
	}
	return best_rank >= 0;
}
