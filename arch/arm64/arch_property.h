/*
 * arch_property.h (arm64) - PT_GNU_PROPERTY: is the code guarded by BTI?
 *
 * arch/arm64/kernel/process.c: arch_elf_adjust_prot(). mmap(2) takes PROT_BTI
 * on every CPU and ignores it on one without BTI.
 */
#ifndef ARCH_PROPERTY_H
#define ARCH_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
