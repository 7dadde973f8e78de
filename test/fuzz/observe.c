#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe.h"

enum { NOBODY = 65534, SECONDS = 2, WORDS = 16, LARGE_STACK = 1 << 20, HOLD_FD = 3 };

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(2);
}

static void limit(int what, uint64_t value)
{
	struct rlimit r = { value, value };

	if (value && setrlimit((__rlimit_resource_t)what, &r))
		_exit(99);
}

static void set_limits(const struct mutant *m)
{
	limit(RLIMIT_NOFILE, mutant_run(m, RUN_NOFILE));
	limit(RLIMIT_STACK, mutant_run(m, RUN_STACK));
	limit(RLIMIT_DATA, mutant_run(m, RUN_DATA));
	limit(RLIMIT_AS, mutant_run(m, RUN_AS));
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(99);
}

static char *make_argument(uint64_t size)
{
	char *s = calloc(1, size + 1);

	if (!s)
		_exit(99);
	memset(s, 'a', size);
	return s;
}

/* HOLD: the pipe of an untraced program, or -1. */
static _Noreturn void child(const char *root, const struct mutant *m, char *const *wrapper,
			    const int fd[3], int hold)
{
	static char variable[] = "VARIABLE=value";
	char *words[WORDS], *environment[] = { variable, NULL };
	uint64_t argument = mutant_run(m, RUN_ARGUMENT);
	int error, n = 0;

	while (wrapper && wrapper[n]) {
		words[n] = wrapper[n];
		n++;
	}
	words[n++] = (char *)(size_t)mutant_path(m, 0);
	if (argument)
		words[n++] = make_argument(argument);
	words[n] = NULL;
	if (dup2(fd[0], 1) < 0 || dup2(fd[1], 2) < 0 || chroot(root) || chdir("/"))
		_exit(99);
	if (hold >= 0 && dup2(hold, HOLD_FD) < 0)
		_exit(99);
	if (!mutant_run(m, RUN_RANDOM) && personality(ADDR_NO_RANDOMIZE) < 0)
		_exit(99);
	/* Before, so that set-id bits count: the tracer is root's. */
	if (hold < 0 && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(99);
	if (mutant_run(m, RUN_NOBODY))
		become_nobody();
	if (hold < 0)
		raise(SIGSTOP);
	alarm(SECONDS);
	set_limits(m);
	execve(words[0], words, environment);
	error = errno;
	_exit(write(fd[2], &error, sizeof(error)) == sizeof(error) ? 97 : 98);
}

/* ---- what /proc says --------------------------------------------------------- */

static size_t read_proc(pid_t pid, const char *what, char *to, size_t size)
{
	char name[64];
	ssize_t got, n = 0;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		give_up(name);
	while ((got = read(fd, to + n, size - 1 - (size_t)n)) > 0)
		n += got;
	close(fd);
	to[n] = 0;
	return (size_t)n;
}

struct report {
	struct observation *o;
	size_t length;
	bool random, nobody;
	unsigned long hide;
};

__attribute__((format(printf, 2, 3))) static void note(struct report *r, const char *format, ...)
{
	size_t left = OBSERVE_STATE - r->length;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(r->o->state + r->length, left, format, ap);
	va_end(ap);
	r->length += (size_t)n < left ? (size_t)n : left - 1;
}

/* One line of maps, or what several lines are that could be one. */
struct mapping {
	unsigned long from, to, offset, inode;
	char flags[8], name[256];
};

/* With randomisation: what is next to what, and how large. */
static void note_mapping(struct report *r, const struct mapping *m, unsigned long *end)
{
	if (!*m->flags)
		return;
	bool stack = !strcmp(m->name, "[stack]");

	/* A segment can lie there, too. */
	if ((!*m->name || m->inode || (stack && m->to - m->from > LARGE_STACK)) &&
	    m->to > r->o->top)
		r->o->top = m->to;
	if (m->inode) {
		uint64_t *low = &r->o->low[!strcmp(m->name + strlen(m->name) - 2, "/i")];

		*low = *low ? *low : m->from;
	}
	if (!r->random)
		note(r, "map %lx-%lx %s %lx %s\n", m->from, m->to, m->flags, m->offset, m->name);
	else if (stack)
		note(r, "map %s %s\n", m->flags, m->name);
	else
		note(r, "map %s%lx %s %lx %s\n", m->from == *end ? "" : "gap ", m->to - m->from,
		     m->flags, m->offset, m->name);
	*end = m->to;
}

static bool parse_mapping(const char *line, struct mapping *m)
{
	*m->name = 0;
	return sscanf(line, "%lx-%lx %7s %lx %*s %lu %255s", &m->from, &m->to, m->flags, &m->offset,
		      &m->inode, m->name) >= 5;
}

/*
 * Memory without a file, side by side and alike: do_brk_flags() makes a
 * mapping of its own where mmap() would extend another. The number of them is
 * noted apart.
 */
static bool joins(const struct mapping *a, const struct mapping *b)
{
	return a->to == b->from && !*a->name && !*b->name && !strcmp(a->flags, b->flags) &&
	       *a->flags;
}

static unsigned int note_maps(struct report *r, pid_t pid)
{
	static char maps[65536];
	struct mapping held = { 0 }, next = { 0 };
	unsigned long end = 0;
	unsigned int count = 0;
	char *rest = maps, *line;

	read_proc(pid, "maps", maps, sizeof(maps));
	while ((line = strsep(&rest, "\n"))) {
		if (!parse_mapping(line, &next))
			continue;
		count++;
		if (joins(&held, &next)) {
			held.to = next.to;
			continue;
		}
		note_mapping(r, &held, &end);
		held = next;
	}
	note_mapping(r, &held, &end);
	return count;
}

static void note_stat(struct report *r, pid_t pid)
{
	static const char *const name[] = {
		[26] = "startcode", [27] = "endcode",   [28] = "startstack", [45] = "start_data",
		[46] = "end_data",  [47] = "start_brk", [48] = "arg_start",  [49] = "arg_end",
		[50] = "env_start", [51] = "env_end"
	};
	uint64_t value[52] = { 0 };
	char stat[1024], *at;

	read_proc(pid, "stat", stat, sizeof(stat));
	at = strrchr(stat, ')');
	for (size_t i = 3; at && i < 52 && (at = strchr(at + 1, ' ')); i++)
		value[i] = strtoul(at, NULL, 10);
	memcpy(r->o->code, value + 26, sizeof(r->o->code));
	memcpy(r->o->data, value + 45, sizeof(r->o->data));
	r->o->brk = value[47];
	for (size_t i = 0; i < 52; i++)
		if (name[i] && !r->random)
			note(r, "%s %lx\n", name[i], value[i]);
}

static void note_vector(struct report *r, pid_t pid)
{
	uint64_t word[128];
	size_t n = read_proc(pid, "auxv", (char *)word, sizeof(word)) / sizeof(word[0]);
	static const unsigned char is_address[] = {
		[3] = 1, [7] = 1, [9] = 1, [25] = 1, [31] = 1, [15] = 1, [33] = 1
	};

	for (size_t i = 0; i + 1 < n; i += 2)
		if (r->random && word[i] < sizeof(is_address) && is_address[word[i]])
			note(r, "auxv %lu %s\n", word[i], word[i + 1] ? "set" : "0");
		else
			note(r, "auxv %lu %lx\n", word[i],
			     word[i] == AT_HWCAP ? word[i + 1] & ~r->hide : word[i + 1]);
}

static void note_names(struct report *r, pid_t pid)
{
	char text[512], name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	n = readlink(name, text, sizeof(text) - 1);
	/* Changing the link takes privilege. */
	if (!r->nobody)
		note(r, "exe %.*s\n", n > 0 ? (int)n : 0, text);
	read_proc(pid, "comm", text, sizeof(text));
	note(r, "comm %s", text);
	n = (ssize_t)read_proc(pid, "cmdline", text, sizeof(text));
	note(r, "cmdline ");
	for (ssize_t i = 0; i < n; i++)
		note(r, text[i] < ' ' ? "\\%o" : "%c", text[i]);
	n = (ssize_t)read_proc(pid, "environ", text, sizeof(text));
	note(r, "\nenviron %s\n", n ? text : "");
}

static void note_identity(struct observation *o, pid_t pid)
{
	static char status[8192];
	const char *at;

	read_proc(pid, "status", status, sizeof(status));
	at = strstr(status, "\nUid:");
	if (!at || sscanf(at, "\nUid: %*u %u", &o->uid) != 1)
		give_up("uid");
	at = strstr(status, "\nGid:");
	if (!at || sscanf(at, "\nGid: %*u %u", &o->gid) != 1)
		give_up("gid");
}

static void note_all(struct report *r, pid_t pid)
{
	unsigned int mappings = note_maps(r, pid);

	note_stat(r, pid);
	note_vector(r, pid);
	note_names(r, pid);
	note_identity(r->o, pid);
	note(r, "mappings %u\n", mappings);
}

static void note_fault(struct report *r, pid_t pid, int signal)
{
	struct user_regs_struct regs;
	siginfo_t info;

	r->o->signal = signal;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) || ptrace(PTRACE_GETSIGINFO, pid, NULL, &info))
		return;
	note(r, "signal %d code %d\n", signal, info.si_code);
	if (!r->random)
		note(r, "at %llx address %p sp %llx\n", regs.rip, info.si_addr, regs.rsp);
}

/* ---- the run ------------------------------------------------------------------ */

static void drain(int fd, char *to, size_t size)
{
	char rest[4096];
	size_t n = 0;
	ssize_t got;

	while ((got = read(fd, rest, sizeof(rest))) > 0) {
		size_t take = (size_t)got < size - 1 - n ? (size_t)got : size - 1 - n;

		memcpy(to + n, rest, take);
		n += take;
	}
	to[n] = 0;
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP;
}

/* One stop of PID; returns the signal to go on with. */
static int stopped(struct report *r, pid_t pid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC) {
		r->o->execs++;
		r->length = 0;
		return 0;
	}
	if (event == PTRACE_EVENT_EXIT) {
		note_all(r, pid);
		return 0;
	}
	if (is_fault(signal))
		note_fault(r, pid, signal);
	return signal;
}

static void follow(struct report *r, pid_t pid)
{
	const long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
	int status, signal = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, options))
		give_up("trace");
	for (;;) {
		ptrace(PTRACE_CONT, pid, NULL, signal);
		if (waitpid(pid, &status, __WALL) != pid)
			give_up("waitpid");
		if (!WIFSTOPPED(status))
			break;
		signal = stopped(r, pid, status);
	}
	r->o->status = status;
}

/* Pipes that are used again for every run: 0 out, 1 err, 2 errno. */
static void make_pipes(int from[3], int to[3])
{
	for (int i = 0; i < 3; i++) {
		int fd[2];

		if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
			give_up("pipe2");
		from[i] = fd[0];
		to[i] = fd[1];
	}
}

static bool has_said_ok(const struct observation *o)
{
	return !strcmp(o->out, "ok\n");
}

/* Until PID ends, or says "ok" and waits for the end of a pipe. */
static void watch(struct report *r, pid_t pid, int from)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p[2] = { { from, POLLIN, 0 }, { pidfd, POLLIN, 0 } };

	if (pidfd < 0)
		give_up("pidfd_open");
	do {
		if (poll(p, 2, -1) < 0)
			give_up("poll");
		if (p[0].revents)
			drain(from, r->o->out, sizeof(r->o->out));
		p[0].fd = -1; /* more is read at the end */
	} while (!p[1].revents && !has_said_ok(r->o));
	if (has_said_ok(r->o) && !p[1].revents)
		note_all(r, pid);
	close(pidfd);
}

static void observe_untraced(const char *root, const struct mutant *m, char *const *wrapper,
			     struct report *r, const int from[3], const int to[3])
{
	size_t said;
	int hold[2];
	pid_t pid;

	if (pipe2(hold, O_CLOEXEC))
		give_up("pipe2");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (!pid)
		child(root, m, wrapper, to, hold[0]);
	close(hold[0]);
	watch(r, pid, from[0]);
	close(hold[1]);
	if (waitpid(pid, &r->o->status, __WALL) != pid)
		give_up("waitpid");
	said = strlen(r->o->out);
	drain(from[0], r->o->out + said, sizeof(r->o->out) - said);
}

static void observe_traced(const char *root, const struct mutant *m, char *const *wrapper,
			   struct report *r, const int from[3], const int to[3])
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (!pid)
		child(root, m, wrapper, to, -1);
	follow(r, pid);
	drain(from[0], r->o->out, sizeof(r->o->out));
}

void observe(const char *root, const struct mutant *m, const struct observe_how *how,
	     struct observation *o)
{
	static int from[3], to[3];
	struct report r = { .o = o,
			    .random = mutant_run(m, RUN_RANDOM) || how->random,
			    .nobody = mutant_run(m, RUN_NOBODY),
			    .hide = how->hide };

	if (!from[0])
		make_pipes(from, to);
	memset(o, 0, sizeof(*o));
	(how->untraced ? observe_untraced : observe_traced)(root, m, how->wrapper, &r, from, to);
	/* What a stray change to the code may have started. */
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		continue;
	drain(from[1], o->err, sizeof(o->err));
	if (read(from[2], &o->error, sizeof(o->error)) < 0)
		o->error = 0;
}
