#include <elf.h>
#include <errno.h>

#include "arch.h"
#include "sys.h"

extern const char image_start[] __attribute__((visibility("hidden")));
/* start.S: where r2 has been set. */
extern const char arch_start_with_toc[] __attribute__((visibility("hidden")));
extern const char _start[] __attribute__((visibility("hidden")));

/* Of _start, in a copy that is ELFv1. */
static const uint64_t descriptor[2];

static uint64_t own_toc(void)
{
	uint64_t toc;

	__asm__("mr %0, 2" : "=r"(toc));
	return toc;
}

bool arch_is_abi(unsigned int flags)
{
	const Elf64_Ehdr *own = (const Elf64_Ehdr *)image_start;

	return arch_has_descriptors(own->e_flags) == arch_has_descriptors(flags);
}

long arch_set_abi(int fd, unsigned int flags)
{
	Elf64_Ehdr header = *(const Elf64_Ehdr *)image_start;
	const uint64_t code[2] = { (uint64_t)arch_start_with_toc, own_toc() };
	long r;

	header.e_flags = flags & 3;
	header.e_entry =
		(uint64_t)(arch_has_descriptors(flags) ? (const void *)descriptor : _start);
	r = sys_pwrite(fd, &header, sizeof(header), 0);
	if (r == sizeof(header))
		r = sys_pwrite(fd, code, sizeof(code),
			       (uint64_t)descriptor - (uint64_t)image_start);
	return r == sizeof(code) ? 0 : r < 0 ? r : -ENOSPC;
}
