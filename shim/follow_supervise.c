#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "follow_parts.h"
#include "sys.h"

#include "follow_filter.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
/* include/uapi/linux/seccomp.h, Linux 6.6 */
#define NOTIF_SET_FLAGS    _IOW('!', 4, uint64_t)
#define NOTIF_SYNC_WAKE_UP 1UL

enum { NOTIF_ROOM = 256 }; /* struct seccomp_notif may grow */

static struct slot *find_slot(struct supervisor *s, int tid)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (s->slot[i].state > QUEUED && s->slot[i].tid == tid)
			return &s->slot[i];
	return NULL;
}

static struct slot *free_slot(struct supervisor *s)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (s->slot[i].state == FREE)
			return &s->slot[i];
	return NULL;
}

static bool process_is_busy(const struct supervisor *s, int tgid)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (s->slot[i].state > QUEUED && s->slot[i].tgid == tgid)
			return true;
	return false;
}

static bool answer(const struct supervisor *s, uint64_t id, int64_t value, int error,
		   unsigned int flags)
{
	struct seccomp_notif_resp response = {
		.id = id, .val = value, .error = -error, .flags = flags
	};

	return sys_ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

/* Let it happen: what follows from it the slot waits for. */
static bool let_go_on(const struct supervisor *s, uint64_t id)
{
	return answer(s, id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

static void refuse(const struct supervisor *s, const struct slot *slot, const char *why)
{
	int error;

	if (s->follow->mode == FOLLOW_TRY) {
		let_go_on(s, slot->notif.id);
		return;
	}
	/* A search of PATH goes on; about what is not there it needs no telling. */
	error = follow_is_missing(s, slot);
	if (!error)
		follow_complain(slot, why);
	answer(s, slot->notif.id, 0, error ? error : EPERM, 0);
}

static void detach(int tid)
{
	sys_ptrace(PTRACE_DETACH, tid, 0, 0);
}

/*
 * Set the slot's process; 0 if it cannot be told, which is then one for all. A
 * process with one thread only, and that is what most are, is seen from its
 * directory's links (proc_task_getattr()).
 */
static void find_process(const struct supervisor *s, struct slot *slot)
{
	char text[STATUS_SIZE];
	struct statx st;
	struct text t;
	const char *line = NULL;

	text_init(&t, text, sizeof(text));
	text_add(&t, "%d/task", slot->tid);
	slot->alone = !sys_statx(s->context.proc, text, 0, STATX_NLINK, &st) && st.stx_nlink == 3;
	slot->tgid = slot->tid;
	if (slot->alone)
		return;
	if (follow_read_status(s, slot->tid, text))
		line = follow_status_line(text, "Tgid:");
	slot->tgid = line ? (int)follow_number(&line) : 0;
}

/* One process has one tracer, and not every process may be traced by us. */
static void denied(struct supervisor *s, struct slot *slot)
{
	char status[STATUS_SIZE];
	const char *line = NULL;

	if (follow_read_status(s, slot->tid, status))
		line = follow_status_line(status, "TracerPid:");
	if (line && follow_number(&line))
		refuse(s, slot,
		       "a program that is being traced cannot be masked; attach to it "
		       "once it runs (gdb -p, strace -p), or use --follow=try");
	else if (!follow_delegate(s, slot))
		refuse(s, slot,
		       "a program of another user, or one that may not be "
		       "dumped, cannot be masked");
}

/*
 * A pid that was free when we looked can be anybody's by now, and the thread
 * may have given up waiting; only an answer that is accepted proves that what
 * we attached to is who asked. So: attach, interrupt, then answer.
 */
static void begin(struct supervisor *s, struct slot *slot)
{
	/* Where there are other threads, the interrupt is lost as they are
	 * killed (zap_other_threads()); the exec event is not. */
	const unsigned long options = PTRACE_O_EXITKILL | (slot->alone ? 0 : PTRACE_O_TRACEEXEC);
	const bool held = follow_holds(s, slot->tid);
	long r = held ? 0 : sys_ptrace(PTRACE_SEIZE, slot->tid, 0, options);

	if (r) {
		slot->state = FREE;
		s->active--;
		if (r != -ESRCH)
			denied(s, slot);
		return;
	}
	sys_ptrace(PTRACE_INTERRUPT, slot->tid, 0, 0);
	slot->state = let_go_on(s, slot->notif.id) ? EXECUTING : LEAVING;
	/* From here on it executes, and what we do need not be waited for. */
	edit_prepare(&s->context, &slot->e, slot->tgid);
}

/*
 * One exec at a time in each process: the second thread's attach would wait
 * for the first one's exec, and that for us to notice that the second died
 * (cred_guard_mutex, fs/exec.c:de_thread()).
 */
static void release(struct supervisor *s, struct slot *slot)
{
	int tgid = slot->tgid;

	edit_close(&slot->e);
	slot->state = FREE;
	s->active--;
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct slot *next = &s->slot[i];

		if (next->state != QUEUED || next->tgid != tgid)
			continue;
		begin(s, next);
		if (next->state != FREE)
			return;
	}
}

static void handle_exec(struct supervisor *s, const struct seccomp_notif *n,
			const struct trace_edit *edit)
{
	struct slot *slot = free_slot(s);
	const char *why = NULL;
	struct diag d;

	slot->notif = *n;
	slot->tid = (int)n->pid;
	slot->tgid = 0;
	slot->edit = *edit;
	if (s->channel < 0)
		follow_add_mark(s, slot);
	if (!slot->tid)
		why = "a process in a pid namespace out of sight cannot be masked";
	else if (s->channel < 0 && follow_add_cgroup(&d, s, slot))
		why = d.text;
	else if (follow_add_note(slot))
		why = follow_check(s, slot);
	else if (follow_delegate(s, slot))
		return;
	else
		why = "the mask of a nested hwcap-exec cannot be read";
	if (why) {
		refuse(s, slot, why);
		return;
	}
	find_process(s, slot);
	edit_state_init(&slot->e);
	slot->state = QUEUED;
	if (!s->active++ || !process_is_busy(s, slot->tgid))
		begin(s, slot);
}

/* As for an exec: not while another thread is in one. */
static void hold(struct supervisor *s, int tid)
{
	struct slot slot = { .tid = tid };

	if (s->active)
		find_process(s, &slot);
	if (tid && (!s->active || !process_is_busy(s, slot.tgid)))
		follow_hold(s, tid);
}

static void handle(struct supervisor *s, const struct seccomp_notif *n)
{
	bool at;
	long r;

	if (!follow_is_exec(&n->data, &at)) {
		hold(s, (int)n->pid);
		let_go_on(s, n->id);
	} else if (follow_is_question(&n->data)) {
		r = follow_reply(s, n);
		answer(s, n->id, r < 0 ? 0 : r, r < 0 ? (int)-r : 0, 0);
	} else {
		handle_exec(s, n, &s->follow->edit);
	}
}

static void receive(struct supervisor *s)
{
	union {
		struct seccomp_notif notif;
		char room[NOTIF_ROOM];
	} n;
	struct follow_work work;

	if (s->channel >= 0) {
		if (sys_read(s->channel, &work, sizeof(work)) != (long)sizeof(work))
			sys_exit(0);
		handle_exec(s, &work.notif, &work.edit);
		return;
	}
	memset(&n, 0, sizeof(n));
	if (!sys_ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, &n))
		handle(s, &n.notif);
}

static void leave(struct supervisor *s, struct slot *slot)
{
	if (follow_holds(s, slot->tid))
		sys_ptrace(PTRACE_CONT, slot->tid, 0, 0);
	else
		detach(slot->tid);
	release(s, slot);
}

/* Past its point of no return and not to be masked: as execve, kill it. */
static void give_up(struct supervisor *s, struct slot *slot, const char *why)
{
	if (s->follow->mode != FOLLOW_TRY) {
		follow_complain(slot, why);
		sys_tgkill(slot->tid, slot->tid, SIGKILL);
	}
	leave(s, slot);
}

static void act_on(struct supervisor *s, struct slot *slot, enum edit_result r)
{
	switch (r) {
	case EDIT_RUNNING: slot->state = EDITING; break;
	case EDIT_DONE: leave(s, slot); break;
	case EDIT_GONE: /* its end is reported, too */ break;
	default: give_up(s, slot, edit_text(r)); break;
	}
}

static void executed(struct supervisor *s, struct slot *slot)
{
	struct edit_vector v;
	enum edit_result r;

	if (edit_get_regs(slot->tid, &slot->e.regs))
		return;
	if (arch_trace_result(&slot->e.regs)) { /* the exec failed */
		act_on(s, slot, EDIT_DONE);
		return;
	}
	follow_unhold(s, slot->tid);
	follow_unhold(s, (int)slot->notif.pid);
	r = edit_look(&s->context, &slot->e, slot->tid, &slot->edit, &v);
	if (r == EDIT_DONE && v.changed) {
		edit_read_map(&slot->e);
		r = edit_go(&slot->e, slot->tid, &v);
	}
	act_on(s, slot, r);
}

/* An exec by a thread that was not the leader ends as the leader. */
static void exec_event(struct supervisor *s, int tid)
{
	unsigned long former = (unsigned long)tid;
	struct slot *slot, *dead;

	sys_ptrace(PTRACE_GETEVENTMSG, tid, 0, (unsigned long)&former);
	slot = find_slot(s, (int)former);
	dead = find_slot(s, tid);
	if (slot && dead && dead != slot) { /* it vanished without a report */
		edit_close(&dead->e);
		dead->state = FREE;
		s->active--;
	}
	if (slot)
		slot->tid = tid;
	/* This stop has taken the interrupt away, if it was not lost before. */
	sys_ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	sys_ptrace(PTRACE_CONT, tid, 0, 0);
}

static void stopped(struct supervisor *s, struct slot *slot, int status)
{
	switch (slot->state) {
	case EXECUTING:
		if (status >> 16 == PTRACE_EVENT_STOP)
			executed(s, slot);
		else
			sys_ptrace(PTRACE_CONT, slot->tid, 0, (unsigned long)WSTOPSIG(status));
		break;
	case EDITING: act_on(s, slot, edit_step(&slot->e, slot->tid, status)); break;
	default:
		sys_ptrace(PTRACE_DETACH, slot->tid, 0,
			   status >> 16 ? 0 : (unsigned long)WSTOPSIG(status));
		release(s, slot);
		break;
	}
}

static void reap(struct supervisor *s)
{
	int status;

	for (;;) {
		int tid = (int)sys_wait4(-1, &status, WNOHANG | __WALL);
		struct slot *slot;

		if (tid <= 0)
			return;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) {
			exec_event(s, tid);
			continue;
		}
		slot = find_slot(s, tid);
		if (slot && WIFSTOPPED(status)) {
			stopped(s, slot, status);
			continue;
		}
		if (slot)
			release(s, slot);
		if (WIFSTOPPED(status))
			follow_held_stopped(s, tid, status);
		else
			follow_unhold(s, tid);
	}
}

__attribute__((noreturn)) void follow_loop(struct supervisor *s)
{
	const int source = s->channel >= 0 ? s->channel : s->listener;
	struct sys_pollfd fds[2] = { { s->signals, POLLIN, 0 }, { source, POLLIN, 0 } };
	char info[128]; /* struct signalfd_siginfo */

	for (;;) {
		fds[1].fd = s->active < SLOTS ? source : -1;
		if (sys_poll(fds, 2) < 0)
			continue;
		if (fds[0].revents) {
			/* The first round is what is waited for; the second is
			 * for what came before the read. */
			reap(s);
			sys_read(s->signals, info, sizeof(info));
			reap(s);
		}
		if (fds[1].revents & POLLIN)
			receive(s);
		else if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
			sys_exit(0);
	}
}

/* Nothing of the tree's is ours: no descriptor, directory, session, signal. */
static int leave_tree(struct supervisor *s, int channel)
{
	const uint64_t all = ~0UL, child = 1UL << (SIGCHLD - 1);
	const uint64_t default_action[4] = { 0 };
	static const char name[] = "hwcap-follow";

	sys_sigprocmask(SIG_SETMASK, &all, NULL);
	/* Ignored, it would not be sent. */
	sys_sigaction(SIGCHLD, default_action, NULL);
	sys_setsid();
	sys_chdir("/");
	sys_prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
	if (channel)
		sys_dup3(channel, 0, O_CLOEXEC);
	sys_close_range(1, ~0U);
	s->signals = (int)sys_signalfd(&child, O_CLOEXEC | O_NONBLOCK);
	return s->signals < 0 ? -s->signals : 0;
}

/*
 * /proc, if it is that of our own pid namespace: another one's would tell of
 * other processes. Else -1.
 */
static int open_proc(void)
{
	char self[16], number[16];
	struct text t;
	int fd = (int)sys_openat(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	long r = fd < 0 ? fd : sys_readlinkat(fd, "self", self, sizeof(self));

	text_init(&t, number, sizeof(number));
	text_add(&t, "%d", (int)sys_getpid());
	if (r == (long)t.length && !memcmp(self, number, t.length))
		return fd;
	if (fd >= 0)
		sys_close(fd);
	return -1;
}

/* May we trace TARGET? EBUSY if somebody else does, EPERM if not, or EOPNOTSUPP. */
static int try_attach(const struct supervisor *s, int target)
{
	char text[STATUS_SIZE];
	const char *line;
	int status;
	long r;

	if (!edit_may_wait() || !edit_may_set_map())
		return EOPNOTSUPP;
	r = sys_ptrace(PTRACE_SEIZE, target, 0, 0);

	if (r) {
		line = follow_read_status(s, target, text) ?
			       follow_status_line(text, "TracerPid:") :
			       NULL;
		return line && follow_number(&line) ? EBUSY : EPERM;
	}
	sys_ptrace(PTRACE_INTERRUPT, target, 0, 0);
	r = sys_wait4(target, &status, __WALL);
	if (r == target && WIFSTOPPED(status))
		sys_ptrace(PTRACE_DETACH, target, 0,
			   status >> 16 ? 0 : (unsigned long)WSTOPSIG(status));
	return 0;
}

__attribute__((noreturn)) void supervise(const struct follow *f, uint64_t vdso, int target,
					 int channel)
{
	struct supervisor s = { .follow = f,
				.channel = -1,
				.may_trace_all = follow_has_capability(CAP_SYS_PTRACE) };
	struct supervise_hello hello;
	char word;

	s.holds = follow_needs_setid();
	hello.error = follow_keep_root(&s);
	if (!hello.error)
		hello.error = leave_tree(&s, channel);
	edit_context_init(&s.context, vdso, open_proc());
	if (!hello.error)
		hello.error = try_attach(&s, target);
	channel_send(0, &hello, sizeof(hello), -1);
	if (channel_receive(0, &word, sizeof(word), &s.listener) != sizeof(word) || s.listener < 0)
		sys_exit(0);
	uint64_t flags = NOTIF_SYNC_WAKE_UP;

	sys_ioctl(s.listener, NOTIF_SET_FLAGS, (void *)flags);
	channel_send(0, &word, sizeof(word), -1);
	sys_close(0);
	follow_loop(&s);
}
