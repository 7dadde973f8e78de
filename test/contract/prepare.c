/*
 * prepare - bring this process into a state that exec must keep, then exec
 *
 *	prepare STATE PROGRAM [ARG]...
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static int itimer(void)
{
	struct itimerval t = { .it_interval = { 1000, 0 }, .it_value = { 2000, 0 } };

	return setitimer(ITIMER_REAL, &t, NULL) || setitimer(ITIMER_PROF, &t, NULL);
}

static int pending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 3);
	return sigprocmask(SIG_BLOCK, &set, NULL) || raise(SIGUSR1) || kill(getpid(), SIGRTMIN + 3);
}

/* Handled, ignored with flags, and default: exec treats each in its way. */
static int handlers(void)
{
	struct sigaction a = { .sa_flags = SA_RESTART | SA_NODEFER };

	a.sa_handler = SIG_IGN;
	sigfillset(&a.sa_mask);
	if (sigaction(SIGUSR2, &a, NULL) || sigaction(SIGCHLD, &a, NULL) ||
	    sigaction(SIGPIPE, &a, NULL))
		return -1;
	a.sa_handler = SIG_DFL;
	a.sa_flags |= SA_NOCLDWAIT;
	return sigaction(SIGUSR1, &a, NULL);
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	return fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd);
}

static int attributes(void)
{
	struct sched_param none = { 0 };

	return prctl(PR_SET_TIMERSLACK, 12345) || prctl(PR_SET_CHILD_SUBREAPER, 1) ||
	       prctl(PR_SET_PDEATHSIG, SIGTERM) || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) ||
	       sched_setscheduler(0, SCHED_BATCH, &none) ||
	       syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6) ||
	       write_file("/proc/self/coredump_filter", "0x31") ||
	       write_file("/proc/self/oom_score_adj", "111") || mlockall(MCL_FUTURE);
}

static int descriptors(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	return fd < 0 || dup2(fd, 3) < 0 || dup2(fd, 100) < 0 || dup2(fd, 1023) < 0 ||
	       open("/", O_PATH) < 0 || memfd_create("given", 0) < 0;
}

/* Names as long as they get, and one that is not text. */
static int names(void)
{
	return prctl(PR_SET_NAME, "before-exec-1234") || setenv("", "x", 1) == 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*set)(void);
	} state[] = {
		{ "itimer", itimer },           { "pending", pending },
		{ "handlers", handlers },       { "attributes", attributes },
		{ "descriptors", descriptors }, { "names", names },
	};
	size_t i = 0;

	if (argc < 3)
		return 125;
	while (i < sizeof(state) / sizeof(state[0]) && strcmp(state[i].name, argv[1]))
		i++;
	if (i == sizeof(state) / sizeof(state[0]) || state[i].set()) {
		fprintf(stderr, "prepare: unable to set %s\n", argv[1]);
		return 125;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "prepare: unable to run %s: %s\n", argv[2], strerror(errno));
	return 126;
}
