/*
 * bench.c - what one vfork + exec + wait costs, by engine and target
 *
 *	bench ROUNDS ENGINE... -- TARGET...
 *
 * ENGINE is NAME=PREFIX, where PREFIX is the command line that the target's
 * path is appended to, split at blanks ("native=" has none). TARGET is
 * NAME=PATH. A first word of PREFIX that begins with '+' is not a word of the
 * command line but appended to the target's path. Every round runs every engine on every target once, in an order
 * that changes from round to round, so that a change of the machine's speed
 * meets all of them alike. One line for each run on stdout:
 *
 *	ENGINE TARGET ROUND NANOSECONDS MINOR-FAULTS
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NAMES = 32, MAX_WORDS = 32, WARM_UP = 5 };

struct named {
	char *name;
	char *value;
	char *words[MAX_WORDS + 2]; /* engine: PREFIX split, room for the path */
	const char *suffix;         /* engine: of the target's path */
	int count;
};

struct sample {
	uint64_t nanoseconds;
	long faults;
};

extern char **environ;

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "bench: %s: %s\n", what, detail);
	exit(1);
}

static void parse_named(struct named *n, char *argument)
{
	char *equals = strchr(argument, '=');

	if (!equals)
		fail(argument, "NAME=VALUE wanted");
	*equals = '\0';
	n->name = argument;
	n->value = equals + 1;
}

static void split(struct named *engine)
{
	char *word = strtok(engine->value, " ");

	engine->suffix = "";
	if (word && *word == '+') {
		engine->suffix = word + 1;
		word = strtok(NULL, " ");
	}
	for (; word; word = strtok(NULL, " ")) {
		if (engine->count == MAX_WORDS)
			fail(engine->name, "too many words");
		engine->words[engine->count++] = word;
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct sample run(char **argv)
{
	struct sample s;
	struct rusage usage;
	int status;
	volatile int error = 0;
	uint64_t start = now();
	pid_t pid = vfork();

	if (pid == 0) {
		execve(argv[0], argv, environ);
		error = errno;
		_exit(127);
	}
	if (pid < 0)
		fail("vfork", strerror(errno));
	if (wait4(pid, &status, 0, &usage) != pid)
		fail("wait4", strerror(errno));
	s.nanoseconds = now() - start;
	s.faults = usage.ru_minflt;
	if (error)
		fail(argv[0], strerror(error));
	if (status != 0)
		fail(argv[0], "did not exit with 0");
	return s;
}

static struct sample measure(struct named *engine, struct named *target)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", target->value, engine->suffix);
	engine->words[engine->count] = path;
	engine->words[engine->count + 1] = NULL;
	return run(engine->words);
}

/* One CPU: a child that starts on another one starts with cold caches. */
static void pin(void)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	CPU_ZERO(&one);
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	}
	sched_setaffinity(0, sizeof(one), &one);
}

/* Fisher-Yates over a small linear congruential generator: reproducible. */
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

static int collect(struct named *list, char ***argv, const char *what)
{
	int count = 0;

	for (; **argv && strcmp(**argv, "--") != 0; (*argv)++) {
		if (count == MAX_NAMES)
			fail(what, "too many");
		parse_named(&list[count++], **argv);
	}
	if (count == 0)
		fail(what, "none given");
	return count;
}

int main(int argc, char **argv)
{
	static struct named engines[MAX_NAMES], targets[MAX_NAMES];
	int order[MAX_NAMES * MAX_NAMES], engine_count, target_count, pairs;
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	uint32_t state = 1;

	if (rounds < 1)
		fail("usage", "bench ROUNDS ENGINE... -- TARGET...");
	argv += 2;
	engine_count = collect(engines, &argv, "engines");
	argv += *argv != NULL;
	target_count = collect(targets, &argv, "targets");
	for (int i = 0; i < engine_count; i++)
		split(&engines[i]);
	pin();
	pairs = engine_count * target_count;
	for (int i = 0; i < pairs; i++)
		order[i] = i;
	for (int round = -WARM_UP; round < rounds; round++) {
		shuffle(order, pairs, &state);
		for (int i = 0; i < pairs; i++) {
			struct named *engine = &engines[order[i] % engine_count];
			struct named *target = &targets[order[i] / engine_count];
			struct sample s = measure(engine, target);

			if (round >= 0)
				printf("%s %s %d %llu %ld\n", engine->name, target->name, round,
				       (unsigned long long)s.nanoseconds, s.faults);
		}
	}
	return 0;
}
