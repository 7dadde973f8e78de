/*
 * spec.c and the generated tables. Every test names its architecture's table,
 * so that all of them are tested wherever this runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hwcap_table.h"
#include "hwcap_table_arm64.h"
#include "hwcap_table_ppc64.h"
#include "hwcap_table_riscv.h"
#include "hwcap_table_x86_64.h"
#include "spec.h"

enum { X86_64, ARM64, PPC64, RISCV, ARCHES };

static struct hwcap_table arches[ARCHES];

static int fill_tables(void **state)
{
	(void)state;
	hwcap_table_x86_64(&arches[X86_64]);
	hwcap_table_arm64(&arches[ARM64]);
	hwcap_table_ppc64(&arches[PPC64]);
	hwcap_table_riscv(&arches[RISCV]);
	return 0;
}

struct result {
	struct diag d;
	struct hwcaps bits;
	int status;
};

static struct result parse(int arch, enum spec_mode mode, bool exact, const char *spec)
{
	struct result r;

	memset(&r, 0, sizeof(r));
	r.status = spec_parse_for(&r.d, &arches[arch], mode, exact, spec, &r.bits);
	return r;
}

static void gives(int arch, enum spec_mode mode, bool exact, const char *spec, struct hwcaps wanted)
{
	struct result r = parse(arch, mode, exact, spec);

	if (r.status)
		print_message("%s: %s\n", spec, r.d.text);
	assert_int_equal(r.status, 0);
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		assert_int_equal(r.bits.word[i], wanted.word[i]);
}

static void hides(int arch, const char *spec, uint64_t hwcap, uint64_t hwcap2)
{
	gives(arch, SPEC_HIDE, false, spec, (struct hwcaps){ { hwcap, hwcap2, 0, 0 } });
}

static void keeps(int arch, const char *spec, uint64_t hwcap, uint64_t hwcap2)
{
	gives(arch, SPEC_KEEP, false, spec, (struct hwcaps){ { hwcap, hwcap2, 0, 0 } });
}

/* Refused with 125 and a line that contains TEXT. */
static void refuses_mode(int arch, enum spec_mode mode, const char *spec, const char *text)
{
	struct result r = parse(arch, mode, false, spec);

	assert_int_equal(r.status, -1);
	assert_int_equal(r.d.status, EXIT_FAILED);
	if (!strstr(r.d.text, text))
		print_message("'%s' not in: %s\n", text, r.d.text);
	assert_non_null(strstr(r.d.text, text));
}

static void refuses(int arch, const char *spec, const char *text)
{
	refuses_mode(arch, SPEC_HIDE, spec, text);
}

enum {
	FPU = 1 << 0,
	CX8 = 1 << 8,
	CMOV = 1 << 15,
	MMX = 1 << 23,
	FXSR = 1 << 24,
	SSE = 1 << 25,
	SSE2 = 1 << 26,
};

static void names(void **state)
{
	(void)state;
	hides(X86_64, "sse2", SSE2, 0);
	hides(X86_64, "fsgsbase", 0, 2);
	hides(X86_64, "sse2,fsgsbase,ring3mwait", SSE2, 3);
	hides(X86_64, "sse2,sse2", SSE2, 0);
	hides(X86_64, "none", 0, 0);
	hides(X86_64, "none,sse2", SSE2, 0);
	hides(RISCV, "v", 1 << 21, 0);
	hides(PPC64, "htm-no-suspend", 0, 1 << 19);
}

static void all_is_every_bit(void **state)
{
	struct hwcaps full;

	(void)state;
	memset(&full, 0xff, sizeof(full));
	gives(X86_64, SPEC_HIDE, false, "all", full);
	gives(X86_64, SPEC_KEEP, true, "sse,all", full);
}

static void numbers(void **state)
{
	(void)state;
	hides(X86_64, "AT_HWCAP2=0x2", 0, 2);
	hides(X86_64, "HWCAP2=2", 0, 2);
	hides(X86_64, "HWCAP=0X1f,AT_HWCAP=0x20", 0x3f, 0);
	hides(X86_64, "HWCAP=0", 0, 0);
	hides(X86_64, "HWCAP=0x0", 0, 0);
	hides(X86_64, "HWCAP=18446744073709551615", UINT64_MAX, 0);
	hides(X86_64, "HWCAP=0xffffffffffffffff", UINT64_MAX, 0);
	hides(X86_64, "HWCAP=0x00000000000000000000000000000001", 1, 0);
	hides(X86_64, "HWCAP=0x8000000000000000", 1UL << 63, 0);
	gives(X86_64, SPEC_HIDE, false, "HWCAP3=1,AT_HWCAP4=2", (struct hwcaps){ { 0, 0, 1, 2 } });
	/* A number is taken as it stands: fpu alone, not what needs it. */
	hides(X86_64, "HWCAP=0x1", FPU, 0);
	keeps(X86_64, "HWCAP=0x4000000", SSE2, 0);
}

static void bad_numbers(void **state)
{
	(void)state;
	refuses(X86_64, "HWCAP=18446744073709551616", "64 bits");
	refuses(X86_64, "HWCAP=0x10000000000000000", "64 bits");
	refuses(X86_64, "HWCAP=99999999999999999999999999999999999999", "64 bits");
	refuses(X86_64, "HWCAP=0x1ffffffffffffffffffffffffffffffff", "64 bits");
	refuses(X86_64, "HWCAP=010", "leading zero");
	refuses(X86_64, "HWCAP=00", "leading zero");
	refuses(X86_64, "HWCAP=0x", "nor a number");
	refuses(X86_64, "HWCAP=-1", "nor a number");
	refuses(X86_64, "HWCAP=+1", "wants a number");
	refuses(X86_64, "HWCAP= 1", "nor a number");
	refuses(X86_64, "HWCAP=1 ", "nor a number");
	refuses(X86_64, "HWCAP=12a", "nor a number");
	refuses(X86_64, "HWCAP=0b1", "nor a number");
	refuses(X86_64, "HWCAP=1.5", "nor a number");
	refuses(X86_64, "HWCAP=1+2", "nor a number");
	refuses(X86_64, "0x2", "of which entry");
	refuses(X86_64, "2", "of which entry");
}

static void entries(void **state)
{
	(void)state;
	hides(X86_64, "AT_HWCAP2=fsgsbase", 0, 2);
	hides(X86_64, "HWCAP2=ring3mwait+fsgsbase", 0, 3);
	hides(X86_64, "HWCAP=sse", SSE | SSE2, 0);
	refuses(X86_64, "AT_HWCAP=fsgsbase", "feature of AT_HWCAP2, not of AT_HWCAP");
	refuses(X86_64, "AT_HWCAP=", "wants a number");
	refuses(X86_64, "AT_HWCAP=sse+", "wants a number");
	refuses(X86_64, "AT_HWCAP=+sse", "wants a number");
	refuses(X86_64, "AT_HWCAP=sse++sse2", "wants a number");
	refuses(X86_64, "AT_HWCAP=sse+nix", "'nix' is neither");
	refuses(X86_64, "AT_HWCAP=sse+0x2", "'0x2' is neither");
	refuses(X86_64, "AT_HWCAP5=1", "unknown entry 'AT_HWCAP5'");
	refuses(X86_64, "at_hwcap=1", "unknown entry");
	refuses(X86_64, "AT_AT_HWCAP=1", "unknown entry");
	refuses(X86_64, "AT_HWCAP1=1", "unknown entry");
	refuses(X86_64, "=1", "unknown entry ''");
	refuses(X86_64, "AT_HWCAP=1=2", "'1=2' is neither");
	refuses(X86_64, "AT_PLATFORM=1", "unknown entry 'AT_PLATFORM'");
	refuses(X86_64, "AT_HWCAP=all", "neither");
	refuses(X86_64, "AT_HWCAP=avx2", "does not advertise");
}

/* power5+ is a name, and so is power5. */
static void longest_name_first(void **state)
{
	const uint64_t p5 = 1 << 18, p5plus = 1 << 17, p4 = 1 << 19, p6x = 1 << 9;
	const struct hwcaps wanted[] = {
		{ { p5plus, 0, 0, 0 } },       { { p5, 0, 0, 0 } },
		{ { p5plus | p6x, 0, 0, 0 } }, { { p5 | p6x, 0, 0, 0 } },
		{ { p4 | p5plus, 0, 0, 0 } },
	};

	(void)state;
	gives(PPC64, SPEC_HIDE, true, "power5+", wanted[0]);
	gives(PPC64, SPEC_HIDE, true, "power5", wanted[1]);
	gives(PPC64, SPEC_HIDE, true, "AT_HWCAP=power5+", wanted[0]);
	gives(PPC64, SPEC_HIDE, true, "AT_HWCAP=power5++power6x", wanted[2]);
	gives(PPC64, SPEC_HIDE, true, "AT_HWCAP=power5+power6x", wanted[3]);
	gives(PPC64, SPEC_HIDE, true, "AT_HWCAP=power4+power5+", wanted[4]);
	/* Names before numbers. */
	gives(PPC64, SPEC_HIDE, true, "AT_HWCAP=4xxmac", (struct hwcaps){ { 1 << 25, 0, 0, 0 } });
	refuses(PPC64, "AT_HWCAP=power5+++power6x", "wants a number");
}

static void closure(void **state)
{
	(void)state;
	hides(X86_64, "sse", SSE | SSE2, 0);
	hides(X86_64, "fpu", FPU | CMOV | MMX | FXSR | SSE | SSE2, 0);
	keeps(X86_64, "sse2", FPU | FXSR | SSE | SSE2, 0);
	keeps(X86_64, "fpu", FPU, 0);
	gives(X86_64, SPEC_HIDE, true, "fpu", (struct hwcaps){ { FPU, 0, 0, 0 } });
	gives(X86_64, SPEC_KEEP, true, "sse2", (struct hwcaps){ { SSE2, 0, 0, 0 } });
	hides(RISCV, "f", 1 << 5 | 1 << 3 | 1 << 21, 0);
	keeps(RISCV, "d", 1 << 8 | 1 << 5 | 1 << 3, 0);
}

static bool has(const struct hwcaps *h, const struct hwcap_feature *f)
{
	return h->word[f->entry] >> f->bit & 1;
}

static const struct hwcap_feature *feature(int arch, const char *name)
{
	for (size_t i = 0; i < arches[arch].count; i++)
		if (!strcmp(arches[arch].features[i].name, name))
			return &arches[arch].features[i];
	fail_msg("no feature %s", name);
	return NULL;
}

static void sve2_goes_with_sve(void **state)
{
	struct result r = parse(ARM64, SPEC_HIDE, false, "sve");

	(void)state;
	assert_int_equal(r.status, 0);
	assert_true(has(&r.bits, feature(ARM64, "sve2")));
	assert_true(has(&r.bits, feature(ARM64, "sve2p1")));
	assert_false(has(&r.bits, feature(ARM64, "asimd")));
}

static bool subset(const struct hwcaps *a, const struct hwcaps *b)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (a->word[i] & ~b->word[i])
			return false;
	return true;
}

static void tables_are_closed(void **state)
{
	(void)state;
	for (int arch = 0; arch < ARCHES; arch++) {
		const struct hwcap_table *t = &arches[arch];

		for (size_t i = 0; i < t->count; i++) {
			struct hwcaps hides, needs;

			spec_closure(t, i, SPEC_HIDE, &hides);
			spec_closure(t, i, SPEC_KEEP, &needs);
			assert_true(has(&hides, &t->features[i]));
			assert_true(has(&needs, &t->features[i]));
			for (size_t j = 0; j < t->count; j++) {
				struct hwcaps its_hides, its_needs;

				spec_closure(t, j, SPEC_HIDE, &its_hides);
				spec_closure(t, j, SPEC_KEEP, &its_needs);
				/* One relation, read from both ends, transitive. */
				assert_int_equal(has(&hides, &t->features[j]),
						 has(&its_needs, &t->features[i]));
				if (has(&hides, &t->features[j]))
					assert_true(subset(&its_hides, &hides));
			}
			for (size_t j = 0; j < t->link_count; j++)
				if (t->links[j].from == i)
					assert_true(has(&needs, &t->features[t->links[j].to]));
		}
	}
}

/* Links in any order, and in a circle: A, B and C need each other, D needs B. */
static void closure_of_a_circle(void **state)
{
	static const struct hwcap_feature features[] = {
		{ "a", 0, 0 }, { "b", 1, 63 }, { "c", 3, 5 }, { "d", 0, 1 }, { "e", 0, 2 }
	};
	static const struct hwcap_link links[] = { { 3, 1 }, { 2, 0 }, { 1, 2 }, { 0, 1 } };
	const struct hwcap_table t = {
		.features = features, .count = 5, .links = links, .link_count = 4
	};
	const struct hwcaps circle = { { 1, 1UL << 63, 0, 1 << 5 } };
	struct hwcaps with_d = circle, bits;

	(void)state;
	with_d.word[0] |= 2;
	for (size_t i = 0; i < 3; i++) {
		spec_closure(&t, i, SPEC_HIDE, &bits);
		assert_memory_equal(&bits, &with_d, sizeof(bits));
		spec_closure(&t, i, SPEC_KEEP, &bits);
		assert_memory_equal(&bits, &circle, sizeof(bits));
	}
	spec_closure(&t, 3, SPEC_KEEP, &bits);
	assert_memory_equal(&bits, &with_d, sizeof(bits));
	spec_closure(&t, 3, SPEC_HIDE, &bits);
	assert_int_equal(bits.word[0], 2);
	assert_int_equal(bits.word[1] | bits.word[2] | bits.word[3], 0);
	spec_closure(&t, 4, SPEC_HIDE, &bits);
	assert_int_equal(bits.word[0], 4);
}

static struct hwcaps known_bits(const struct hwcap_table *t)
{
	struct hwcaps known = { { 0, 0, 0, 0 } };

	for (size_t i = 0; i < t->count; i++)
		known.word[t->features[i].entry] |= 1UL << t->features[i].bit;
	return known;
}

static uint64_t seed = 88172645463325252U;

static unsigned int pick(unsigned int limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)(seed >> 33) % limit;
}

/*
 * Any list of names: the bits are the union of what each name alone gives,
 * lie within the known features, and with --exact are the names' own.
 */
static void never_a_bit_outside(void **state)
{
	(void)state;
	for (int round = 0; round < 4000; round++) {
		const struct hwcap_table *t = &arches[pick(ARCHES)];
		enum spec_mode mode = pick(2) ? SPEC_HIDE : SPEC_KEEP;
		int arch = (int)(t - arches);
		struct hwcaps wanted = { { 0, 0, 0, 0 } }, named = wanted, known = known_bits(t);
		char spec[512] = "";

		for (unsigned int n = 1 + pick(12); n; n--) {
			unsigned int i = pick((unsigned int)t->count);
			const struct hwcap_feature *f = &t->features[i];
			struct hwcaps closure;

			if (spec[0])
				strcat(spec, ",");
			if (pick(3) == 0)
				sprintf(spec + strlen(spec), "%s=", spec_entry_name(f->entry));
			strcat(spec, f->name);
			named.word[f->entry] |= 1UL << f->bit;
			spec_closure(t, i, mode, &closure);
			hwcaps_or(&wanted, &closure);
		}
		gives(arch, mode, false, spec, wanted);
		gives(arch, mode, true, spec, named);
		assert_true(subset(&wanted, &known));
	}
}

/* Whatever the bytes, a verdict of 125 with one short printable line, or 0. */
static void any_bytes_get_a_verdict(void **state)
{
	static const char alphabet[] = "se2x0_-+=,:@ \t\n\x1b\x7f\xff"
				       "AT_HWCAP2=fsgsbase,all,none,x86_64:arm64:@x86-64power5+";

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char spec[64];
		size_t n = pick(sizeof(spec));
		struct result r;

		for (size_t i = 0; i < n; i++)
			spec[i] = alphabet[pick(sizeof(alphabet) - 1)];
		spec[n] = '\0';
		r = parse((int)pick(ARCHES), pick(2) ? SPEC_HIDE : SPEC_KEEP, pick(2), spec);
		if (!r.status)
			continue;
		assert_int_equal(r.d.status, EXIT_FAILED);
		for (const char *p = r.d.text; *p; p++)
			assert_true(*p >= ' ' && *p <= '~');
	}
}

static void empty_items(void **state)
{
	(void)state;
	refuses(X86_64, "", "empty item");
	refuses(X86_64, ",", "empty item");
	refuses(X86_64, "sse,", "empty item");
	refuses(X86_64, ",sse", "empty item");
	refuses(X86_64, "sse,,sse2", "empty item");
	refuses(X86_64, "x86_64:", "empty item");
	refuses_mode(X86_64, SPEC_KEEP, "", "empty item");
}

static void blanks(void **state)
{
	(void)state;
	refuses(X86_64, "sse, sse2", "blank");
	refuses(X86_64, "sse sse2", "blank");
	refuses(X86_64, "sse\n", "blank");
	refuses(X86_64, "\tsse", "blank");
	refuses(X86_64, " ", "blank");
}

static void suggestions(void **state)
{
	(void)state;
	refuses(X86_64, "fsgbase", "did you mean 'fsgsbase'");
	refuses(X86_64, "fsbgsase", "did you mean 'fsgsbase'");
	refuses(X86_64, "SSE2", "did you mean 'sse2'");
	refuses(X86_64, "al", "did you mean 'all'");
	refuses(X86_64, "non", "did you mean 'none'");
	refuses(ARM64, "svee2", "did you mean 'sve2'");
	refuses(ARM64, "evs2", "'evs2'");
	refuses(PPC64, "power5-", "did you mean 'power5");
	refuses(X86_64, "AT_HWCAP2=fsgsbas", "did you mean 'fsgsbase'");
	refuses(X86_64, "nosuchthing", "nearest is '");
	refuses_mode(X86_64, SPEC_KEEP, "@x86_64", "did you mean '@x86-64'");
	refuses_mode(ARM64, SPEC_KEEP, "@neoverse_n1", "did you mean '@neoverse-n1'");
	refuses_mode(X86_64, SPEC_KEEP, "@", "unknown baseline '@'");
}

static void unadvertised_features(void **state)
{
	static const char *const with_tunable[][2] = {
		{ "avx512f", "-AVX512F" }, { "avx2", "-AVX2" }, { "AVX2", "-AVX2" },
		{ "sse4_2", "-SSE4_2" },   { "bmi2", "-BMI2" }, { "abm", "-LZCNT" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(with_tunable) / sizeof(with_tunable[0]); i++) {
		refuses(X86_64, with_tunable[i][0], "does not advertise through AT_HWCAP*");
		refuses(X86_64, with_tunable[i][0], "CPUID");
		refuses(X86_64, with_tunable[i][0], "GLIBC_TUNABLES=glibc.cpu.hwcaps=-");
		refuses(X86_64, with_tunable[i][0], with_tunable[i][1]);
	}
	refuses(X86_64, "aes", "CPUID");
	refuses(X86_64, "gfni", "has no name for it");
	refuses(X86_64, "avx512_vp2intersect", "CPUID");
	/* The longest of these messages must not be cut. */
	refuses(X86_64, "avx512_vpopcntdq", "has no name for it)");
}

static void architectures(void **state)
{
	(void)state;
	hides(X86_64, "x86_64:sse2", SSE2, 0);
	hides(X86_64, "amd64:sse2,arm64:sve", SSE2, 0);
	hides(X86_64, "arm64:no such thing,aarch64:=,ppc64le:@,riscv64:,riscv:a:b", 0, 0);
	hides(RISCV, "riscv64:v,x86_64:sse", 1 << 21, 0);
	hides(PPC64, "ppc64le:AT_HWCAP=0x2,ppc64:AT_HWCAP=1", 3, 0);
	refuses(ARM64, "x86_64:sse,aarch64:fphp+", "did you mean 'fphp'");
}

static void bad_architectures(void **state)
{
	(void)state;
	refuses(X86_64, "sparc:sse", "unknown architecture 'sparc'");
	refuses(X86_64, ":sse", "unknown architecture ''");
	refuses(X86_64, "X86_64:sse", "unknown architecture");
	refuses(X86_64, "x86_64:arm64:sve", "'arm64:sve'");
	refuses(X86_64, "x86_64:nix", "unknown feature 'nix'");
	refuses(X86_64, "sse:sse2", "unknown architecture 'sse'");
	assert_string_equal(spec_arch("aarch64", 7), "arm64");
	assert_string_equal(spec_arch("riscv64", 7), "riscv");
	assert_string_equal(spec_arch("ppc64le", 7), "ppc64");
	assert_string_equal(spec_arch("amd64:x", 5), "x86_64");
	assert_null(spec_arch("arm", 3));
	assert_null(spec_arch("", 0));
}

static void baselines(void **state)
{
	(void)state;
	keeps(X86_64, "@x86-64", FPU | CX8 | CMOV | MMX | FXSR | SSE | SSE2, 0);
	keeps(X86_64, "@x86-64,fsgsbase", FPU | CX8 | CMOV | MMX | FXSR | SSE | SSE2, 2);
	keeps(RISCV, "@rv64gc", 0x112d, 0);
	keeps(RISCV, "@rv64gcv,x86_64:@nix", 0x20112d, 0);
	refuses(X86_64, "@x86-64", "use it with --keep");
	refuses_mode(X86_64, SPEC_KEEP, "@nix", "unknown baseline '@nix'");
	refuses_mode(X86_64, SPEC_KEEP, "AT_HWCAP=@x86-64", "neither");
	for (int arch = 0; arch < ARCHES; arch++) {
		struct hwcaps known = known_bits(&arches[arch]);

		assert_true(arches[arch].baseline_count > 0);
		for (size_t i = 0; i < arches[arch].baseline_count; i++) {
			assert_true(hwcaps_any(&arches[arch].baselines[i].bits));
			assert_true(subset(&arches[arch].baselines[i].bits, &known));
		}
	}
}

static void masks(void **state)
{
	struct hwcaps none = { { 0, 0, 0, 0 } }, mask;
	struct hwcaps keep = { { 0xf0, 0, 0, 1UL << 63 } }, hide = { { 0x10, 2, 0, 0 } };

	(void)state;
	spec_mask_for(&arches[X86_64], &none, &keep, false, &mask);
	assert_int_equal(mask.word[0], ~0xf0UL);
	assert_int_equal(mask.word[1], UINT64_MAX);
	assert_int_equal(mask.word[2], UINT64_MAX);
	assert_int_equal(mask.word[3], UINT64_MAX >> 1);
	/* What is hidden stays hidden, whatever is kept. */
	spec_mask_for(&arches[X86_64], &hide, &keep, false, &mask);
	assert_int_equal(mask.word[0], ~0xe0UL);
	/* MASK may be HIDE. */
	spec_mask_for(&arches[X86_64], &hide, NULL, false, &hide);
	assert_int_equal(hide.word[0], 0x10);
	assert_int_equal(hide.word[1], 2);
}

static void cpuid_goes_with_any_mask(void **state)
{
	const uint64_t cpuid = 1 << 11;
	struct hwcaps none = { { 0, 0, 0, 0 } }, some = { { 0, 2, 0, 0 } }, mask;
	struct hwcaps kept = { { cpuid | 1, 0, 0, 0 } };

	(void)state;
	hides(ARM64, "cpuid", cpuid, 0);
	keeps(ARM64, "cpuid", cpuid, 0);
	spec_mask_for(&arches[ARM64], &none, NULL, false, &mask);
	assert_false(hwcaps_any(&mask));
	spec_mask_for(&arches[ARM64], &some, NULL, false, &mask);
	assert_int_equal(mask.word[0], cpuid);
	assert_int_equal(mask.word[1], 2);
	spec_mask_for(&arches[ARM64], &some, NULL, true, &mask);
	assert_int_equal(mask.word[0], 0);
	spec_mask_for(&arches[ARM64], &none, &kept, false, &mask);
	assert_int_equal(mask.word[0], ~(cpuid | 1));
	kept.word[0] = 1;
	spec_mask_for(&arches[ARM64], &none, &kept, false, &mask);
	assert_int_equal(mask.word[0], ~1UL);
}

/* A megabyte of items: linear time, and no deep stack. */
static void huge_specs(void **state)
{
	const size_t size = 1 << 20;
	char *spec = malloc(size + 1);

	(void)state;
	assert_non_null(spec);
	for (size_t i = 0; i < size; i += 4)
		memcpy(spec + i, "sse,", 4);
	spec[size - 1] = '\0';
	hides(X86_64, spec, SSE | SSE2, 0);

	memcpy(spec, "HWCAP=x+", 8);
	for (size_t i = 6; i + 4 <= size; i += 4)
		memcpy(spec + i, "sse+", 4);
	spec[size - 3] = '\0';
	hides(X86_64, spec, SSE | SSE2, 0);

	memset(spec, 'x', size);
	spec[size] = '\0';
	refuses(X86_64, spec, "xxx...");
	memset(spec, '1', size);
	refuses(X86_64, spec, "of which entry");
	memcpy(spec, "HWCAP=", 6);
	refuses(X86_64, spec, "64 bits");
	memset(spec, ',', size);
	refuses(X86_64, spec, "empty item");
	free(spec);
}

static void bits_are_added(void **state)
{
	struct hwcaps bits = { { 1UL << 40, 0, 7, 0 } };
	struct diag d = { 0, 0, "" };

	(void)state;
	assert_int_equal(spec_parse_for(&d, &arches[X86_64], SPEC_HIDE, false, "sse2", &bits), 0);
	assert_int_equal(bits.word[0], 1UL << 40 | SSE2);
	assert_int_equal(bits.word[2], 7);
	assert_int_equal(d.status, 0);
}

static void names_or_numbers(void **state)
{
	static const char *const numbers[] = {
		"all",
		"none",
		"AT_HWCAP=1",
		"HWCAP2=0xff,all",
		"riscv:AT_HWCAP=0x1,none",
		"arm64:AT_HWCAP4=18446744073709551615",
	};
	struct hwcap_table t;
	char spec[64];

	(void)state;
	hwcap_table_own(&t);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_false(spec_has_names(numbers[i]));
	assert_true(spec_has_names(t.features[0].name));
	assert_true(spec_has_names("AT_HWCAP=1,@x"));
	snprintf(spec, sizeof(spec), "none,%s:%s", t.arch, t.features[0].name);
	assert_true(spec_has_names(spec));
	snprintf(spec, sizeof(spec), "AT_HWCAP=1,HWCAP=%s+%s", t.features[0].name,
		 t.features[1].name);
	assert_true(spec_has_names(spec));
	/* Of another architecture: skipped, like the item. */
	assert_false(spec_has_names(strcmp(t.arch, "riscv") ? "riscv:v" : "arm64:sve"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(names_or_numbers),
		cmocka_unit_test(all_is_every_bit),
		cmocka_unit_test(numbers),
		cmocka_unit_test(bad_numbers),
		cmocka_unit_test(entries),
		cmocka_unit_test(longest_name_first),
		cmocka_unit_test(closure),
		cmocka_unit_test(sve2_goes_with_sve),
		cmocka_unit_test(tables_are_closed),
		cmocka_unit_test(closure_of_a_circle),
		cmocka_unit_test(never_a_bit_outside),
		cmocka_unit_test(any_bytes_get_a_verdict),
		cmocka_unit_test(empty_items),
		cmocka_unit_test(blanks),
		cmocka_unit_test(suggestions),
		cmocka_unit_test(unadvertised_features),
		cmocka_unit_test(architectures),
		cmocka_unit_test(bad_architectures),
		cmocka_unit_test(baselines),
		cmocka_unit_test(masks),
		cmocka_unit_test(cpuid_goes_with_any_mask),
		cmocka_unit_test(huge_specs),
		cmocka_unit_test(bits_are_added),
	};

	return cmocka_run_group_tests(tests, fill_tables, NULL);
}
