/*
 * arch.h (ppc64) - all that generic code needs to know of the machine
 *
 * See arch/x86_64/arch.h for what the definitions are for.
 */
#ifndef ARCH_H
#define ARCH_H

#include "machine.h"

#define ARCH_NAME    "ppc64"
#define ARCH_MACHINE 21 /* EM_PPC64 */

/* The smallest power of two above ADDRESS, which is in the initial stack: its
 * random gap is far too small to leave the upper half of the address space.
 */
static inline uint64_t arch_window(uint64_t address)
{
	uint64_t window = 1UL << 32;

	while (window <= address)
		window <<= 1;
	return window;
}

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

/* The stack's share of the gap above the mmap zone is up to 1 GiB and more. */
enum { ARCH_RANDOM_SLACK = 4 };

/* arch/powerpc/mm/book3s64/hash_utils.c, mm/util.c: arch_randomize_brk(). */
#define ARCH_BRK_RANGE (1UL << 30)

/* Where a random brk starts at least, OWN being the one we got: with the hash
 * MMU, the second 1T segment.
 */
static inline uint64_t arch_brk_floor(uint64_t own)
{
	const uint64_t segment = 1UL << 40;

	return own >= segment ? segment : 0;
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

/* PT_GNU_PROPERTY says nothing that is done at mmap time. */
#define ARCH_PROPERTY false

static inline int arch_property(uint32_t type, const void *data, size_t size, int *exec_prot)
{
	(void)type;
	(void)data;
	(void)size;
	(void)exec_prot;
	return 0;
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

/* The ABI of a program: EF_PPC64_ABI; only ELFv2 has no function descriptors
 * (arch/powerpc/include/asm/elf.h: SET_PERSONALITY()).
 */
static inline bool arch_has_descriptors(unsigned int flags)
{
	return (flags & 3) != 2;
}

/* Bytes that are read at e_entry before the jump: code address and TOC. */
static inline size_t arch_descriptor_size(unsigned int flags)
{
	return arch_has_descriptors(flags) ? 2 * sizeof(uint64_t) : 0;
}

/* What arch_leave() carries out, in this order; zero-sized steps are skipped.
 * Lies on the stack below the target's: nothing else of ours is left by then.
 */
struct arch_leave {
	uint64_t unmap, unmap_size;   /* image, when run from a copy */
	uint64_t mm_map, mm_map_size; /* prctl(PR_SET_MM, PR_SET_MM_MAP) */
	int64_t fd;                   /* closed if not negative */
	uint64_t last, last_size;     /* unmapped at the leave site */
	uint64_t site;
	uint64_t stack;
	uint64_t link;                  /* where the site returns to */
	uint64_t last_prot;             /* not 0: last gets this protection instead */
	uint64_t message, message_size; /* for a step that fails; not used yet */
};

/* May last_prot be used? */
static inline bool arch_site_protects(const struct arch_leave_site *site)
{
	(void)site;
	return false;
}

/* Of arch/powerpc/kernel/signal_64.c's frame what is read back: ucontext. */
enum { ARCH_LEAVE_ROOM = 1696 + 16 };

/* Write what SITE needs below ENTRY's stack pointer; fill what HOW has of it. */
void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
			const struct arch_entry *entry);

#endif
