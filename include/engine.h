/*
 * engine.h - which engine runs a program, and the start of it
 *
 * The loader, where /proc/self/exe can be set and no security module has to
 * see the program; else a tracer; where there can be none, the loader in a
 * copy of ourselves that carries target and mask, so that a program which
 * executes itself through /proc/self/exe runs masked again. hwcap-exec(1),
 * ENGINES, has the table.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "options.h"
#include "program.h"
#include "start.h"

struct engine_request {
	const struct start *start;
	const struct options *options;
	struct program *program; /* opened */
	const char *file;        /* its path; the program's may be /bin/sh's */
	struct hwcaps hide;
	struct hwcaps fixed; /* of it, without what the cgroup hides now: */
	unsigned int cgroup; /* how --follow adds that to FIXED at each exec */
	bool by_name;        /* a feature's name is among what made it */
	bool set_id;         /* a native exec would change credentials */
};

/* Set R->set_id. Returns 0, or -1 with D filled where no engine could do that. */
int engine_check(struct diag *d, struct engine_request *r);

/* Returns only on failure (-1 with D filled), or after a dry run (0). */
int engine_run(struct diag *d, const struct engine_request *r);

struct load_request;

/*
 * Run what REQUEST says, with its arguments at ARGV, in a copy of ourselves
 * that the kernel takes for a program of its ABI. Only failures return.
 */
int engine_run_abi(struct diag *d, const struct load_request *request, char **argv);

/* Does our own stamp say what to run? Then run it; only failures return. */
bool engine_is_stamped(void);
int engine_run_stamp(struct diag *d, const struct start *s, struct program *p);

#endif
