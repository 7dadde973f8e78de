/*
 * load.h - the loader engine: this process becomes the target
 *
 * Plans everything, maps it, and only then gives up what is ours. Until
 * then any failure is reported and the process can exit; after, it dies of
 * SIGKILL, as in execve(2).
 */
#ifndef LOAD_H
#define LOAD_H

#include "map.h"
#include "program.h"
#include "stack.h"

struct load;

struct load_request {
	const struct start *start;
	struct program *program; /* opened; its descriptor is taken over */
	unsigned long skip;      /* of our argv: what belongs to us, and argv[0] */
	struct hwcaps hide;
	bool no_vdso;
	bool need_link; /* LOAD_NO_LINK, if /proc/self/exe cannot be the target's */
	/* Called instead of the commit with the plan made, for --dry-run. */
	int (*report)(struct diag *d, const struct load *load, void *to);
	void *report_to;
};

struct load {
	const struct load_request *request;
	struct arch_space space;
	struct image program;
	struct image *interp; /* NULL while it is not opened */
	bool has_interp;
	const char *late; /* what is wrong with the program's segments, which
			   * counts once the interp has been looked at */
};

enum {
	LOAD_NO_LINK = 1,
	LOAD_OTHER_ABI = 2, /* this process was executed as one of another ABI */
};

/*
 * Does not return if all is well, unless REPORT is set: then as it returns.
 * After LOAD_OTHER_ABI nothing has happened yet. After LOAD_NO_LINK the process can still do something else, but images may
 * be mapped: it should end in an exec.
 */
int load_run(struct diag *d, const struct load_request *request);

#endif
