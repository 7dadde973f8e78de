#include <elf.h>
#include <errno.h>
#include <string.h>

#include "arch.h"
#include "property.h"

enum {
	PROPERTY_TYPE_0 = 5, /* NT_GNU_PROPERTY_TYPE_0 */
	NAME_SIZE = 4,       /* "GNU" */
	ALIGN = 8,
};

struct property {
	uint32_t type, size;
};

static int malformed(const char **why)
{
	*why = "ELF properties are malformed";
	return ENOEXEC;
}

static size_t aligned(size_t size)
{
	return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* parse_elf_property() in a loop: unique, sorted, inside [AT, END). */
static int read_properties(const unsigned char *at, size_t left, int *exec_prot, const char **why)
{
	uint32_t previous = 0;

	for (bool first = true; left; first = false) {
		struct property p;

		if (left < sizeof(p))
			return malformed(why);
		memcpy(&p, at, sizeof(p));
		at += sizeof(p);
		left -= sizeof(p);
		if (p.size > left || aligned(p.size) > left)
			return malformed(why);
		if (!first && p.type <= previous)
			return malformed(why);
		previous = p.type;
		if (arch_property(p.type, at, p.size, exec_prot))
			return malformed(why);
		at += aligned(p.size);
		left -= aligned(p.size);
	}
	return 0;
}

int property_read(const unsigned char *note, size_t size, int *exec_prot, const char **why)
{
	const size_t start = aligned(sizeof(Elf64_Nhdr) + NAME_SIZE);
	Elf64_Nhdr header;

	if (size > PROPERTY_MAX)
		return malformed(why);
	if (size < sizeof(header) + NAME_SIZE) {
		*why = "ELF properties are cut short";
		return EIO;
	}
	memcpy(&header, note, sizeof(header));
	if (header.n_type != PROPERTY_TYPE_0 || header.n_namesz != NAME_SIZE ||
	    memcmp(note + sizeof(header), "GNU", NAME_SIZE) != 0 || start > size ||
	    header.n_descsz > size - start)
		return malformed(why);
	return read_properties(note + start, header.n_descsz, exec_prot, why);
}
