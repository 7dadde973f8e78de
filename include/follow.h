/*
 * follow.h - descendants stay masked, too
 *
 * A seccomp filter on this process, inherited by all it starts, sends every
 * exec to a supervisor outside of the tree. The supervisor attaches to the
 * caller for the length of that exec, lets it happen and edits the vector as
 * the trace engine does. It ends with the last process that has the filter.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "start.h"
#include "trace.h"

enum follow_mode { FOLLOW_NO, FOLLOW_MUST, FOLLOW_TRY };

/* trace_edit.cgroup: what the cgroup of who executes hides is hidden, too. */
enum {
	FOLLOW_CGROUP = 4,
	FOLLOW_INSIST = 8, /* none that can be read is an error */
	FOLLOW_CLOSE = 16, /* with what any mask hides as well: no --exact */
};

struct follow {
	struct trace_edit edit;  /* for every exec of the tree */
	enum follow_mode mode;   /* FOLLOW_TRY: what cannot be masked runs */
	struct hwcaps now;       /* EDIT's and our own cgroup's, as it is now */
	const char *cgroup_root; /* --cgroup-root; NULL: what is mounted */
};

/*
 * Start the supervisor and install the filter: from here on every exec of
 * this process is masked. Under another supervisor of ours there is nothing
 * to start: it is told the mask instead.
 */
int follow_start(struct diag *d, const struct start *s, const struct follow *f);

/* Is there a supervisor already? Then an exec can carry a mask to it. */
bool follow_supervised(void);

/* Ask it to hide EDIT's bits from all that comes of this process. */
int follow_join(struct diag *d, const struct trace_edit *edit);

/*
 * execve(2) that hands EDIT's mask to the supervisor there is, for this exec.
 * Returns a negative errno.
 */
long follow_exec(const char *path, char *const *argv, char *const *envp,
		 const struct trace_edit *edit);

#endif
