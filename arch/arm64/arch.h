/*
 * arch.h (arm64) - all that generic code needs to know of the machine
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

#define ARCH_NAME    "arm64"
#define ARCH_MACHINE 183 /* EM_AARCH64 */

/* arch/arm64/include/asm/processor.h: DEFAULT_MAP_WINDOW (39, 42, 47 or 48
 * bits) is what the stack is in; where it is 48, 52 bits may be had by asking.
 */
static inline struct arch_space arch_space(uint64_t address)
{
	const uint64_t window = arch_window(address);

	return (struct arch_space){
		.task = window == 1UL << 48 ? 1UL << 52 : window,
		.stack_top = window,
		.dyn_base = window / 3 * 2, /* asm/elf.h */
	};
}

/* arch/arm64/Kconfig: ARCH_MMAP_RND_BITS_MIN is the default; _MAX. */
static inline unsigned int arch_random_bits(uint64_t page)
{
	return page == 65536 ? 14 : page == 16384 ? 16 : 18;
}

static inline unsigned int arch_random_bits_max(uint64_t page)
{
	return page == 65536 ? 29 : page == 16384 ? 30 : 33;
}

/* arch/arm64/kernel/process.c: arch_align_stack(). */
#define ARCH_STACK_ALIGN 16

/* arch/arm64/include/asm/elf.h: a missing PT_GNU_STACK is no exec stack. */
#define ARCH_DEFAULT_EXEC_STACK false

/* arch/arm64/kernel/vdso.c: VVAR_NR_PAGES. */
enum { ARCH_VDSO_DATA_PAGES = 2 };

static inline uint64_t arch_vdso_align(uint64_t page)
{
	return page;
}

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
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

/* Arm ARM (DDI 0487) B2.4.4: make code that was just written fit to be run. */
static inline void arch_flush_code(uint64_t from, size_t size)
{
	/* The smallest cache line there can be is 16 bytes (CTR_EL0). */
	for (uint64_t at = from & ~15UL; at < from + size; at += 16)
		__asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	for (uint64_t at = from & ~15UL; at < from + size; at += 16)
		__asm__ volatile("ic ivau, %0" : : "r"(at) : "memory");
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

/*
 * A leave site here returns to the vDSO's __kernel_rt_sigreturn, which sets all
 * registers from a frame on the stack.
 */
struct arch_leave_site {
	uint64_t at; /* address of the system call instruction */
	uint64_t sigreturn;
	bool authenticates; /* the return address, by autiasp */
};

/* A signal frame of arch/arm64/kernel/signal.c, and its alignment. */
enum { ARCH_LEAVE_ROOM = 4688 + 16 };

#endif
