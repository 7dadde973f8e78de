/*
 * follow_parts.h - what the supervisor's modules share
 *
 * For shim/follow_*.c only. A process has one struct supervisor: the one
 * outside the tree, and each helper that took other ids to do the same work
 * for processes that have those.
 */
#ifndef FOLLOW_PARTS_H
#define FOLLOW_PARTS_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "cgroup.h"
#include "follow_supervise.h"
#include "trace_edit.h"

enum {
	SLOTS = 96,   /* execs at a time; more wait in the kernel */
	HELD = 512,   /* threads attached to from a change of ids on */
	MARKS = 32,   /* masks of nested --follow */
	HELPERS = 16, /* pairs of uid and gid */
	STATUS_SIZE = 3072,
};

enum slot_state {
	FREE,
	QUEUED,    /* another thread of its process is in an exec */
	EXECUTING, /* the call goes on; an interrupt is pending */
	EDITING,   /* the injected call goes on */
	LEAVING,   /* attached to by mistake: detach at its next stop */
};

struct slot {
	enum slot_state state;
	int tid, tgid;
	bool alone; /* its process has no other threads */
	struct seccomp_notif notif;
	struct trace_edit edit;
	struct edit_state e;
};

struct helper {
	unsigned int uid, gid;
	int channel;
};

struct supervisor {
	const struct follow *follow;
	const char *cgroup_root; /* absolute, in ROOT; or NULL */
	struct edit_context context;
	int listener, signals;
	int channel;        /* a helper's, on which its work comes; else -1 */
	bool may_trace_all; /* CAP_SYS_PTRACE */
	bool holds;         /* and so attaches before ids change */
	unsigned int active, marks, helpers, held;
	struct slot slot[SLOTS];
	struct trace_edit mark[MARKS];
	struct helper helper[HELPERS];
	int held_tid[HELD];
	char root[CGROUP_PATH_MAX];
};

/* Work for a helper. */
struct follow_work {
	struct seccomp_notif notif;
	struct trace_edit edit;
};

/* /proc/TID/status, and the number after NAME, the start of a line of it. */
bool follow_read_status(const struct supervisor *s, int tid, char to[STATUS_SIZE]);
const char *follow_status_line(const char *status, const char *name);
uint64_t follow_number(const char **at);

/* Which of the calls that are notified of, and where its path is. */
bool follow_is_exec(const struct seccomp_data *data, bool *at);

/* One line on the caller's stderr, if it can be had without waiting. */
void follow_complain(const struct slot *slot, const char *text);

/* Add the mark that came down from a nested --follow. */
void follow_add_mark(const struct supervisor *s, struct slot *slot);

/* Before we leave the tree: what --cgroup-root means there. 0 or an errno. */
int follow_keep_root(struct supervisor *s);

/* Add what the cgroup of the slot's caller hides now. 0, or -1 with D filled. */
int follow_add_cgroup(struct diag *d, const struct supervisor *s, struct slot *slot);

/* Add the note that came with the call. False if there is one out of reach. */
bool follow_add_note(struct slot *slot);

/* Does the call execute nothing? Then answer it: a number, or -errno. */
bool follow_is_question(const struct seccomp_data *data);
long follow_reply(struct supervisor *s, const struct seccomp_notif *n);

/* NULL, or why what the slot executes cannot be masked. */
const char *follow_check(const struct supervisor *s, const struct slot *slot);

/* ENOENT or ENOTDIR if there is no such file, else 0. */
int follow_is_missing(const struct supervisor *s, const struct slot *slot);

/* A helper with the ids of the slot's caller got it to do. */
bool follow_delegate(struct supervisor *s, const struct slot *slot);

/* Attach to a thread that is about to change its ids, until it executes. */
void follow_hold(struct supervisor *s, int tid);
bool follow_holds(const struct supervisor *s, int tid);
void follow_unhold(struct supervisor *s, int tid);
void follow_held_stopped(struct supervisor *s, int tid, int status);

__attribute__((noreturn)) void follow_loop(struct supervisor *s);

#endif
