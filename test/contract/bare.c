/* bare.c - the functions that a compiler may call although there is no libc */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

void *memcpy(void *to, const void *from, size_t n)
{
	volatile char *t = to;
	const char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int c, size_t n)
{
	volatile char *t = to;

	while (n--)
		*t++ = (char)c;
	return to;
}
