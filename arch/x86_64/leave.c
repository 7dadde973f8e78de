#include <string.h>

#include "arch.h"

/*
 * A leave site is `syscall`, then any of `xor reg,reg`, `pop reg` and
 * `add $n,%rsp`, then `ret`. Kernels built with CONFIG_ZERO_CALL_USED_REGS
 * have them in the vDSO, with every register cleared that munmap leaves set.
 */
enum {
	REG_CX = 1 << 1,
	REG_DX = 1 << 2,
	REG_SI = 1 << 6,
	REG_DI = 1 << 7,
	REG_R11 = 1 << 11,
	REGS_LEFT = REG_CX | REG_DX | REG_SI | REG_DI | REG_R11,
	RANK_BEST = 5,
};

/* Length of one permitted instruction at CODE, 0 if it is another one. */
static size_t site_step(const unsigned char *code, size_t size, struct arch_leave_site *site)
{
	unsigned int high = 0;
	size_t rex = 0;

	if (size >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 &&
	    code[3] % 8 == 0 && code[3] < 0x80) {
		site->words += code[3] / 8;
		return 4;
	}
	if (size >= 3 && (code[0] == 0x45 || code[0] == 0x41)) {
		high = 8;
		rex = 1;
	}
	if (size >= rex + 1 && code[rex] >= 0x58 && code[rex] <= 0x5f && (rex || code[0] != 0x5c) &&
	    code[0] != 0x45) {
		site->words++;
		site->cleared |= 1U << (code[rex] - 0x58 + high);
		return rex + 1;
	}
	if (size >= rex + 2 && code[rex] == 0x31 && code[rex + 1] >= 0xc0 &&
	    (code[rex + 1] - 0xc0) % 9 == 0 && code[0] != 0x41 && (rex || code[1] != 0xe4)) {
		site->cleared |= 1U << (code[rex + 1] % 8 + high);
		return rex + 2;
	}
	return 0;
}

static bool site_at(const unsigned char *code, size_t size, uint64_t at,
		    struct arch_leave_site *site)
{
	size_t i = 2;

	*site = (struct arch_leave_site){ .at = at };
	while (i < size && code[i] != 0xc3) {
		size_t step = site_step(code + i, size - i, site);

		if (!step || site->words > 16)
			return false;
		i += step;
	}
	return i < size;
}

static int site_rank(const struct arch_leave_site *site)
{
	int rank = 0;

	for (unsigned int left = site->cleared & REGS_LEFT; left; left &= left - 1)
		rank++;
	return rank;
}

/* Does one of the four 16-bit lanes of WORD hold a system call instruction? */
static bool has_syscall(uint64_t word)
{
	const uint64_t ones = 0x0001000100010001;
	uint64_t x = word ^ (0x050f * ones);

	return ((x - ones) & ~x & (ones << 15)) != 0;
}

/* Last system call instruction in [code, end), or NULL; eight bytes at a time. */
static const unsigned char *last_syscall(const unsigned char *code, const unsigned char *end)
{
	uint64_t even, odd;

	for (; end - code > 9; end -= 8) {
		__builtin_memcpy(&even, end - 8, 8);
		__builtin_memcpy(&odd, end - 9, 8);
		if (has_syscall(even) || has_syscall(odd))
			break;
	}
	for (; end - code > 1; end--)
		if (end[-2] == 0x0f && end[-1] == 0x05)
			return end - 2;
	return NULL;
}

/* From the end: what a vDSO begins with is no code. */
bool arch_find_leave_site(const unsigned char *code, size_t size, uint64_t at,
			  struct arch_leave_site *best)
{
	const unsigned char *end = code + size;

	for (const unsigned char *p = last_syscall(code, end); p; p = last_syscall(code, p + 1)) {
		struct arch_leave_site site;

		if (!site_at(p, (size_t)(end - p), at + (uint64_t)(p - code), &site))
			continue;
		if (!best->at || site_rank(&site) > site_rank(best))
			*best = site;
		if (site_rank(best) == RANK_BEST)
			return true;
	}
	return false;
}
