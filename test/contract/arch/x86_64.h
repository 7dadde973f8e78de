/*
 * x86_64.h - what the contract probe needs to know about x86_64
 *
 * Raw system calls, the registers that the entry stub saves, and the zones in
 * which the kernel places things (arch/x86/include/asm/elf.h, ELF_ET_DYN_BASE;
 * arch/x86/mm/mmap.c).
 */
#ifndef PROBE_ARCH_H
#define PROBE_ARCH_H

#define PROBE_REGISTERS 17 /* the general ones but the stack pointer, flags, cs */

#ifndef __ASSEMBLER__
struct probe_entry {
	unsigned long sp;
	unsigned long below; /* nonzero words in the 64 KiB below sp (bare only) */
	unsigned long reg[PROBE_REGISTERS];
	unsigned long pad[5];
	unsigned char fx[512] __attribute__((aligned(16)));
};

static const char probe_register_name[PROBE_REGISTERS][8] = {
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp",    "r8",   "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rflags", "segs",
};

static inline long sc6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* The first zone whose end is above an address names it. */
static const struct probe_zone {
	char name[12];
	unsigned long end;
} probe_zone[] = {
	{ "low", 0x100000000 },       { "below", 0x2aaaaaaaa000 }, { "legacy", 0x2bb000000000 },
	{ "middle", 0x555555554000 }, { "pie", 0x566000000000 },   { "upper", 0x7ee000000000 },
	{ "mmap", 0x7ffbffa00000 },   { "stack", 0x800000000000 }, { "vsyscall", ~0UL },
};

enum {
	PROBE_ARCH_PRCTL = 158,
	PROBE_GET_FS = 0x1003,
	PROBE_GET_GS = 0x1004,
	PROBE_GET_CPUID = 0x1011,
	PROBE_SHSTK_STATUS = 0x5005,
	PROBE_XCOMP_PERM = 0x1022,
};

enum { PROBE_VDSO_ALIGN = 0x1000 };
#endif
#endif
