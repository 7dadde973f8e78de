/*
 * lines.h - a file of /proc, line by line
 *
 * No allocation: the caller has the buffer. A line that does not fit is handed
 * out without its end, and says so.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The longest fields are two escaped paths; what is behind them may be cut. */
enum { LINES_SIZE = 20480 };

struct lines {
	int fd;
	bool ended, cut; /* CUT: of the line handed out the end is missing */
	size_t used, size;
	char buffer[LINES_SIZE];
};

/* Start with L->fd as it stands. */
void lines_init(struct lines *l);

/*
 * The next line and its length: 1; 0 at the end; -errno. LINE[LENGTH] may be
 * overwritten.
 */
long lines_next(struct lines *l, char **line, size_t *length);

#endif
