#include "text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

void text_init(struct text *t, char *buffer, size_t size)
{
	t->at = buffer;
	t->size = size;
	t->length = 0;
	if (size)
		buffer[0] = '\0';
}

static void put(struct text *t, const char *s, size_t n)
{
	size_t room = t->size > t->length ? t->size - t->length : 0;

	if (!room)
		return;
	if (n > room - 1)
		n = room - 1;
	memcpy(t->at + t->length, s, n);
	t->length += n;
	t->at[t->length] = '\0';
}

/* WIDTH: digits at least, filled with zeros. */
static void put_number(struct text *t, unsigned long v, unsigned int base, int width)
{
	char digits[24];
	size_t n = sizeof(digits);

	do {
		digits[--n] = "0123456789abcdef"[v % base];
		v /= base;
		width--;
	} while ((v || width > 0) && n);
	put(t, digits + n, sizeof(digits) - n);
}

static void put_signed(struct text *t, long v)
{
	unsigned long u = (unsigned long)v;

	if (v < 0) {
		put(t, "-", 1);
		u = 0 - u;
	}
	put_number(t, u, 10, 0);
}

void text_add_raw(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

/* An argument need not end in NUL before LIMIT. What would go beyond LIMIT with
 * its control bytes written out is cut, between bytes.
 */
static void put_visible(struct text *t, const char *s, size_t limit)
{
	char octal[] = "\\000";

	s = s ? s : "(null)";
	for (size_t n, used = 0; used < limit && *s; s += n) {
		for (n = 0; n < limit - used && (unsigned char)s[n] >= ' ' && s[n] != 0x7f;)
			n++;
		put(t, s, n);
		used += n;
		if (n)
			continue;
		used += 4;
		if (used > limit)
			break;
		octal[1] = (char)('0' + (*s >> 6));
		octal[2] = (char)('0' + (*s >> 3 & 7));
		octal[3] = (char)('0' + (*s & 7));
		put(t, octal, 4);
		n = 1;
	}
}

/* "*" or digits; returns what follows. */
static const char *precision(const char *f, va_list *ap, int *n)
{
	if (*f == '*') {
		*n = va_arg(*ap, int);
		return f + 1;
	}
	for (*n = 0; *f >= '0' && *f <= '9'; f++)
		*n = *n * 10 + *f - '0';
	return f;
}

/* One conversion that starts after its '%'. Returns what follows it. */
static const char *convert(struct text *t, const char *f, va_list *ap)
{
	int n;

	if (f[0] == '.') {
		f = precision(f + 1, ap, &n);
		if (*f != 's')
			return NULL;
		put_visible(t, va_arg(*ap, const char *), n < 0 ? SIZE_MAX : (size_t)n);
		return f + 1;
	}
	if (!strncmp(f, "016lx", 5)) {
		put_number(t, va_arg(*ap, unsigned long), 16, 16);
		return f + 5;
	}
	if (!strncmp(f, "#lx", 3)) {
		unsigned long v = va_arg(*ap, unsigned long);

		/* printf(3): no prefix on zero. */
		if (v)
			put(t, "0x", 2);
		put_number(t, v, 16, 0);
		return f + 3;
	}
	if (f[0] == 'l' && f[1] == 'x')
		put_number(t, va_arg(*ap, unsigned long), 16, 0);
	else if (f[0] == 'l' && f[1] == 'u')
		put_number(t, va_arg(*ap, unsigned long), 10, 0);
	else if (f[0] == 'l' && f[1] == 'd')
		put_signed(t, va_arg(*ap, long));
	else
		return NULL;
	return f + 2;
}

static const char *convert_short(struct text *t, const char *f, va_list *ap)
{
	char c;

	switch (*f) {
	case 's': put_visible(t, va_arg(*ap, const char *), SIZE_MAX); return f + 1;
	case 'd': put_signed(t, va_arg(*ap, int)); return f + 1;
	case 'u': put_number(t, va_arg(*ap, unsigned int), 10, 0); return f + 1;
	case 'c':
		c = (char)va_arg(*ap, int);
		put(t, &c, 1);
		return f + 1;
	case '%': put(t, "%", 1); return f + 1;
	default: return NULL;
	}
}

void text_vadd(struct text *t, const char *format, va_list ap)
{
	const char *next;
	va_list args;

	/* A va_list parameter may be an array: only a copy has an address. */
	va_copy(args, ap);
	while (*format) {
		size_t n = 0;

		while (format[n] && format[n] != '%')
			n++;
		put(t, format, n);
		format += n;
		if (!*format)
			break;
		next = convert_short(t, format + 1, &args);
		if (!next)
			next = convert(t, format + 1, &args);
		if (!next) {
			put(t, "%", 1);
			next = format + 1;
		}
		format = next;
	}
	va_end(args);
}

void text_add(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	text_vadd(t, format, ap);
	va_end(ap);
}

/* Char arrays, not pointers: the table must not need relocation. */
static const struct {
	uint8_t error;
	char text[47];
} errors[] = {
	{ EPERM, "Operation not permitted" },
	{ ENOENT, "No such file or directory" },
	{ ESRCH, "No such process" },
	{ EINTR, "Interrupted system call" },
	{ EIO, "Input/output error" },
	{ ENXIO, "No such device or address" },
	{ E2BIG, "Argument list too long" },
	{ ENOEXEC, "Exec format error" },
	{ EBADF, "Bad file descriptor" },
	{ ECHILD, "No child processes" },
	{ EAGAIN, "Resource temporarily unavailable" },
	{ ENOMEM, "Cannot allocate memory" },
	{ EACCES, "Permission denied" },
	{ EFAULT, "Bad address" },
	{ EBUSY, "Device or resource busy" },
	{ EEXIST, "File exists" },
	{ ENODEV, "No such device" },
	{ ENOTDIR, "Not a directory" },
	{ EISDIR, "Is a directory" },
	{ EINVAL, "Invalid argument" },
	{ ENFILE, "Too many open files in system" },
	{ EMFILE, "Too many open files" },
	{ ETXTBSY, "Text file busy" },
	{ EFBIG, "File too large" },
	{ ENOSPC, "No space left on device" },
	{ EROFS, "Read-only file system" },
	{ EPIPE, "Broken pipe" },
	{ ERANGE, "Numerical result out of range" },
	{ ENAMETOOLONG, "File name too long" },
	{ ENOSYS, "Function not implemented" },
	{ ELOOP, "Too many levels of symbolic links" },
	{ ENODATA, "No data available" },
	{ EOVERFLOW, "Value too large for defined data type" },
	{ ELIBBAD, "Accessing a corrupted shared library" },
	{ EOPNOTSUPP, "Operation not supported" },
	{ ESTALE, "Stale file handle" },
};

const char *errno_text(int error, char buffer[static 16])
{
	struct text t;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return errors[i].text;
	text_init(&t, buffer, 16);
	text_add(&t, "error %d", error);
	return buffer;
}
