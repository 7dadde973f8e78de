/*
 * bench.c - what one vfork + exec + wait costs, by engine and target
 *
 *	bench ROUNDS ENGINE... -- TARGET...
 *
 * ENGINE is NAME=PREFIX, where PREFIX is the command line that the target's
 * path is appended to, split at blanks ("native=" has none). TARGET is
 * NAME=PATH. Every round runs every engine on every target once, in an order
 * that changes from round to round, so that a change of the machine's speed
 * meets all of them alike. A PREFIX that starts with '@' is a command that is
 * started once: what it runs, which is this program again, executes the
 * targets. A word "+SUFFIX" in first place is for the target's path, to which
 * SUFFIX is appended. One line for each run on stdout:
 *
 *	ENGINE TARGET ROUND NANOSECONDS MINOR-FAULTS
 */
#include <errno.h>
#include <fcntl.h>
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
	char *words[MAX_WORDS + 3]; /* engine: PREFIX split, room for the path */
	int count;
	int to, from;       /* of an engine that is started once */
	const char *suffix; /* of the targets' paths */
};

enum { PATH_SIZE = 256 };

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

/* Run what is asked for on descriptor 0; tell on 1 what it took. */
static int serve(void)
{
	char path[PATH_SIZE];

	while (read(0, path, sizeof(path)) == sizeof(path)) {
		char *argv[] = { path, NULL };
		struct sample s = run(argv);

		if (write(1, &s, sizeof(s)) != sizeof(s))
			return 1;
	}
	return 0;
}

static void start_server(struct named *engine)
{
	static char self[PATH_SIZE], serve_word[] = "--serve";
	int to[2], from[2];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		fail("/proc/self/exe", strerror(errno));
	engine->words[0]++;
	engine->words[engine->count] = self;
	engine->words[engine->count + 1] = serve_word;
	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		fail("pipe", strerror(errno));
	switch (fork()) {
	case -1: fail("fork", strerror(errno)); break;
	case 0:
		dup2(to[0], 0);
		dup2(from[1], 1);
		execv(engine->words[0], engine->words);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	engine->to = to[1];
	engine->from = from[0];
}

static struct sample ask(const struct named *engine, const char *target)
{
	char path[PATH_SIZE] = { 0 };
	struct sample s;

	snprintf(path, sizeof(path), "%s", target);
	if (write(engine->to, path, sizeof(path)) != sizeof(path) ||
	    read(engine->from, &s, sizeof(s)) != sizeof(s))
		fail(engine->name, "does not answer");
	return s;
}

static struct sample measure(struct named *engine, struct named *target)
{
	char path[PATH_SIZE];

	if (engine->to)
		return ask(engine, target->value);
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

	if (argc == 2 && !strcmp(argv[1], "--serve")) {
		pin();
		return serve();
	}
	if (rounds < 1)
		fail("usage", "bench ROUNDS ENGINE... -- TARGET...");
	argv += 2;
	engine_count = collect(engines, &argv, "engines");
	argv += *argv != NULL;
	target_count = collect(targets, &argv, "targets");
	for (int i = 0; i < engine_count; i++) {
		split(&engines[i]);
		if (engines[i].count && engines[i].words[0][0] == '@')
			start_server(&engines[i]);
	}
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
