/*
 * arch_property.h - PT_GNU_PROPERTY, where it says nothing that is done at mmap time
 */
#ifndef ARCH_PROPERTY_H
#define ARCH_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_PROPERTY false

/* One property: *EXEC_PROT is what executable file mappings get besides. */
static inline int arch_property(uint32_t type, const void *data, size_t size, int *exec_prot)
{
	(void)type;
	(void)data;
	(void)size;
	(void)exec_prot;
	return 0;
}

#endif
