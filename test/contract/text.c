/* text.c - the probe's output buffer and the few string functions it needs */
#include "probe.h"

static char out[384 * 1024];
static size_t used;

void out_char(char c)
{
	if (used < sizeof(out))
		out[used++] = c;
}

void out_text(const char *s)
{
	while (*s)
		out_char(*s++);
}

void out_hex(unsigned long v)
{
	int shift = 60;

	out_text("0x");
	while (shift && !(v >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		out_char("0123456789abcdef"[v >> shift & 15]);
}

void out_dec(long v)
{
	char digits[24];
	int n = 0;
	unsigned long u = v < 0 ? -(unsigned long)v : (unsigned long)v;

	if (v < 0)
		out_char('-');
	do
		digits[n++] = (char)('0' + u % 10);
	while (u /= 10);
	while (n)
		out_char(digits[--n]);
}

void out_bytes(const char *s, size_t n)
{
	for (; n--; s++) {
		if (*s > ' ' && *s < 127 && *s != '\\') {
			out_char(*s);
			continue;
		}
		out_char('\\');
		out_char("0123456789abcdef"[(*s & 0xff) >> 4]);
		out_char("0123456789abcdef"[*s & 15]);
	}
}

void key(int row, const char *name)
{
	out_dec(row);
	out_char(' ');
	out_text(name);
	out_char(' ');
}

void key_n(int row, const char *name, unsigned long n)
{
	out_dec(row);
	out_char(' ');
	out_text(name);
	out_char('.');
	out_dec((long)n);
	out_char(' ');
}

void end(void)
{
	out_char('\n');
}

void line_hex(int row, const char *name, unsigned long v)
{
	key(row, name);
	out_hex(v);
	end();
}

void line_dec(int row, const char *name, long v)
{
	key(row, name);
	out_dec(v);
	end();
}

void line_text(int row, const char *name, const char *v)
{
	key(row, name);
	out_bytes(v, length(v));
	end();
}

int out_flush(int fd)
{
	size_t done = 0;

	while (done < used) {
		long n = SC(SYS_write, fd, out + done, used - done);

		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return used < sizeof(out) ? 0 : -1;
}

size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int starts(const char *s, const char *prefix)
{
	while (*prefix) {
		if (*s++ != *prefix++)
			return 0;
	}
	return 1;
}

unsigned long number(const char **s, unsigned base)
{
	unsigned long v = 0;

	for (;; (*s)++) {
		unsigned char c = (unsigned char)**s;
		unsigned d = c >= '0' && c <= '9' ? c - '0' + 0u :
			     c >= 'a' && c <= 'f' ? c - 'a' + 10u :
						    99;

		if (d >= base)
			return v;
		v = v * base + d;
	}
}

/* Read a file of /proc whole and terminate it; the length, or -errno. */
long slurp(const char *path, char *buffer, size_t size)
{
	long fd = SC4(SYS_openat, -100, path, 0, 0);
	size_t n = 0;
	long got = 1;

	if (fd < 0)
		return fd;
	while (got > 0 && n < size - 1) {
		got = SC(SYS_read, fd, buffer + n, size - 1 - n);
		if (got > 0)
			n += (size_t)got;
	}
	SC(SYS_close, fd, 0, 0);
	buffer[n] = 0;
	return got < 0 ? got : (long)n;
}
