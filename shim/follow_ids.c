#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "follow_parts.h"
#include "sys.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
#ifndef PTRACE_LISTEN
#define PTRACE_LISTEN 0x4208
#endif

/*
 * Without CAP_SYS_PTRACE only a process of our own ids can be attached to, and
 * only while it has not changed them since its last exec (commit_creds() takes
 * the right to be dumped away). So: attach before they change, stay until it
 * executes; and what that starts is done by a helper that took the same ids.
 */

enum {
	GROUPS = 64,
	HOLD_OPTIONS = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL,
};

struct ids {
	unsigned int uid, gid, count;
	uint32_t group[GROUPS];
};

/* ---- threads held ---------------------------------------------------------- */

bool follow_holds(const struct supervisor *s, int tid)
{
	for (unsigned int i = 0; i < s->held; i++)
		if (s->held_tid[i] == tid)
			return true;
	return false;
}

void follow_unhold(struct supervisor *s, int tid)
{
	for (unsigned int i = 0; i < s->held; i++)
		if (s->held_tid[i] == tid)
			s->held_tid[i--] = s->held_tid[--s->held];
}

static void hold(struct supervisor *s, int tid)
{
	if (s->held < HELD && !follow_holds(s, tid))
		s->held_tid[s->held++] = tid;
}

void follow_hold(struct supervisor *s, int tid)
{
	if (tid && !follow_holds(s, tid) && s->held < HELD &&
	    !sys_ptrace(PTRACE_SEIZE, tid, 0, HOLD_OPTIONS))
		hold(s, tid);
}

/* It runs as if it were not: signals and job control pass. */
void follow_held_stopped(struct supervisor *s, int tid, int status)
{
	const int event = status >> 16;
	unsigned long child = 0;
	long how = PTRACE_CONT;

	if (!s->holds) {
		sys_ptrace(PTRACE_DETACH, tid, 0, 0);
		return;
	}
	hold(s, tid); /* a child may stop before its parent does */
	if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
		how = PTRACE_LISTEN;
	else if (event && event != PTRACE_EVENT_STOP &&
		 !sys_ptrace(PTRACE_GETEVENTMSG, tid, 0, (unsigned long)&child))
		hold(s, (int)child);
	sys_ptrace(how, tid, 0, event ? 0 : (unsigned long)WSTOPSIG(status));
}

/* ---- helpers --------------------------------------------------------------- */

/* The ids of TID, if they are those of one user throughout. */
static bool read_ids(const struct supervisor *s, int tid, struct ids *ids)
{
	char status[STATUS_SIZE];
	const char *uid, *gid, *groups;

	if (!follow_read_status(s, tid, status))
		return false;
	uid = follow_status_line(status, "Uid:");
	gid = follow_status_line(status, "Gid:");
	groups = follow_status_line(status, "Groups:");
	if (!uid || !gid || !groups)
		return false;
	ids->uid = (unsigned int)follow_number(&uid);
	ids->gid = (unsigned int)follow_number(&gid);
	for (int i = 0; i < 2; i++)
		if (follow_number(&uid) != ids->uid || follow_number(&gid) != ids->gid)
			return false;
	for (ids->count = 0; ids->count < GROUPS; ids->count++) {
		while (*groups == ' ' || *groups == '\t')
			groups++;
		if (*groups < '0' || *groups > '9')
			break;
		ids->group[ids->count] = (uint32_t)follow_number(&groups);
	}
	return true;
}

static bool take_ids(const struct ids *ids)
{
	sys_prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	return !arch_syscall(SYS_setgroups, ids->count, (long)ids->group, 0, 0, 0, 0) &&
	       !arch_syscall(SYS_setresgid, ids->gid, ids->gid, ids->gid, 0, 0, 0) &&
	       !arch_syscall(SYS_setresuid, ids->uid, ids->uid, ids->uid, 0, 0, 0);
}

__attribute__((noreturn)) static void help(struct supervisor *s, const struct ids *ids, int channel)
{
	for (unsigned int i = 0; i < s->helpers; i++)
		sys_close(s->helper[i].channel);
	/* The tracees are not ours. */
	memset(s->slot, 0, sizeof(s->slot));
	s->active = s->helpers = s->held = 0;
	s->channel = channel;
	s->holds = false;
	if (!take_ids(ids))
		sys_exit(1);
	follow_loop(s);
}

static struct helper *spawn(struct supervisor *s, const struct ids *ids)
{
	struct helper *h = &s->helper[s->helpers];
	int fds[2];
	long r;

	if (s->helpers == HELPERS || sys_socketpair(SOCK_SEQPACKET | SOCK_CLOEXEC, fds))
		return NULL;
	r = sys_fork(0);
	if (r == 0) {
		sys_close(fds[0]);
		help(s, ids, fds[1]);
	}
	sys_close(fds[1]);
	if (r < 0) {
		sys_close(fds[0]);
		return NULL;
	}
	*h = (struct helper){ .uid = ids->uid, .gid = ids->gid, .channel = fds[0] };
	s->helpers++;
	return h;
}

bool follow_delegate(struct supervisor *s, const struct slot *slot)
{
	struct follow_work work = { .notif = slot->notif, .edit = slot->edit };
	struct helper *h = NULL;
	struct ids ids;

	if (!s->holds || !read_ids(s, slot->tid, &ids))
		return false;
	for (unsigned int i = 0; i < s->helpers; i++)
		if (s->helper[i].uid == ids.uid && s->helper[i].gid == ids.gid)
			h = &s->helper[i];
	if (!h)
		h = spawn(s, &ids);
	/* One that died takes nothing any more. */
	return h && sys_sendto(h->channel, &work, sizeof(work), MSG_NOSIGNAL) == (long)sizeof(work);
}
