/*
 * ppc64.h - what the contract probe needs to know about ppc64
 *
 * Raw system calls, the registers that the entry stub saves, and the zones in
 * which the kernel places things with 47 or 46 bits of addresses
 * (arch/powerpc/include/asm/task_size_64.h, elf.h).
 */
#ifndef PROBE_ARCH_H
#define PROBE_ARCH_H

#define PROBE_REGISTERS 34  /* the general ones but the stack pointer; lr, xer, cr */
#define PROBE_FX        288 /* where probe_entry.fx is */

#ifndef __ASSEMBLER__
struct probe_entry {
	unsigned long sp;
	unsigned long below; /* nonzero words in the 64 KiB below sp (bare only) */
	unsigned long reg[PROBE_REGISTERS];
	unsigned char fx[512] __attribute__((aligned(16)));
};

static const char probe_register_name[PROBE_REGISTERS][8] = {
	"r0",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",  "r8",  "r9",  "r10", "r11", "r12",
	"r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24",
	"r25", "r26", "r27", "r28", "r29", "r30", "r31", "lr",  "xer", "cr",
};

static inline long sc6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = n;
	register long r3 __asm__("r3") = a;
	register long r4 __asm__("r4") = b;
	register long r5 __asm__("r5") = c;
	register long r6 __asm__("r6") = d;
	register long r7 __asm__("r7") = e;
	register long r8 __asm__("r8") = f;

	__asm__ volatile("sc\n\tbns+ 1f\n\tneg %1, %1\n1:"
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
			 :
			 : "r9", "r10", "r11", "r12", "cr0", "ctr", "xer", "memory");
	return r3;
}

/* The first zone whose end is above an address names it. */
static const struct probe_zone {
	char name[12];
	unsigned long end;
} probe_zone[] = {
	{ "low", 0x100000000 },         { "pie", 0x200000000 },       { "below", 0x10000000000 },
	{ "brk-hash", 0x10080000000 },  { "middle", 0x3ffe00000000 }, { "mmap-46", 0x3fffbfa00000 },
	{ "stack-46", 0x400000000000 }, { "upper", 0x7ffe00000000 },  { "mmap", 0x7fffbfa00000 },
	{ "stack", 0x800000000000 },    { "beyond", ~0UL },
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

/* arch/powerpc/kernel/vdso.c: VDSO_ALIGNMENT. */
enum { PROBE_VDSO_ALIGN = 0x10000 };
#endif
#endif
