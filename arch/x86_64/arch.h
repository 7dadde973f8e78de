/*
 * arch.h (x86_64) - all that generic code needs to know of the machine
 *
 * Machine numbers, the system call, the address-space rules of the kernel's
 * ELF loader and the way out into the target (leave.S). Every architecture
 * has a file of this name with the same definitions.
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_NAME "x86_64"
#define ARCH_MACHINE 62 /* EM_X86_64 */

/* arch/x86/include/asm/page_64_types.h: TASK_SIZE without 57-bit opt-in. */
#define ARCH_TASK_SIZE 0x7ffffffff000UL
#define ARCH_STACK_TOP ARCH_TASK_SIZE

/* arch/x86/include/asm/elf.h: ELF_ET_DYN_BASE. */
#define ARCH_ET_DYN_BASE (ARCH_TASK_SIZE / 3 * 2)

/* arch/x86/Kconfig: ARCH_MMAP_RND_BITS default and maximum, in pages. */
#define ARCH_MMAP_RND_BITS 28
#define ARCH_MMAP_RND_BITS_MAX 32

/* arch/x86/kernel/process.c: arch_randomize_brk(). */
#define ARCH_BRK_RANGE (1UL << 30)

/* arch/x86/kernel/process.c: arch_align_stack(). */
#define ARCH_STACK_ALIGN 16

/* arch/x86/include/asm/elf.h: a missing PT_GNU_STACK is no exec stack. */
#define ARCH_DEFAULT_EXEC_STACK false

static inline long arch_syscall(long number, long a, long b, long c, long d,
				long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/*
 * The way out. A "leave site" is an instruction sequence of the new image
 * (vDSO, interp or program) that makes a system call and then returns, so
 * that the last page of ours can be unmapped from code that is not ours.
 */
struct arch_leave_site {
	uint64_t at;         /* address of the system call instruction */
	unsigned int words;  /* stack words it skips before its return */
	unsigned int cleared; /* registers it clears on the way, see leave.c */
};

/* Best site in CODE (SIZE bytes, mapped at address AT). False if none. */
bool arch_find_leave_site(const unsigned char *code, size_t size, uint64_t at,
			  struct arch_leave_site *site);

/* What arch_leave() carries out, in this order; zero-sized steps are skipped.
 * Lies on the stack below the target's: nothing else of ours is left by then.
 */
struct arch_leave {
	uint64_t unmap, unmap_size;   /* image, when run from a copy */
	uint64_t mm_map, mm_map_size; /* prctl(PR_SET_MM, PR_SET_MM_MAP) */
	int64_t fd;                   /* closed if not negative */
	uint64_t last, last_size;     /* unmapped at the leave site */
	uint64_t site;
	uint64_t stack;               /* what the site skips, entry, then the target's */
};

/* Code of arch_leave, position-independent: [arch_leave, arch_leave_end). */
__attribute__((noreturn)) void arch_leave(const struct arch_leave *how);
extern const char arch_leave_end[];

/* Lay out what the site consumes just below SP; returns the stack for it. */
static inline uint64_t arch_leave_stack(uint64_t sp, uint64_t entry,
					const struct arch_leave_site *site)
{
	uint64_t *word = (uint64_t *)sp;

	*--word = entry;
	for (unsigned int i = 0; i < site->words; i++)
		*--word = 0;
	return (uint64_t)word;
}

#endif
