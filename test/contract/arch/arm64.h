/*
 * arm64.h - what the contract probe needs to know about arm64
 *
 * Raw system calls, the registers that the entry stub saves, and the zones in
 * which the kernel places things with 48 bits of addresses, or 47
 * (arch/arm64/include/asm/processor.h, elf.h).
 */
#ifndef PROBE_ARCH_H
#define PROBE_ARCH_H

#define PROBE_REGISTERS 33  /* the general ones, flags, thread pointer */
#define PROBE_FX        288 /* where probe_entry.fx is */

#ifndef __ASSEMBLER__
struct probe_entry {
	unsigned long sp;
	unsigned long below; /* nonzero words in the 64 KiB below sp (bare only) */
	unsigned long reg[PROBE_REGISTERS];
	unsigned long pad;
	/* v0 to v30: the stub needs one for itself */
	unsigned char fx[512] __attribute__((aligned(16)));
};

static const char probe_register_name[PROBE_REGISTERS][8] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",   "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20",  "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "nzcv", "tpidr",
};

static inline long sc6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

/* The first zone whose end is above an address names it. */
static const struct probe_zone {
	char name[12];
	unsigned long end;
} probe_zone[] = {
	{ "low", 0x100000000 },        { "below", 0x555555554000 },
	{ "pie-47", 0x560000000000 },  { "middle", 0x7ffe00000000 },
	{ "mmap-47", 0x7fffbfa00000 }, { "stack-47", 0x800000000000 },
	{ "between", 0xaaaaaaaa8000 }, { "pie", 0xb00000000000 },
	{ "upper", 0xfffe00000000 },   { "mmap", 0xffffbfa00000 },
	{ "stack", 0x1000000000000 },  { "beyond", ~0UL },
};

/* No such calls: they give the same error to everyone. */
enum {
	PROBE_ARCH_PRCTL = -1,
	PROBE_GET_FS = 0,
	PROBE_GET_GS = 0,
	PROBE_GET_CPUID = 0,
	PROBE_SHSTK_STATUS = 0,
	PROBE_XCOMP_PERM = 0,
};

enum { PROBE_VDSO_ALIGN = 0x1000 };
#endif
#endif
