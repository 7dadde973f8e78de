/*
 * riscv.h - what the contract probe needs to know about riscv
 *
 * Raw system calls, the registers that the entry stub saves, and the zones in
 * which the kernel places things with sv48 or sv57
 * (arch/riscv/include/asm/processor.h, elf.h).
 */
#ifndef PROBE_ARCH_H
#define PROBE_ARCH_H

#define PROBE_REGISTERS 30  /* all but the zero register and the stack pointer */
#define PROBE_FX        256 /* where probe_entry.fx is */

#ifndef __ASSEMBLER__
struct probe_entry {
	unsigned long sp;
	unsigned long below; /* nonzero words in the 64 KiB below sp (bare only) */
	unsigned long reg[PROBE_REGISTERS];
	/* f0 to f30: the stub needs one for itself */
	unsigned char fx[512] __attribute__((aligned(16)));
};

static const char probe_register_name[PROBE_REGISTERS][8] = {
	"ra", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1",  "a2",  "a3", "a4", "a5", "a6",
	"a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static inline long sc6(long n, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = n;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return a0;
}

/* The first zone whose end is above an address names it. */
static const struct probe_zone {
	char name[12];
	unsigned long end;
} probe_zone[] = {
	{ "low", 0x100000000 },        { "below-39", 0x2aaaaaa000 }, { "pie-39", 0x2b40000000 },
	{ "middle-39", 0x3e00000000 }, { "mmap-39", 0x3fbfa00000 },  { "stack-39", 0x4000000000 },
	{ "below", 0x555555554000 },   { "pie", 0x560000000000 },    { "upper", 0x7ffe00000000 },
	{ "mmap", 0x7fffbfa00000 },    { "stack", 0x800000000000 },  { "beyond", ~0UL },
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
