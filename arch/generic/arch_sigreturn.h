/*
 * arch_sigreturn.h - leaving by a signal frame
 *
 * The leave site returns to the vDSO's trampoline, which has the kernel set
 * all registers from a frame on the stack (leave.c of the architecture).
 */
#ifndef ARCH_SIGRETURN_H
#define ARCH_SIGRETURN_H

#include "machine.h"

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
	uint64_t sign;                  /* arm64: whether it authenticates that */
	uint64_t last_prot;             /* not 0: last gets this protection instead */
	uint64_t message, message_size; /* for a step that fails; not used yet */
};

/* May last_prot be used? */
static inline bool arch_site_protects(const struct arch_leave_site *site)
{
	(void)site;
	return false;
}

/* Write what SITE needs below ENTRY's stack pointer; fill what HOW has of it. */
void arch_leave_prepare(struct arch_leave *how, const struct arch_leave_site *site,
			const struct arch_entry *entry);

#endif
