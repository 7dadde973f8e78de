/*
 * observe.h - run a program and note everything that the kernel knows of it
 *
 * The program runs as a traced child, in the root directory given, with the
 * limits of a mutant, for two seconds at most. Its memory map and the like
 * are read when it ends, of its own accord or by a signal. An engine that
 * traces the program itself has no use for a traced child: untraced, what can
 * be read is read while the program waits, having said "ok"; nothing of one
 * that does not get there.
 */
#ifndef OBSERVE_H
#define OBSERVE_H

#include <stdbool.h>

#include "mutant.h"

enum { OBSERVE_OUTPUT = 2048, OBSERVE_STATE = 16384 };

struct observation {
	int error;             /* of execve, 0 if it went through */
	int status;            /* as from waitpid */
	int execs;             /* that came back into the program */
	int signal;            /* the fault that ended it */
	unsigned int uid, gid; /* effective, at the end */
	uint64_t top;          /* end of the highest mapping that is the program's */
	uint64_t low[2];       /* the lowest mapping of program, interpreter; or 0 */
	uint64_t code[2], data[2], brk;
	char out[OBSERVE_OUTPUT], err[OBSERVE_OUTPUT];
	char state[OBSERVE_STATE]; /* one line per fact */
};

struct observe_how {
	char *const *wrapper; /* NULL-terminated words before the program's, or NULL */
	bool untraced;
	unsigned long hide; /* these bits of AT_HWCAP are noted as hidden */
	bool random;        /* the kernel randomises, whatever the personality */
};

void observe(const char *root, const struct mutant *m, const struct observe_how *how,
	     struct observation *o);

#endif
