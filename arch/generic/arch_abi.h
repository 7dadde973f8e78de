/*
 * arch_abi.h - what the kernel remembers of the ABI of the program it executed
 *
 * Here nothing: there is one. Only ppc64 has a file of its own.
 */
#ifndef ARCH_ABI_H
#define ARCH_ABI_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that are read at e_entry before the jump: a function descriptor. */
static inline size_t arch_descriptor_size(unsigned int flags)
{
	(void)flags;
	return 0;
}

/* Does the kernel take this process for one of a program with e_flags FLAGS? */
static inline bool arch_is_abi(unsigned int flags)
{
	(void)flags;
	return true;
}

/* Make the file FD, a copy of our image, one of a program's with FLAGS. */
static inline long arch_set_abi(int fd, unsigned int flags)
{
	(void)fd;
	(void)flags;
	return 0;
}

#endif
