/*
 * arch.h (arm64) - all that generic code needs to know of the machine
 *
 * See arch/x86_64/arch.h for what the definitions are for.
 */
#ifndef ARCH_H
#define ARCH_H

#include "machine.h"

#define ARCH_NAME    "arm64"
#define ARCH_MACHINE 183 /* EM_AARCH64 */

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

/* The stack's share of the gap above the mmap zone is up to 1 GiB and more. */
enum { ARCH_RANDOM_SLACK = 4 };

/* mm/util.c: arch_randomize_brk(). */
#define ARCH_BRK_RANGE (1UL << 30)

/* Where a random brk starts at least; OWN is the one we got. */
static inline uint64_t arch_brk_floor(uint64_t own)
{
	(void)own;
	return 0;
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

/* arch/arm64/kernel/process.c: arch_elf_adjust_prot(). mmap(2) takes PROT_BTI
 * on every CPU and ignores it on one without BTI.
 */
#define ARCH_PROPERTY true

/* arch/arm64/include/asm/elf.h: arch_parse_elf_property(). */
static inline int arch_property(uint32_t type, const void *data, size_t size, int *exec_prot)
{
	enum { BTI = 1, PROT_WITH_BTI = 0x10 };

	if (type != 0xc0000000) /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
		return 0;
	if (size != sizeof(uint32_t))
		return -1;
	if (*(const uint32_t *)data & BTI)
		*exec_prot = PROT_WITH_BTI;
	return 0;
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

/* Bytes that are read at e_entry before the jump: a function descriptor. */
static inline size_t arch_descriptor_size(unsigned int flags)
{
	(void)flags;
	return 0;
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
	uint64_t sign;                  /* whether it authenticates that */
	uint64_t last_prot;             /* not 0: last gets this protection instead */
	uint64_t message, message_size; /* for a step that fails; not used yet */
};

/* May last_prot be used? */
static inline bool arch_site_protects(const struct arch_leave_site *site)
{
	(void)site;
	return false;
}

/* A signal frame of arch/arm64/kernel/signal.c, and its alignment. */
enum { ARCH_LEAVE_ROOM = 4688 + 16 };

/* Write what SITE needs below ENTRY's stack pointer; fill what HOW has of it. */
void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
			const struct arch_entry *entry);

#endif
