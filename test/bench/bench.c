/*
 * bench.c - what one vfork + exec + wait costs, by engine and target
 *
 *	bench ROUNDS ENGINE... -- TARGET...
 *
 * ENGINE is NAME=PREFIX, where PREFIX is the command line that the target's
 * path is appended to, split at blanks ("native=" has none). TARGET is
 * NAME=PATH. Every round runs every engine on every target once, in an order
 * that changes from round to round, so that a change of the machine's speed
 * meets all of them alike. Engines after a word "then" have their turn when
 * all others had it: slow ones would leave the next one's caches cold.
 * NAME:TARGET=PREFIX is for that target only. A PREFIX that starts with '@' is
 * a command that is started once, up to a word "@" or the end: what it runs,
 * which is this program again, executes the rest with the target's path. One
 * line for each run on stdout:
 *
 *	ENGINE TARGET ROUND NANOSECONDS MINOR-FAULTS
 *
 *	bench --repeat N WORD...
 *
 * runs one command N times and measures nothing: for others that count.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
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
	int to, from; /* of an engine that is started once */
	bool later;   /* in the second half of a round */
	char *only;   /* target, NULL for all */
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

	engine->only = strchr(engine->name, ':');
	if (engine->only)
		*engine->only++ = '\0';
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

/* Run the prefix with what is asked for on descriptor 0; tell on 1 what it took. */
static int serve(char **prefix, int count)
{
	char path[PATH_SIZE], *argv[MAX_WORDS + 2];

	if (count > MAX_WORDS)
		fail("serve", "too many words");
	memcpy(argv, prefix, (size_t)count * sizeof(*argv));
	argv[count] = path;
	argv[count + 1] = NULL;
	while (read(0, path, sizeof(path)) == sizeof(path)) {
		struct sample s = run(argv);

		if (write(1, &s, sizeof(s)) != sizeof(s))
			return 1;
	}
	return 0;
}

static void start_server(struct named *engine)
{
	static char self[PATH_SIZE], serve_word[] = "--serve";
	char *argv[MAX_WORDS + 3];
	int to[2], from[2], count = 0, i = 0;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		fail("/proc/self/exe", strerror(errno));
	engine->words[0]++;
	while (i < engine->count && strcmp(engine->words[i], "@") != 0)
		argv[count++] = engine->words[i++];
	argv[count++] = self;
	argv[count++] = serve_word;
	while (++i < engine->count)
		argv[count++] = engine->words[i];
	argv[count] = NULL;
	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		fail("pipe", strerror(errno));
	switch (fork()) {
	case -1: fail("fork", strerror(errno)); break;
	case 0:
		dup2(to[0], 0);
		dup2(from[1], 1);
		execv(argv[0], argv);
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
	if (engine->to)
		return ask(engine, target->value);
	engine->words[engine->count] = target->value;
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
	bool later = false;
	int count = 0;

	for (; **argv && strcmp(**argv, "--") != 0; (*argv)++) {
		if (!strcmp(**argv, "then")) {
			later = true;
			continue;
		}
		if (count == MAX_NAMES)
			fail(what, "too many");
		parse_named(&list[count], **argv);
		list[count++].later = later;
	}
	if (count == 0)
		fail(what, "none given");
	return count;
}

struct work {
	struct named engines[MAX_NAMES], targets[MAX_NAMES];
	int engine_count, target_count;
	/* Engine * MAX_NAMES + target, of the first half of a round and the second. */
	int order[2][MAX_NAMES * MAX_NAMES], pairs[2];
};

static void pair_up(struct work *w)
{
	for (int i = 0; i < w->engine_count; i++) {
		struct named *engine = &w->engines[i];

		for (int j = 0; j < w->target_count; j++) {
			if (!engine->only || !strcmp(engine->only, w->targets[j].name))
				w->order[engine->later][w->pairs[engine->later]++] =
					i * MAX_NAMES + j;
		}
	}
}

static void half_round(struct work *w, int half, int round)
{
	for (int i = 0; i < w->pairs[half]; i++) {
		struct named *engine = &w->engines[w->order[half][i] / MAX_NAMES];
		struct named *target = &w->targets[w->order[half][i] % MAX_NAMES];
		struct sample s = measure(engine, target);

		if (round >= 0)
			printf("%s %s %d %llu %ld\n", engine->name, target->name, round,
			       (unsigned long long)s.nanoseconds, s.faults);
	}
}

static void measure_all(struct work *w, int rounds)
{
	uint32_t state = 1;

	for (int round = -WARM_UP; round < rounds; round++) {
		for (int half = 0; half < 2; half++) {
			shuffle(w->order[half], w->pairs[half], &state);
			half_round(w, half, round);
		}
		/* Warms up what the second half has left cold. */
		for (int j = 0; w->pairs[1] && j < w->target_count; j++)
			measure(&w->engines[0], &w->targets[j]);
	}
}

static int repeat(char **argv)
{
	if (!argv[0] || !argv[1])
		fail("usage", "bench --repeat N WORD...");
	for (int n = atoi(argv[0]); n > 0; n--)
		run(argv + 1);
	return 0;
}

int main(int argc, char **argv)
{
	static struct work w;
	int rounds = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 1 && !strcmp(argv[1], "--repeat"))
		return repeat(argv + 2);
	if (argc > 1 && !strcmp(argv[1], "--serve")) {
		pin();
		return serve(argv + 2, argc - 2);
	}
	if (rounds < 1)
		fail("usage", "bench ROUNDS ENGINE... [then ENGINE...] -- TARGET...");
	argv += 2;
	w.engine_count = collect(w.engines, &argv, "engines");
	argv += *argv != NULL;
	w.target_count = collect(w.targets, &argv, "targets");
	for (int i = 0; i < w.engine_count; i++) {
		split(&w.engines[i]);
		if (w.engines[i].count && w.engines[i].words[0][0] == '@')
			start_server(&w.engines[i]);
	}
	pin();
	pair_up(&w);
	measure_all(&w, rounds);
	return 0;
}
