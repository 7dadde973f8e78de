/*
 * follow_supervise.h - the supervisor of --follow, and what it is told
 *
 * Runs in a process of its own, outside the tree it serves: no signal but
 * SIGKILL ends it, no descriptor of the tree is held open. One loop over
 * notifications and stops; nothing in it waits for one process alone.
 */
#ifndef FOLLOW_SUPERVISE_H
#define FOLLOW_SUPERVISE_H

#include "follow.h"

/*
 * Two uses of an exec's fourth argument, which execve(2) ignores.
 *
 * With a path, FOLLOW_NOTE: the fifth is the address of a struct follow_note,
 * to be added to the mask for this exec.
 *
 * Without one, nothing is executed. FOLLOW_QUERY is answered with 1 where
 * there is a supervisor. FOLLOW_JOIN and its flags (those below and of
 * trace_edit.cgroup) are answered with the value that FOLLOW_MARK_LIMIT is to
 * be set to: who inherits that has more hidden, the words that are the other
 * four arguments. No memory has to be read for it, which the supervisor may not
 * be permitted to.
 */
#define FOLLOW_NOTE  0x6877636170666f00UL
#define FOLLOW_QUERY 0x6877636170666f10UL
#define FOLLOW_JOIN  0x6877636170666f20UL
#define FOLLOW_MARK  0x6877636100000000L

enum {
	FOLLOW_BY_NAME = 1,
	FOLLOW_NO_VDSO = 2,
	FOLLOW_CGROUP_FLAGS = FOLLOW_CGROUP | FOLLOW_INSIST | FOLLOW_CLOSE,
	FOLLOW_FLAGS = FOLLOW_BY_NAME | FOLLOW_NO_VDSO | FOLLOW_CGROUP_FLAGS,
	/* RLIMIT_LOCKS: inherited, and without any effect since Linux 2.4. */
	FOLLOW_MARK_LIMIT = 10,
};

struct follow_note {
	uint64_t magic, flags;
	struct hwcaps hide;
};

/* From the supervisor to who started it, once it is ready. */
struct supervise_hello {
	int error; /* 0, or why it cannot serve */
};

/*
 * Become the supervisor of process TARGET. CHANNEL is a socket: a hello goes
 * out, the filter's listener comes in, an empty message confirms.
 */
__attribute__((noreturn)) void supervise(const struct follow *f, uint64_t vdso, int target,
					 int channel);

/* linux/capability.h */
enum { CAP_SETUID = 7, CAP_SYS_PTRACE = 19 };

bool follow_has_capability(unsigned int capability);
bool follow_needs_setid(void);

/* One descriptor and DATA over a socket. FD -1: none. */
long channel_send(int channel, const void *data, size_t size, int fd);
long channel_receive(int channel, void *data, size_t size, int *fd);

#endif
