/*
 * inject - let each system call of a run of hwcap-exec fail, one at a time
 *
 *	inject [-v] [-a] [-u UID] NAME COMMAND...
 *
 * COMMAND (its target is target.c's program) runs once to count its system
 * calls, helpers' included; then once for each of them and each errno below,
 * which that call returns without being carried out. What may come of it: the
 * target runs exactly as in the first run; exit with 125 to 127 and one line;
 * or, once the process had begun to become the target, death by SIGKILL.
 * Anything else, a process left over and a run that does not end in five
 * seconds are failures. -a: ENOENT may change the mask, since where there are
 * no cgroups there is none.
 *
 * By a seccomp filter with a listener, not by ptrace: hwcap-exec uses that.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET = 100, MARKER = 0x5ca1ab1e, TIMEOUT_MS = 5000, OUTPUT = 32768, CALLS = 4096 };

static const int errors[] = { EPERM, ENOENT, EINTR,  EIO,    EBADF,  EAGAIN, ENOMEM, EACCES,
			      EBUSY, EEXIST, ENODEV, EINVAL, ENFILE, EMFILE, ENOSYS, ESRCH };
enum { ERRORS = sizeof(errors) / sizeof(errors[0]) };

struct run {
	long fail; /* index of the call to fail; -1: none */
	int error;
	long calls;     /* made before the target ran */
	bool committed; /* when it failed: the process had begun to change */
	bool failed;
	int number; /* of the call that failed */
	bool late;  /* not over in time */
	int status;
	char out[OUTPUT], err[OUTPUT];
};

static struct {
	char **command;
	const char *name;
	unsigned int uid;
	bool absent; /* ENOENT may lead to another output: no cgroups here */
	bool verbose;
	unsigned long ran, refused, killed, bad;
} s;

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(2);
}

/* ---- the child ------------------------------------------------------------- */

static int install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCKET, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static void send_fd(int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	char byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.space) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (syscall(SYS_sendmsg, SOCKET, &m, 0) != 1)
		_exit(99);
}

static _Noreturn void child(const int out[2], const int err[2], int socket)
{
	static char variable[] = "PATH=/nonexistent";
	char *environment[] = { variable, NULL };

	if (dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0 || dup3(socket, SOCKET, O_CLOEXEC) < 0 ||
	    personality(ADDR_NO_RANDOMIZE) < 0)
		_exit(99);
	if (s.uid) {
		if (setgroups(0, NULL) || setresgid(s.uid, s.uid, s.uid) ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || setresuid(s.uid, s.uid, s.uid))
			_exit(99);
	}
	send_fd(install());
	execve(s.command[0], s.command, environment);
	_exit(98);
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.space) };
	int fd;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1 || m.msg_controllen < CMSG_LEN(sizeof(int)))
		give_up("recvmsg");
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* ---- the listener ----------------------------------------------------------- */

/*
 * close() closes, whatever it returns; brk(0) has no errors; these end the
 * process. What takes the execute permission of the stack back, the last call
 * of all, splits and allocates nothing, and nobody is left who could look.
 */
static bool never_fails(const struct seccomp_data *q)
{
	int number = q->nr;

	/* A helper's wait for the only child it has, all signals blocked. */
	if (number == SYS_wait4)
		return true;
	if (number == SYS_futex && (q->args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT)
		return true;
	if (number == SYS_mprotect && !(q->args[2] & PROT_EXEC))
		return true;
	return number == SYS_close || number == SYS_brk || number == SYS_exit ||
	       number == SYS_exit_group || number == SYS_kill || number == SYS_getpid ||
	       number == SYS_rt_sigreturn;
}

/* A call that is repeated until it says no more than that. */
static bool can_be(const struct seccomp_data *q, int error)
{
	return q->nr != SYS_futex || error == EAGAIN || error == EINTR;
}

struct watch {
	bool started; /* hwcap-exec itself */
	bool running; /* the target */
	bool begun;   /* the process has begun to become it */
};

/* What is to be answered to the call in Q: an errno, or 0 to go on. */
static int answer(struct run *r, struct watch *w, const struct seccomp_data *q)
{
	bool exec = q->nr == SYS_execve || q->nr == SYS_execveat;

	if (!w->started) {
		w->started = exec;
		return 0;
	}
	if (q->nr == SYS_fcntl && q->args[1] == MARKER)
		w->running = true;
	if (w->running)
		return 0;
	if (r->calls++ == r->fail && !never_fails(q) && can_be(q, r->error)) {
		r->failed = true;
		r->number = q->nr;
		r->committed = w->begun;
		return r->error;
	}
	if (exec || (q->nr == SYS_prctl && q->args[0] == PR_SET_NAME))
		w->begun = true;
	return 0;
}

static void serve(struct run *r, struct watch *w, int listener)
{
	struct seccomp_notif q = { 0 };
	struct seccomp_notif_resp a = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &q))
		return; /* it has died meanwhile */
	a.id = q.id;
	a.error = -answer(r, w, &q.data);
	if (!a.error)
		a.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &a);
}

static void drain(int fd, char *to)
{
	size_t n = 0;
	ssize_t got;

	while (n < OUTPUT - 1 && (got = read(fd, to + n, OUTPUT - 1 - n)) > 0)
		n += (size_t)got;
	to[n] = 0;
	close(fd);
}

/* Until nobody is left who has the filter. */
static void follow(struct run *r, int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	struct watch w = { 0 };

	for (;;) {
		int n = poll(&p, 1, TIMEOUT_MS);

		if (n == 0)
			r->late = true;
		if (n <= 0 || (p.revents & POLLHUP))
			return;
		serve(r, &w, listener);
	}
}

static void one(struct run *r)
{
	int out[2], err[2], pair[2], listener, status;
	pid_t pid, other;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		give_up("pipe");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (!pid) {
		setpgid(0, 0);
		child(out, err, pair[1]);
	}
	setpgid(pid, pid);
	close(out[1]);
	close(err[1]);
	close(pair[1]);
	listener = receive_fd(pair[0]);
	close(pair[0]);
	follow(r, listener);
	if (r->late)
		kill(-pid, SIGKILL);
	close(listener);
	/* We are the reaper of all that it leaves. */
	while ((other = waitpid(-1, &status, 0)) > 0)
		if (other == pid)
			r->status = status;
	drain(out[0], r->out);
	drain(err[0], r->err);
}

/* ---- the verdict --------------------------------------------------------------- */

static bool one_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return !strncmp(text, "hwcap-exec: ", 12) && end && !end[1];
}

static const char *judge(const struct run *r, const struct run *first)
{
	int code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1;

	if (r->late)
		return "does not end";
	/* The last call of all: munmap() of a mapping as a whole cannot fail. */
	if (r->number == SYS_munmap && r->fail == first->calls - 1)
		return NULL;
	if (code == 0) {
		s.ran++;
		if (s.absent && r->error == ENOENT)
			return NULL;
		return strcmp(r->out, first->out) ? "the target runs otherwise" :
		       *r->err                    ? "the target runs, with a message" :
						    NULL;
	}
	if (*r->out)
		return "the target began to run";
	if (code >= 125 && code <= 127) {
		s.refused++;
		return one_line(r->err) ? NULL : "exit without one line";
	}
	if (WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL) {
		s.killed++;
		return r->committed ? NULL : "killed before there was no way back";
	}
	return "ends in another way";
}

static void report(const struct run *r, const char *why)
{
	if (why)
		s.bad++;
	if (why || s.verbose)
		printf("%s - %s: call %ld (number %d) fails with %s%s%s # status %#x '%.120s'\n",
		       why ? "not ok" : "ok", s.name, r->fail, r->number, strerrorname_np(r->error),
		       why ? ": " : "", why ? why : "", (unsigned int)r->status,
		       strtok(strdup(r->err), "\n") ?: "");
}

static void all(const struct run *first)
{
	static struct run r;

	for (long i = 0; i < first->calls; i++)
		for (int e = 0; e < ERRORS; e++) {
			memset(&r, 0, sizeof(r));
			r.fail = i;
			r.error = errors[e];
			one(&r);
			if (r.failed)
				report(&r, judge(&r, first));
		}
}

int main(int argc, char **argv)
{
	static struct run first = { .fail = -1 };
	int o;

	while ((o = getopt(argc, argv, "+vau:")) != -1) {
		switch (o) {
		case 'v': s.verbose = true; break;
		case 'a': s.absent = true; break;
		case 'u': s.uid = (unsigned int)atoi(optarg); break;
		default: return 125;
		}
	}
	if (argc - optind < 2)
		return 125;
	s.name = argv[optind];
	s.command = argv + optind + 1;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	one(&first);
	if (first.status || *first.err || !strstr(first.out, "saved")) {
		printf("not ok - %s: does not run undisturbed # status %#x %s\n", s.name,
		       (unsigned int)first.status, first.err);
		return 1;
	}
	all(&first);
	printf("# %s: %ld calls; the target ran %lu times, %lu were refused, %lu killed\n%s",
	       s.name, first.calls, s.ran, s.refused, s.killed, s.verbose ? first.out : "");
	printf("%lu passed, %lu failed, 0 skipped\n", s.ran + s.refused + s.killed, s.bad);
	return s.bad || !s.refused;
}
