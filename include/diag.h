/*
 * diag.h - one failure, on its way to the one place that prints
 *
 * A function that can fail takes a struct diag, fills it once and returns -1.
 * Only main() prints it: "hwcap-exec: TEXT\n", then exits with the status.
 */
#ifndef DIAG_H
#define DIAG_H

#include "text.h"

enum {
	EXIT_FAILED = 125,     /* hwcap-exec itself failed or was misused */
	EXIT_CANNOT_RUN = 126, /* the program was found but cannot be run */
	EXIT_NOT_FOUND = 127,  /* the program was not found */
};

struct diag {
	int status; /* exit status; 0 while nothing has failed */
	int error;  /* errno value behind it, 0 if none */
	char text[640];
};

/*
 * Record a failure. Returns -1 always, so that callers can return it. ERROR
 * adds nothing to the text. D->text may be an argument.
 */
int diag(struct diag *d, int status, int error, const char *format, ...)
	__attribute__((cold, format(printf, 4, 5)));

#endif
