/*
 * depth.c - what one vfork + exec + wait costs in nested cgroups
 *
 *	depth ROUNDS UID TARGET VARIANT...
 *
 * VARIANT is NAME=CGROUP=PREFIX: a cgroup's directory and the command line
 * that TARGET is appended to, split at blanks. For each there is a process
 * that joins its cgroup and then becomes UID; every round asks each of them
 * once, in an order that changes from round to round. Moving one process
 * between the cgroups instead would be measured as well. On stdout a line for
 * each run: NAME ROUND NANOSECONDS
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_VARIANTS = 16, MAX_WORDS = 16, WARM_UP = 5 };

struct variant {
	char *name, *cgroup;
	char *words[MAX_WORDS + 2];
	int ask, answer; /* pipes to its process */
};

extern char **environ;

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "depth: %s: %s\n", what, detail);
	_exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t run(char **argv)
{
	uint64_t start = now();
	pid_t pid = vfork();
	int status;

	if (!pid) {
		execve(argv[0], argv, environ);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail(argv[0], "did not exit with 0");
	return now() - start;
}

static void parse(struct variant *v, char *text, char *target)
{
	char *cgroup = strchr(text, '='), *prefix = cgroup ? strchr(cgroup + 1, '=') : NULL;
	int n = 0;

	if (!prefix)
		fail(text, "NAME=CGROUP=PREFIX wanted");
	*cgroup = *prefix = '\0';
	v->name = text;
	v->cgroup = cgroup + 1;
	for (char *w = strtok(prefix + 1, " "); w && n < MAX_WORDS; w = strtok(NULL, " "))
		v->words[n++] = w;
	v->words[n++] = target;
	v->words[n] = NULL;
}

static void join(const char *cgroup, uid_t uid)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		fail(path, strerror(errno));
	close(fd);
	if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		fail("setuid", strerror(errno));
}

/* The last CPU: one that changes starts with cold caches. */
static void pin(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_SET(cpu, &one);
		break;
	}
	sched_setaffinity(0, sizeof(one), &one);
}

static void start(struct variant *v, uid_t uid)
{
	int ask[2], answer[2];
	char byte;

	if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
		fail("pipe", strerror(errno));
	v->ask = ask[1];
	v->answer = answer[0];
	if (fork()) {
		close(ask[0]);
		close(answer[1]);
		return;
	}
	close(ask[1]);
	join(v->cgroup, uid);
	while (read(ask[0], &byte, 1) == 1) {
		uint64_t took = run(v->words);

		if (write(answer[1], &took, sizeof(took)) != sizeof(took))
			break;
	}
	_exit(0);
}

static void shuffle(int *order, int count, uint32_t *state)
{
	for (int i = count - 1; i > 0; i--) {
		int j, swap;

		*state = *state * 1664525 + 1013904223;
		j = (int)((*state >> 8) % (uint32_t)(i + 1));
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

int main(int argc, char **argv)
{
	struct variant v[MAX_VARIANTS] = { 0 };
	int order[MAX_VARIANTS], count = argc - 4, rounds = argc > 1 ? atoi(argv[1]) : 0;
	uint32_t state = 1;

	if (count < 1 || count > MAX_VARIANTS || rounds < 1)
		fail("usage", "depth ROUNDS UID TARGET NAME=CGROUP=PREFIX...");
	pin();
	for (int i = 0; i < count; i++) {
		parse(&v[i], argv[4 + i], argv[3]);
		start(&v[i], (uid_t)atoi(argv[2]));
		order[i] = i;
	}
	for (int round = -WARM_UP; round < rounds; round++) {
		shuffle(order, count, &state);
		for (int i = 0; i < count; i++) {
			struct variant *one = &v[order[i]];
			uint64_t took;

			if (write(one->ask, "", 1) != 1 ||
			    read(one->answer, &took, sizeof(took)) != sizeof(took))
				fail(one->name, "its process has ended");
			if (round >= 0)
				printf("%s %d %lu\n", one->name, round, (unsigned long)took);
		}
	}
	for (int i = 0; i < count; i++)
		close(v[i].ask);
	while (wait(NULL) > 0)
		;
	return 0;
}
