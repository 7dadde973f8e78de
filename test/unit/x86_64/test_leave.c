/*
 * Where the last of hwcap-exec leaves from
 *
 * A site found must do what arch.h says of it. So the test runs it, on a
 * processor of its own that knows the few instructions and no others.
 */
#include "arch.h"
#include "unit.h"

enum { RSP = 4, REGISTERS = 16, MARK = 0x5a5a5a5a };

struct machine {
	const unsigned char *code;
	size_t size, at;
	uint64_t reg[REGISTERS];
	unsigned int words; /* popped or skipped */
	bool returned;
};

static int byte_at(const struct machine *m, size_t offset)
{
	return m->at + offset < m->size ? m->code[m->at + offset] : -1;
}

/* One instruction after the system call; false if it is not one we know. */
static bool step(struct machine *m)
{
	int rex = byte_at(m, 0), r = 0, op, modrm;

	if (rex == 0xc3) {
		m->returned = true;
		return true;
	}
	if (rex == 0x48 && byte_at(m, 1) == 0x83 && byte_at(m, 2) == 0xc4) {
		int n = byte_at(m, 3);

		if (n < 0 || n >= 0x80 || n % 8)
			return false;
		m->words += (unsigned int)n / 8;
		m->at += 4;
		return true;
	}
	if (rex == 0x41 || rex == 0x45) {
		r = 8;
		m->at++;
	}
	op = byte_at(m, 0);
	modrm = byte_at(m, 1);
	if (op >= 0x58 && op <= 0x5f && rex != 0x45 && op - 0x58 + r != RSP) {
		m->reg[op - 0x58 + r] = 0;
		m->words++;
		m->at++;
		return true;
	}
	/* xor of a register with itself clears all 64 bits of it. */
	if (op == 0x31 && modrm >= 0xc0 && rex != 0x41 && (modrm >> 3 & 7) == (modrm & 7) &&
	    (modrm & 7) + r != RSP) {
		m->reg[(modrm & 7) + r] = 0;
		m->at += 2;
		return true;
	}
	return false;
}

/* From the system call at AT to the return. */
static bool run(struct machine *m, const unsigned char *code, size_t size, size_t at)
{
	*m = (struct machine){ .code = code, .size = size, .at = at };
	for (unsigned int i = 0; i < REGISTERS; i++)
		m->reg[i] = MARK;
	if (byte_at(m, 0) != 0x0f || byte_at(m, 1) != 0x05)
		return false;
	m->at += 2;
	while (!m->returned)
		if (!step(m))
			return false;
	return m->words <= 16;
}

/* Of rcx, rdx, rsi, rdi and r11, how many the way out clears. */
static unsigned int rank(const struct machine *m)
{
	return (m->reg[1] == 0) + (m->reg[2] == 0) + (m->reg[6] == 0) + (m->reg[7] == 0) +
	       (m->reg[11] == 0);
}

enum { BASE = 0x7000000 };

/* Search CODE; the site must be the last of the best there are. */
static bool check(const unsigned char *code, size_t size, struct arch_leave_site *site)
{
	unsigned char *copy = exact_copy(code, size);
	bool found;

	*site = (struct arch_leave_site){ 0 };
	arch_find_leave_site(copy, size, BASE, site);
	found = site->at != 0;
	size_t best = size;
	unsigned int best_rank = 0;
	struct machine m;

	for (size_t i = 0; i < size; i++) {
		if (!run(&m, copy, size, i))
			continue;
		if (best == size || rank(&m) >= best_rank) {
			best = i;
			best_rank = rank(&m);
		}
	}
	assert_int_equal(found, best != size);
	if (found) {
		assert_int_equal(site->at, BASE + best);
		assert_true(run(&m, copy, size, best));
		assert_int_equal(site->words, m.words);
		for (unsigned int i = 0; i < REGISTERS; i++)
			assert_int_equal(site->cleared >> i & 1, m.reg[i] == 0);
	}
	free(copy);
	return found;
}

#define CODE(...) (const unsigned char[]){ __VA_ARGS__ }, sizeof((unsigned char[]){ __VA_ARGS__ })

static void plain_sites(void **unused)
{
	struct arch_leave_site s;

	(void)unused;
	assert_true(check(CODE(0x0f, 0x05, 0xc3), &s));
	assert_int_equal(s.at, BASE);
	assert_int_equal(s.words, 0);
	assert_int_equal(s.cleared, 0);
	assert_true(check(CODE(0x90, 0x0f, 0x0f, 0x05, 0xc3, 0x90), &s));
	assert_int_equal(s.at, BASE + 2);
	/* pop rbx; pop r12; add $16,%rsp */
	assert_true(check(CODE(0x0f, 0x05, 0x5b, 0x41, 0x5c, 0x48, 0x83, 0xc4, 0x10, 0xc3), &s));
	assert_int_equal(s.words, 4);
	assert_int_equal(s.cleared, 1 << 3 | 1 << 12);
	/* A kernel's vDSO: xor of edx, ecx, esi, edi, r11d. */
	assert_true(check(CODE(0x0f, 0x05, 0x31, 0xd2, 0x31, 0xc9, 0x31, 0xf6, 0x31, 0xff, 0x45,
			       0x31, 0xdb, 0xc3),
			  &s));
	assert_int_equal(s.words, 0);
	assert_int_equal(s.cleared, 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 11);
}

static void the_best_of_several(void **unused)
{
	struct arch_leave_site s;

	(void)unused;
	assert_true(check(CODE(0x0f, 0x05, 0xc3, 0x0f, 0x05, 0x31, 0xff, 0xc3, 0x0f, 0x05, 0x31,
			       0xf6, 0xc3),
			  &s));
	assert_int_equal(s.at, BASE + 8);
	assert_false(arch_site_protects(&s));
	/* edx: mprotect can be the last call. */
	assert_true(check(CODE(0x0f, 0x05, 0xc3, 0x0f, 0x05, 0x31, 0xd2, 0xc3), &s));
	assert_int_equal(s.at, BASE + 3);
	assert_true(arch_site_protects(&s));
	/* A register that the last call does not leave set is worth nothing. */
	assert_true(check(CODE(0x0f, 0x05, 0x31, 0xdb, 0xc3, 0x0f, 0x05, 0xc3), &s));
	assert_int_equal(s.at, BASE + 5);
	/* One site inside another's tail. */
	assert_true(check(CODE(0x0f, 0x05, 0x0f, 0x05, 0x31, 0xc9, 0xc3), &s));
	assert_int_equal(s.at, BASE + 2);
}

static void what_is_no_site(void **unused)
{
	struct arch_leave_site s;

	(void)unused;
	assert_false(check(CODE(0x90), &s));
	assert_false(check(CODE(0x0f, 0x05), &s));
	assert_false(check(CODE(0x0f, 0x05, 0x90), &s));
	assert_false(check(CODE(0x0f, 0x05, 0x90, 0xc3), &s));
	assert_false(check(CODE(0x0f, 0x34, 0xc3), &s));                   /* sysenter */
	assert_false(check(CODE(0x0f, 0x05, 0xc2, 0, 0), &s));             /* ret $0 */
	assert_false(check(CODE(0x0f, 0x05, 0x5c, 0xc3), &s));             /* pop %rsp */
	assert_false(check(CODE(0x0f, 0x05, 0x31, 0xe4, 0xc3), &s));       /* xor %esp */
	assert_false(check(CODE(0x0f, 0x05, 0x31, 0xc8, 0xc3), &s));       /* ecx, eax */
	assert_false(check(CODE(0x0f, 0x05, 0x31, 0x00, 0xc3), &s));       /* memory */
	assert_false(check(CODE(0x0f, 0x05, 0x41, 0x31, 0xc9, 0xc3), &s)); /* r9, ecx */
	assert_false(check(CODE(0x0f, 0x05, 0x48, 0x83, 0xc4, 4, 0xc3), &s));
	assert_false(check(CODE(0x0f, 0x05, 0x48, 0x83, 0xc4, 0x80, 0xc3), &s));
	assert_false(check(CODE(0x0f, 0x05, 0x48, 0x83, 0xec, 8, 0xc3), &s)); /* sub */
}

/* The stack has room for so much only. */
static void at_most_16_words(void **unused)
{
	struct arch_leave_site s;

	(void)unused;
	for (unsigned int n = 0; n <= 20; n++) {
		unsigned char code[32] = { 0x0f, 0x05 };

		memset(code + 2, 0x5b, n);
		code[2 + n] = 0xc3;
		assert_int_equal(check(code, n + 3, &s), n <= 16);
	}
	for (unsigned int n = 0; n < 16; n++) {
		const unsigned char code[] = {
			0x0f, 0x05, 0x5b, 0x48, 0x83, 0xc4, (unsigned char)(n * 8), 0x5b, 0xc3
		};

		assert_int_equal(check(code, sizeof(code), &s), n <= 14);
	}
}

/* Cut anywhere, with nothing readable behind the cut. */
static void cut_at_every_byte(void **unused)
{
	static const unsigned char code[] = {
		0x0f, 0x05, 0x31, 0xd2, 0x31, 0xc9, 0x41, 0x5c, 0x45, 0x31, 0xdb,
		0x48, 0x83, 0xc4, 0x18, 0x31, 0xff, 0x5d, 0xc3, 0x0f, 0x05, 0xc3,
	};
	struct arch_leave_site s;

	(void)unused;
	for (size_t from = 0; from <= sizeof(code); from++)
		for (size_t size = 0; size <= sizeof(code) - from; size++)
			check(code + from, size, &s);
}

/* Whole instructions, mostly; sites and near misses of all kinds. */
static size_t random_instructions(uint64_t *state, unsigned char *code, size_t room)
{
	static const struct {
		unsigned char size, byte[4];
	} pool[] = {
		{ 2, { 0x0f, 0x05 } },
		{ 2, { 0x0f, 0x05 } },
		{ 1, { 0xc3 } },
		{ 2, { 0x31, 0xc9 } },
		{ 2, { 0x31, 0xf6 } },
		{ 2, { 0x31, 0xff } },
		{ 3, { 0x45, 0x31, 0xdb } },
		{ 3, { 0x45, 0x31, 0xe4 } },
		{ 1, { 0x5b } },
		{ 2, { 0x41, 0x5c } },
		{ 2, { 0x41, 0x5b } },
		{ 1, { 0x5f } },
		{ 4, { 0x48, 0x83, 0xc4, 0x08 } },
		{ 4, { 0x48, 0x83, 0xc4, 0x40 } },
		{ 2, { 0x31, 0xe4 } },
		{ 1, { 0x5c } },
		{ 3, { 0x41, 0x31, 0xc9 } },
		{ 2, { 0x45, 0x5b } },
		{ 1, { 0x45 } },
		{ 1, { 0x0f } },
	};
	size_t size = 0;

	for (;;) {
		/* The first 14 are permitted, the others are not. */
		size_t n = random_below(state, one_in(state, 8) ? COUNT(pool) : 14);

		if (size + pool[n].size > room)
			return size;
		memcpy(code + size, pool[n].byte, pool[n].size);
		size += pool[n].size;
	}
}

static void random_code(void **unused)
{
	uint64_t state = 13;
	unsigned int found = 0, rounds = 100000;

	(void)unused;
	for (unsigned int i = 0; i < rounds; i++) {
		unsigned char code[60];
		size_t size = random_below(&state, sizeof(code) + 1);
		struct arch_leave_site s;

		size = random_instructions(&state, code, size);
		if (size && one_in(&state, 4))
			code[random_below(&state, size)] = (unsigned char)next_random(&state);
		found += check(code, size, &s);
	}
	assert_true(found > rounds / 8);
	assert_true(found < rounds - rounds / 8);
}

/* What arch_leave_prepare() lays out is what the site consumes. */
static void the_stack_for_a_site(void **unused)
{
	uint64_t words[32];
	const uint64_t sp = (uint64_t)(uintptr_t)(words + 24);

	(void)unused;
	for (unsigned int n = 0; n <= 16; n++) {
		const struct arch_leave_site site = { .at = BASE, .words = n };
		const struct arch_entry entry = { .pc = 0x1234, .sp = sp };
		struct arch_leave how;
		uint64_t *at;

		memset(words, 0xff, sizeof(words));
		arch_leave_prepare(&how, &site, &entry);
		at = (uint64_t *)(uintptr_t)how.stack;
		assert_int_equal(how.site, BASE);
		assert_ptr_equal(at, words + 23 - n);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(at[i], 0);
		assert_int_equal(at[n], 0x1234);
		assert_int_equal(words[24], UINT64_MAX);
		assert_int_equal(words[22 - n], UINT64_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_sites),          cmocka_unit_test(the_best_of_several),
		cmocka_unit_test(what_is_no_site),      cmocka_unit_test(at_most_16_words),
		cmocka_unit_test(cut_at_every_byte),    cmocka_unit_test(random_code),
		cmocka_unit_test(the_stack_for_a_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
