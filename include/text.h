/*
 * text.h - bounded text without a libc behind it
 *
 * hwcap-exec runs without libc start-up: no stdio, no errno, no locale. This
 * module builds the few lines it prints. Nothing here allocates, and an
 * overlong text is cut, never overrun. What comes of an argument can neither
 * break a line nor drive a terminal.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct text {
	char *at;      /* caller's buffer, always NUL-terminated */
	size_t size;   /* bytes in it */
	size_t length; /* bytes used, without the NUL */
};

void text_init(struct text *t, char *buffer, size_t size);

/*
 * Append by FORMAT: %s (NULL prints "(null)"), %.*s, %.20s, %d and %u (int), %lu,
 * %ld (long), %lx and %#lx (unsigned long, lower case), %016lx, %c, %%.
 * Anything else is a programming error and is copied as it stands. Control
 * bytes of a string become \ooo (octal), which counts against its precision.
 */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(struct text *t, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Append S as it is: for names of files to open. */
void text_add_raw(struct text *t, const char *s);

/* The kernel's words for a (positive) errno, "error N" where unknown. */
const char *errno_text(int error, char buffer[static 16]);

#endif
