/*
 * launch HOW... -- PROGRAM [ARG]... - in a state that HOW words describe
 *
 *	no-ptrace	ptrace(2) fails with EPERM (a seccomp filter)
 *	no-faccessat2, denied-faccessat2
 *			faccessat2(2) fails with ENOSYS, EPERM (likewise)
 *	block, ignore	SIGCHLD and SIGTRAP are
 *	pending		SIGCHLD is blocked and pending
 *	trap-pending	SIGTRAP is
 *	subreaper	PROGRAM is one
 *	watch		run it as a child of a subreaper, which prints how many
 *			SIGCHLD and how many children it got
 *	kill N		kill -9 the first child it has, after N spins; prints
 *			how PROGRAM ended
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int signal)
{
	(void)signal;
	signals++;
}

static void deny(int call, unsigned int error)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), call, 0))
		exit(99);
	/* With CAP_SYS_ADMIN it needs no no_new_privs, and set-id bits count. */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	if (seccomp_load(filter)) {
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 1);
		if (seccomp_load(filter))
			exit(99);
	}
	seccomp_release(filter);
}

static void block(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execvp(*argv, argv);
	_exit(99);
}

static int watch(char **argv)
{
	int children = 0, status = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	signal(SIGCHLD, count);
	start(argv);
	while (wait(&status) > 0 || errno == EINTR)
		children += errno != EINTR, errno = 0;
	printf("signals %d children %d status %d\n", (int)signals, children, status);
	return 0;
}

static int first_child(pid_t pid)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return atoi(text);
}

static int has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static int kill_helper(char **argv, long spins)
{
	pid_t pid = start(argv);
	int child = 0, status;

	while (!child && !has_ended(pid))
		child = first_child(pid);
	for (volatile long i = 0; i < spins; i++)
		;
	if (child)
		kill(child, SIGKILL);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("killed %d\n", WTERMSIG(status));
	else
		printf("exited %d\n", WEXITSTATUS(status));
	return 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	while (strcmp(*++argv, "--")) {
		if (!strcmp(*argv, "no-ptrace"))
			deny(SCMP_SYS(ptrace), EPERM);
		else if (!strcmp(*argv, "no-faccessat2"))
			deny(SCMP_SYS(faccessat2), ENOSYS);
		else if (!strcmp(*argv, "denied-faccessat2"))
			deny(SCMP_SYS(faccessat2), EPERM);
		else if (!strcmp(*argv, "block"))
			block();
		else if (!strcmp(*argv, "ignore"))
			signal(SIGCHLD, SIG_IGN), signal(SIGTRAP, SIG_IGN);
		else if (!strcmp(*argv, "pending"))
			block(), raise(SIGCHLD);
		else if (!strcmp(*argv, "trap-pending"))
			block(), raise(SIGTRAP);
		else if (!strcmp(*argv, "subreaper"))
			prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		else if (!strcmp(*argv, "watch"))
			return watch(argv + 2);
		else if (!strcmp(*argv, "kill"))
			return kill_helper(argv + 3, atol(argv[1]));
	}
	argv++;
	execvp(*argv, argv);
	return 99;
}
