/*
 * as - run a program in a situation that the guest's shell cannot make
 *
 *	as fixed|nobody|unlimited|plain PROGRAM [ARG]...
 */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

static int enter(const char *situation)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	if (!strcmp(situation, "plain"))
		return 0;
	if (!strcmp(situation, "fixed"))
		return personality(ADDR_NO_RANDOMIZE) < 0;
	if (!strcmp(situation, "unlimited"))
		return setrlimit(RLIMIT_STACK, &unlimited);
	if (!strcmp(situation, "nobody"))
		return setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
		       setresuid(65534, 65534, 65534);
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 3 || enter(argv[1])) {
		fprintf(stderr, "as: unable to enter the situation\n");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 126;
}
