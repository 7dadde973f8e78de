/*
 * property.h - the properties of an ELF file that execve acts on
 *
 * A pure function over the bytes of PT_GNU_PROPERTY, with the rules of
 * fs/binfmt_elf.c:parse_elf_properties().
 */
#ifndef PROPERTY_H
#define PROPERTY_H

#include <stddef.h>

enum { PROPERTY_MAX = 1024 }; /* bytes that execve takes */

/*
 * Read NOTE (SIZE bytes, aligned for a Elf64_Nhdr). Sets *EXEC_PROT to what
 * the architecture adds to the protection of executable mappings. Returns 0,
 * or EIO or ENOEXEC with *WHY a static string.
 */
int property_read(const unsigned char *note, size_t size, int *exec_prot, const char **why);

#endif
