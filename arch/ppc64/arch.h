/*
 * arch.h (ppc64) - all that generic code needs to know of the machine
 *
 * See arch/x86_64/arch.h for what the definitions are for.
 */
#ifndef ARCH_H
#define ARCH_H

#include "arch_abi.h"
#include "arch_brk.h"
#include "arch_property.h"
#include "arch_sigreturn.h"
#include "arch_window.h"
#include "machine.h"

#define ARCH_NAME    "ppc64"
#define ARCH_MACHINE 21 /* EM_PPC64 */

/* arch/powerpc/include/asm/task_size_64.h: the stack is in the default map
 * window, 46 or 47 bits; up to 52 may be had by asking. asm/elf.h.
 */
static inline struct arch_space arch_space(uint64_t address)
{
	const uint64_t window = arch_window(address);

	return (struct arch_space){
		.task = window == 1UL << 47 ? 1UL << 52 : window,
		.stack_top = window,
		.dyn_base = 1UL << 32,
	};
}

/* arch/powerpc/Kconfig: ARCH_MMAP_RND_BITS_MIN is the default; _MAX. */
static inline unsigned int arch_random_bits(uint64_t page)
{
	return page == 65536 ? 14 : 18;
}

static inline unsigned int arch_random_bits_max(uint64_t page)
{
	return page == 65536 ? 29 : 33;
}

/* arch/powerpc/kernel/process.c: arch_align_stack(). */
#define ARCH_STACK_ALIGN 16

/* arch/powerpc/include/asm/page_64.h: VM_STACK_DEFAULT_FLAGS64. */
#define ARCH_DEFAULT_EXEC_STACK false

/* arch/powerpc/kernel/vdso.c: VVAR_NR_PAGES. */
enum { ARCH_VDSO_DATA_PAGES = 2 };

/* arch/powerpc/kernel/vdso.c: VDSO_ALIGNMENT. */
static inline uint64_t arch_vdso_align(uint64_t page)
{
	return page > 0x10000 ? page : 0x10000;
}

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = number;
	register long r3 __asm__("r3") = a;
	register long r4 __asm__("r4") = b;
	register long r5 __asm__("r5") = c;
	register long r6 __asm__("r6") = d;
	register long r7 __asm__("r7") = e;
	register long r8 __asm__("r8") = f;

	/* Failure is the summary overflow bit, the value then errno. */
	__asm__ volatile("sc\n\t"
			 "bns+ 1f\n\t"
			 "neg %1, %1\n"
			 "1:"
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
			 :
			 : "r9", "r10", "r11", "r12", "cr0", "ctr", "xer", "memory");
	return r3;
}

/* Power ISA, Book II, 1.8: make code that was just written fit to be run. */
static inline void arch_flush_code(uint64_t from, size_t size)
{
	/* 32 bytes: no cache has shorter blocks. */
	for (uint64_t at = from & ~31UL; at < from + size; at += 32)
		__asm__ volatile("dcbst 0, %0" : : "r"(at) : "memory");
	__asm__ volatile("sync" : : : "memory");
	for (uint64_t at = from & ~31UL; at < from + size; at += 32)
		__asm__ volatile("icbi 0, %0" : : "r"(at) : "memory");
	__asm__ volatile("sync\n\tisync" : : : "memory");
}

/*
 * A leave site here returns to the vDSO's __kernel_sigtramp_rt64, which sets all
 * registers from a frame on the stack; without that there is no way out,
 * since an ELFv2 program needs its entry's address in r12.
 */
struct arch_leave_site {
	uint64_t at;                 /* address of the system call instruction */
	uint64_t returns, sigreturn; /* AT once both are known */
	uint64_t frame;              /* what sigreturn adds to the stack pointer */
};

/* Of arch/powerpc/kernel/signal_64.c's frame what is read back: ucontext. */
enum { ARCH_LEAVE_ROOM = 1696 + 16 };

#endif
