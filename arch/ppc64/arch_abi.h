/*
 * arch_abi.h (ppc64) - ELFv1, with function descriptors, and ELFv2
 *
 * The kernel remembers which it executed (SET_PERSONALITY2() in
 * arch/powerpc/include/asm/elf.h) and delivers signals by it: a process that
 * was executed as ELFv2 cannot become an ELFv1 program with handlers.
 */
#ifndef ARCH_ABI_H
#define ARCH_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* EF_PPC64_ABI; only ELFv2 has no descriptors. */
static inline bool arch_has_descriptors(unsigned int flags)
{
	return (flags & 3) != 2;
}

/* Bytes that are read at e_entry before the jump: code address and TOC. */
static inline size_t arch_descriptor_size(unsigned int flags)
{
	return arch_has_descriptors(flags) ? 2 * sizeof(uint64_t) : 0;
}

/* Does the kernel take this process for one of a program with e_flags FLAGS? */
bool arch_is_abi(unsigned int flags);

/* Make the file FD, a copy of our image, one of a program's with FLAGS. */
long arch_set_abi(int fd, unsigned int flags);

#endif
