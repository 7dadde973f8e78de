/*
 * arch.h (x86_64) - all that generic code needs to know of the machine
 *
 * Machine numbers, the system call, the address-space rules of the kernel's
 * ELF loader and the way out into the target (leave.c, start.S). Every
 * architecture has a file of this name with the same definitions.
 */
#ifndef ARCH_H
#define ARCH_H

#include "arch_abi.h"
#include "arch_brk.h"
#include "arch_property.h"
#include "machine.h"

#define ARCH_NAME    "x86_64"
#define ARCH_MACHINE 62 /* EM_X86_64 */

/* ADDRESS: any in the initial stack. arch/x86/include/asm/page_64_types.h:
 * TASK_SIZE without 57-bit opt-in; asm/elf.h; asm/processor.h.
 */
static inline struct arch_space arch_space(uint64_t address)
{
	const uint64_t task = 0x7ffffffff000UL;

	(void)address;
	return (struct arch_space){ .task = task, .stack_top = task, .dyn_base = task / 3 * 2 };
}

/* arch/x86/Kconfig: ARCH_MMAP_RND_BITS default and maximum, in pages. */
static inline unsigned int arch_random_bits(uint64_t page)
{
	(void)page;
	return 28;
}

static inline unsigned int arch_random_bits_max(uint64_t page)
{
	(void)page;
	return 32;
}

/* A gap above the mmap zone of more than default + this many bits of pages
 * is due to more random bits, not to the stack's share.
 */
enum { ARCH_RANDOM_SLACK = 1 };

/* arch/x86/kernel/process.c: arch_align_stack(). */
#define ARCH_STACK_ALIGN 16

/* arch/x86/include/asm/elf.h: a missing PT_GNU_STACK is no exec stack. */
#define ARCH_DEFAULT_EXEC_STACK false

/* Data pages in front of the vDSO. There have been 3 to 6. */
enum { ARCH_VDSO_DATA_PAGES = 6 };

/* Alignment of the vDSO's block. */
static inline uint64_t arch_vdso_align(uint64_t page)
{
	return page;
}

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Make code that was just written fit to be run. */
static inline void arch_flush_code(uint64_t from, size_t size)
{
	(void)from;
	(void)size;
}

/* A leave site here: see leave.c for what it may consist of. */
struct arch_leave_site {
	uint64_t at;          /* address of the system call instruction */
	unsigned int words;   /* stack words it skips before its return */
	unsigned int cleared; /* registers it clears on the way, see leave.c */
};

/* What arch_leave() carries out, in this order; zero-sized steps are skipped.
 * Lies on the stack below the target's: nothing else of ours is left by then.
 */
struct arch_leave {
	uint64_t unmap, unmap_size;   /* image, when run from a copy */
	uint64_t mm_map, mm_map_size; /* prctl(PR_SET_MM, PR_SET_MM_MAP) */
	int64_t fd;                   /* closed if not negative */
	uint64_t last, last_size;     /* unmapped at the leave site */
	uint64_t site;
	uint64_t stack;                 /* what the site skips, entry, then the target's */
	uint64_t last_prot;             /* not 0: last gets this protection instead */
	uint64_t message, message_size; /* printed if a step fails; then exit 126 */
};

/* May last_prot be used, that is, does SITE clear the call's third argument? */
static inline bool arch_site_protects(const struct arch_leave_site *site)
{
	return site->cleared & 1 << 2; /* rdx */
}

/* Bytes below the target's stack pointer that arch_leave_prepare() needs. */
enum { ARCH_LEAVE_ROOM = 512 };

/* Write what SITE consumes just below ENTRY's stack pointer; fill what HOW
 * has of it.
 */
static inline void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
				      const struct arch_entry *entry)
{
	uint64_t *word = (uint64_t *)entry->sp;

	*--word = entry->pc;
	for (unsigned int i = 0; i < site->words; i++)
		*--word = 0;
	how->site = site->at;
	how->stack = (uint64_t)word;
}

#endif
