/*
 * elfgen.h - crafted ELF files and scripts, by name
 *
 * Each case is a small valid program (it checks its data and bss, writes
 * "ok" and exits with 0) with a few bytes changed. The functions are pure but
 * for elfgen_write(); link elfgen.c without elfgen-main.c to use them.
 */
#ifndef ELFGEN_H
#define ELFGEN_H

#include <stdbool.h>
#include <stddef.h>

enum { ELFGEN_MAX = 1 << 20 }; /* no image is larger */

enum elfgen_kind {
	ELFGEN_ELF,    /* the program is an ELF file, or garbage like one */
	ELFGEN_SCRIPT, /* begins, or nearly, with #! */
	ELFGEN_TEXT,   /* text that execvp(3) gives to a shell */
};

size_t elfgen_count(void);
const char *elfgen_name(size_t i);
enum elfgen_kind elfgen_kind_of(size_t i);

/* Does case I come with an interpreter of its own, next to the program? */
bool elfgen_has_interp(size_t i);

/*
 * Build case I's program, which names INTERP as its interpreter, or the
 * interpreter. BUFFER has ELFGEN_MAX bytes. Returns the size of the file.
 */
size_t elfgen_program(size_t i, const char *interp, unsigned char *buffer);
size_t elfgen_interp(size_t i, unsigned char *buffer);

/*
 * Write case I to PATH, and what it needs to PATH.interp and so on. Sparse
 * files stay sparse. Returns 0, or -1 with errno set.
 */
int elfgen_write(size_t i, const char *path);

#endif
