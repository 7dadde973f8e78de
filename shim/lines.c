#include "lines.h"

#include <string.h>

#include "sys.h"

static void drop_line(struct lines *l, size_t length)
{
	l->used += length;
	if (l->used == l->size)
		l->used = l->size = 0;
}

/* Read on; with a full buffer, forget what is in it but for its first half. */
__attribute__((cold)) static long fill(struct lines *l)
{
	long n;

	if (l->used) {
		memmove(l->buffer, l->buffer + l->used, l->size - l->used);
		l->size -= l->used;
		l->used = 0;
	}
	if (l->size == LINES_SIZE) {
		l->size = LINES_SIZE / 2;
		l->cut = true;
	}
	n = sys_read(l->fd, l->buffer + l->size, LINES_SIZE - l->size);
	if (n > 0)
		l->size += (size_t)n;
	else if (!n)
		l->ended = true;
	return n < 0 ? n : 0;
}

__attribute__((cold)) long lines_next(struct lines *l, char **line, size_t *length)
{
	l->cut = false;
	for (;;) {
		char *start = l->buffer + l->used;
		char *end = memchr(start, '\n', l->size - l->used);
		long r;

		if (end || (l->ended && l->size > l->used)) {
			*line = start;
			*length = end ? (size_t)(end - start) : l->size - l->used;
			if (!end && l->size == LINES_SIZE)
				--*length; /* room for a terminator */
			drop_line(l, *length + (end != NULL));
			return 1;
		}
		if (l->ended)
			return 0;
		r = fill(l);
		if (r)
			return r;
	}
}

__attribute__((cold)) void lines_init(struct lines *l)
{
	l->ended = l->cut = false;
	l->used = l->size = 0;
}
