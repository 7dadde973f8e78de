#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "arch.h"
#include "follow.h"
#include "follow_supervise.h"
#include "sys.h"
#include "trace_edit.h"

#include "follow_filter.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void prepare(struct msghdr *m, struct iovec *v, union control *c, void *data, size_t size)
{
	*v = (struct iovec){ data, size };
	memset(c, 0, sizeof(*c));
	memset(m, 0, sizeof(*m));
	m->msg_iov = v;
	m->msg_iovlen = 1;
	m->msg_control = c;
	m->msg_controllen = sizeof(*c);
}

long channel_send(int channel, const void *data, size_t size, int fd)
{
	union control c;
	struct msghdr m;
	struct iovec v;

	prepare(&m, &v, &c, (void *)(uintptr_t)data, size);
	c.header.cmsg_level = SOL_SOCKET;
	c.header.cmsg_type = SCM_RIGHTS;
	c.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&c.header), &fd, sizeof(fd));
	if (fd < 0) {
		m.msg_control = NULL;
		m.msg_controllen = 0;
	}
	return sys_sendmsg(channel, &m, MSG_NOSIGNAL);
}

long channel_receive(int channel, void *data, size_t size, int *fd)
{
	union control c;
	struct msghdr m;
	struct iovec v;
	long r;

	prepare(&m, &v, &c, data, size);
	do
		r = sys_recvmsg(channel, &m, MSG_CMSG_CLOEXEC);
	while (r == -EINTR);
	*fd = -1;
	if (r >= 0 && m.msg_controllen >= CMSG_LEN(sizeof(int)) && c.header.cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(&c.header), sizeof(*fd));
	return r;
}

/*
 * A process that is nobody's child here: its parent ends at once, and it goes
 * to init or a subreaper. Where that is ourselves it stays our child, of the
 * kind that no wait without __WCLONE or __WALL sees; it outlives us, so its
 * end is never reported to us.
 */
static long fork_outside(void)
{
	int subreaper = 0, child, status;
	long r;

	sys_prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)&subreaper, 0, 0, 0);
	if (subreaper || sys_getpid() == 1)
		return sys_fork(0);
	r = sys_fork(0);
	if (r == 0) {
		r = sys_fork(0);
		if (r)
			sys_exit(r < 0 ? (int)-r : 0);
		return 0;
	}
	if (r < 0)
		return r;
	child = (int)r;
	do
		r = sys_wait4(child, &status, __WALL);
	while (r == -EINTR);
	if (r < 0)
		return r;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EAGAIN;
}

static int spawn_failed(struct diag *d, int error)
{
	const char *hint = "";
	char number[16];

	if (error == EAGAIN)
		hint = "; a limit on processes (ulimit -u)?";
	if (error == EPERM)
		hint = "; a seccomp filter that forbids wait4(2)?";
	return diag(d, EXIT_FAILED, error, "unable to start the supervisor: %s%s",
		    errno_text(error, number), hint);
}

static int spawn(struct diag *d, const struct start *s, const struct follow *f, int *channel)
{
	int fds[2], target = (int)sys_getpid();
	long r;

	if (trace_child_is_init())
		return diag(d, EXIT_FAILED, EPERM,
			    "--follow: this process's children get another pid namespace; "
			    "start hwcap-exec in there");
	r = sys_socketpair(SOCK_SEQPACKET | SOCK_CLOEXEC, fds);

	if (r < 0)
		return spawn_failed(d, (int)-r);
	r = fork_outside();
	if (r == 0 && (int)sys_getpid() != target)
		supervise(f, s->vdso, target, fds[1]);
	sys_close(fds[1]);
	*channel = fds[0];
	if (r >= 0)
		return 0;
	sys_close(fds[0]);
	return spawn_failed(d, (int)-r);
}

static int await_hello(struct diag *d, const struct follow *f, int channel)
{
	struct supervise_hello hello = { EIO };
	int none;
	long r = channel_receive(channel, &hello, sizeof(hello), &none);

	if (r != (long)sizeof(hello))
		return diag(d, EXIT_FAILED, EIO, "the supervisor died as it started");
	if (!hello.error || f->mode == FOLLOW_TRY)
		return 0;
	if (hello.error == EBUSY)
		return diag(d, EXIT_FAILED, EPERM,
			    "--follow: this process is itself being traced; start the "
			    "debugger or strace below hwcap-exec, not above");
	if (hello.error == EOPNOTSUPP)
		return diag(d, EXIT_FAILED, EPERM, "--follow: %s", edit_text(EDIT_FORBIDDEN));
	return diag(d, EXIT_FAILED, EPERM,
		    "--follow: ptrace is not permitted here; run with CAP_SYS_PTRACE, or "
		    "see kernel.yama.ptrace_scope and the container's seccomp profile");
}

static long install(unsigned int at, unsigned int length, unsigned long flags)
{
	struct sock_fprog program = {
		.len = (unsigned short)length,
		.filter = (struct sock_filter *)(uintptr_t)&filter_code[at],
	};

	return sys_seccomp(SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* The channels beside the vector that the architecture's filter.rules close. */
static long install_extras(const struct hwcaps *hide)
{
	for (unsigned int i = 0; filter_extra[i].length; i++) {
		unsigned int entry = filter_extra[i].entry;
		long r;

		if (entry < HWCAP_ENTRIES && !(hide->word[entry] >> filter_extra[i].bit & 1))
			continue;
		r = install(filter_extra[i].at, filter_extra[i].length, 0);
		if (r)
			return r;
	}
	return 0;
}

bool follow_has_capability(unsigned int capability)
{
	struct {
		uint32_t version;
		int pid;
	} header = { 0x20080522, 0 };
	struct {
		uint32_t effective, permitted, inheritable;
	} set[2];

	return !sys_capget(&header, set) && (set[capability / 32].effective >> capability % 32 & 1);
}

/*
 * A tracer without CAP_SYS_PTRACE cannot attach to a process of other ids;
 * one that can take other ids, as root in a container, has to see them change.
 */
bool follow_needs_setid(void)
{
	return !follow_has_capability(CAP_SYS_PTRACE) && follow_has_capability(CAP_SETUID);
}

static long install_listener(void)
{
	const bool setid = follow_needs_setid();

	return install(setid ? FILTER_SETID_AT : FILTER_EXEC_AT,
		       setid ? FILTER_SETID_LENGTH : FILTER_EXEC_LENGTH,
		       SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
}

static int install_failed(struct diag *d, long r)
{
	char number[16];

	if (r == -EBUSY)
		return diag(d, EXIT_FAILED, EBUSY,
			    "--follow: another seccomp supervisor serves this process, "
			    "and there can be only one");
	if (r == -EINVAL || r == -ENOSYS)
		return diag(d, EXIT_FAILED, (int)-r,
			    "--follow needs Linux 5.19 with CONFIG_SECCOMP_FILTER");
	return diag(d, EXIT_FAILED, (int)-r, "--follow: unable to install its filter: %s",
		    errno_text((int)-r, number));
}

/* With CAP_SYS_ADMIN set-id programs of the tree go on working. */
static int install_filters(struct diag *d, const struct follow *f, int *listener)
{
	long r = install_listener();

	if (r == -EACCES) {
		sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		r = install_listener();
	}
	if (r < 0)
		return install_failed(d, r);
	*listener = (int)r;
	r = install_extras(&f->now);
	return r ? install_failed(d, r) : 0;
}

static int hand_over(struct diag *d, const struct follow *f, int channel)
{
	int listener = -1, none, failed = install_filters(d, f, &listener);
	char word = 0;

	if (!failed && (channel_send(channel, &word, sizeof(word), listener) < 0 ||
			channel_receive(channel, &word, sizeof(word), &none) != sizeof(word)))
		failed = diag(d, EXIT_FAILED, EIO, "the supervisor died as it started");
	if (listener >= 0)
		sys_close(listener);
	return failed;
}

bool follow_supervised(void)
{
	if (sys_prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return false;
	return arch_syscall(SYS_execve, 0, 0, 0, (long)FOLLOW_QUERY, 0, 0) == 1;
}

static uint64_t flags_of(const struct trace_edit *edit)
{
	return (edit->by_name ? FOLLOW_BY_NAME : 0U) | (edit->no_vdso ? FOLLOW_NO_VDSO : 0U) |
	       edit->cgroup;
}

long follow_exec(const char *path, char *const *argv, char *const *envp,
		 const struct trace_edit *edit)
{
	const struct follow_note note = { .magic = FOLLOW_NOTE,
					  .flags = flags_of(edit),
					  .hide = edit->hide };

	return arch_syscall(SYS_execve, (long)path, (long)argv, (long)envp, (long)FOLLOW_NOTE,
			    (long)&note, 0);
}

int follow_join(struct diag *d, const struct trace_edit *edit)
{
	const uint64_t *word = edit->hide.word;
	uint64_t limit[2];
	char number[16];
	long r = arch_syscall(SYS_execve, 0, (long)word[0], (long)word[1],
			      (long)(FOLLOW_JOIN | flags_of(edit)), (long)word[2], (long)word[3]);

	if (r > 0) {
		limit[0] = limit[1] = (uint64_t)r;
		r = sys_prlimit(0, FOLLOW_MARK_LIMIT, limit, NULL);
	}
	if (!r)
		return 0;
	return diag(d, EXIT_FAILED, (int)-r,
		    "--follow: the supervisor of the outer hwcap-exec does not take "
		    "another mask: %s",
		    errno_text((int)-r, number));
}

/* There is no room to say where else cgroups are: their mask is fixed, then. */
static int join(struct diag *d, const struct follow *f)
{
	struct trace_edit edit = f->edit;

	if (f->cgroup_root) {
		edit.hide = f->now;
		edit.cgroup = 0;
	}
	return follow_join(d, &edit);
}

int follow_start(struct diag *d, const struct start *s, const struct follow *f)
{
	int channel = -1, failed;

	if (follow_supervised())
		return join(d, f);
	if (spawn(d, s, f, &channel))
		return -1;
	failed = await_hello(d, f, channel) || hand_over(d, f, channel);
	sys_close(channel);
	return failed ? -1 : 0;
}
