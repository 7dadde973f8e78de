/*
 * arch.h (riscv) - all that generic code needs to know of the machine
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

#define ARCH_NAME    "riscv"
#define ARCH_MACHINE 243 /* EM_RISCV */

/* arch/riscv/include/asm/processor.h, elf.h: sv39, sv48 and sv57 have 38, 47
 * and 56 bits for user space. Kernels that put the stack into 47 of 56 bits
 * give out the rest to those who ask.
 */
static inline struct arch_space arch_space(uint64_t address)
{
	const uint64_t window = arch_window(address);

	return (struct arch_space){
		.task = window == 1UL << 47 ? 1UL << 56 : window,
		.stack_top = window,
		.dyn_base = window / 3 * 2,
	};
}

/* arch/riscv/Kconfig: ARCH_MMAP_RND_BITS_MIN is the default; _MAX. */
static inline unsigned int arch_random_bits(uint64_t page)
{
	(void)page;
	return 18;
}

static inline unsigned int arch_random_bits_max(uint64_t page)
{
	(void)page;
	return 24;
}

/* mm/util.c, where the kernel has arch_align_stack() for riscv at all. */
#define ARCH_STACK_ALIGN 16

/* arch/riscv/include/asm/page.h: VM_DATA_DEFAULT_FLAGS. */
#define ARCH_DEFAULT_EXEC_STACK false

/* arch/riscv/kernel/vdso.c: VVAR_NR_PAGES. */
enum { ARCH_VDSO_DATA_PAGES = 2 };

static inline uint64_t arch_vdso_align(uint64_t page)
{
	return page;
}

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = number;
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

/* Make code that was just written fit to be run, on whatever hart: fence.i
 * alone is for this one (riscv_flush_icache(2)).
 */
static inline void arch_flush_code(uint64_t from, size_t size)
{
	enum { RISCV_FLUSH_ICACHE = 259 };

	__asm__ volatile("fence.i" : : : "memory");
	arch_syscall(RISCV_FLUSH_ICACHE, (long)from, (long)(from + size), 0, 0, 0, 0);
}

/*
 * A leave site here returns to the vDSO's __vdso_rt_sigreturn, which sets all registers
 * from a frame on the stack.
 */
struct arch_leave_site {
	uint64_t at; /* address of the system call instruction */
	uint64_t sigreturn;
};

/* A signal frame of arch/riscv/kernel/signal.c, and its alignment. */
enum { ARCH_LEAVE_ROOM = 1088 + 16 };

#endif
