/*
 * as - run a program in a situation that the guest's shell cannot make
 *
 *	as fixed|nobody|blocked|unlimited|no-proc|plain|NUMBER PROGRAM [ARG]...
 *
 * NUMBER: that often, one after the other, as long as it succeeds.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int enter(const char *situation)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	sigset_t set;

	if (!strcmp(situation, "plain"))
		return 0;
	if (!strcmp(situation, "fixed"))
		return personality(ADDR_NO_RANDOMIZE) < 0;
	if (!strcmp(situation, "blocked"))
		return sigemptyset(&set) || sigaddset(&set, SIGCHLD) || sigaddset(&set, SIGTERM) ||
		       sigprocmask(SIG_BLOCK, &set, NULL);
	if (!strcmp(situation, "no-proc"))
		return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		       umount2("/proc", MNT_DETACH);
	if (!strcmp(situation, "unlimited"))
		return setrlimit(RLIMIT_STACK, &unlimited);
	if (!strcmp(situation, "nobody"))
		return setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
		       setresuid(65534, 65534, 65534);
	return -1;
}

/* In as many children; the last run is ours. */
static int repeat(int times, char **command)
{
	while (--times > 0) {
		int status;
		pid_t child = vfork();

		if (!child) {
			execvp(command[0], command);
			_exit(126);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int times = argc < 3 ? 0 : atoi(argv[1]);

	if (argc < 3 || (times ? repeat(times, argv + 2) : enter(argv[1]))) {
		fprintf(stderr, "as: unable to enter the situation\n");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 126;
}
