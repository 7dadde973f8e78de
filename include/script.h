/*
 * script.h - the `#!` line
 *
 * A pure function over the first bytes of a file, with the rules of
 * fs/binfmt_script.c:load_script().
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

/* include/uapi/linux/binfmts.h: BINPRM_BUF_SIZE; and fs/exec.c: five rewrites. */
enum { SCRIPT_LINE = 256, SCRIPT_LEVELS = 5 };

struct script {
	char *interpreter;
	char *argument; /* NULL if there is none */
};

static inline bool is_script(const void *bytes, size_t size)
{
	const char *b = bytes;

	return size >= 2 && b[0] == '#' && b[1] == '!';
}

/*
 * Split LINE (SCRIPT_LINE bytes, zero-filled past the end of the file), which
 * starts with `#!`, in place. Returns 0 or ENOEXEC.
 */
int script_parse(char line[SCRIPT_LINE], struct script *script);

/*
 * Would a shell take a file with these first bytes for text? True if there
 * is no NUL before the first newline and it is no ELF file.
 */
bool is_text(const void *bytes, size_t size);

#endif
