/*
 * diff - hwcap-exec against execve, on programs changed at random
 *
 *	diff -w WRAPPER [-n COUNT] [-s SEED] [-f FIRST] [-j JOBS] [-x EXCEPTIONS] [-uv]
 *	diff -w WRAPPER [-x EXCEPTIONS] [-u] -r FILE|-
 *
 * -m BITS: of AT_HWCAP, that WRAPPER is told to hide.
 * -u: WRAPPER traces what it starts, so that we cannot. -c: so, too, and it
 * starts another program, which executes the mutant.
 *
 * Mutant number I of a seed is always the same program. It is executed
 * natively and behind WRAPPER, as root or nobody, in namespaces and a root
 * directory made for it. Natively refused: WRAPPER must refuse with the same
 * reason. Natively killed before its first instruction: refused or killed.
 * Else everything must be the same: status, output, memory map, vector, names
 * and ranges in /proc.
 *
 * A difference is reduced and printed as a line that -r (a file of such
 * lines) runs again. EXCEPTIONS: lines of "KIND reason", kinds of difference
 * that are known; see known().
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elfgen.h"
#include "observe.h"
#include "refusal.h"

#include ELFGEN_ARCH

enum { KINDS = 16, MAX_WORDS = 8, TRIES = 10, NOBODY = 65534, JOBS = 64 };

struct kind {
	char name[32];
	unsigned long used;
};

/* Shared between the jobs. */
struct counts {
	unsigned long ran, refused, died, differ;
	struct kind kind[KINDS];
};

static struct {
	char *wrapper[MAX_WORDS + 1];
	unsigned long count, first, jobs, hide;
	uint64_t seed;
	const char *replay;
	bool verbose, untraced, as_child;
	int kinds;
	char root[256];
	struct counts *c;
} f = { .count = 1000, .seed = 1, .jobs = 1 };

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(2);
}

/* ---- the world ------------------------------------------------------------------ */

static void copy_file(const char *path, const char *name)
{
	char buffer[65536];
	int from = open(path, O_RDONLY | O_CLOEXEC), to;
	ssize_t n;

	to = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)n) != n)
			give_up(name);
	if (n || fchmod(to, 0755))
		give_up(path);
	close(from);
	close(to);
}

static void copy_wrapper(void)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/hwcap-exec", f.root);
	copy_file(f.wrapper[0], name);
	f.wrapper[0] = strdup("/hwcap-exec");
}

/* What runs text without a #! line. */
static void make_shell(void)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/bin", f.root);
	mkdir(name, 0755);
	snprintf(name, sizeof(name), "%s/bin/sh", f.root);
	for (size_t i = 0; i < elfgen_count(); i++)
		if (!strcmp(elfgen_name(i), "static") && elfgen_write(i, name))
			give_up(name);
}

/* This program again, as what executes its first argument; see as_child(). */
static void make_child(void)
{
	size_t words = 0;
	char name[300];

	snprintf(name, sizeof(name), "%s/child", f.root);
	copy_file("/proc/self/exe", name);
	while (f.wrapper[words])
		words++;
	if (words == MAX_WORDS)
		give_up("wrapper");
	f.wrapper[words] = strdup("/child");
}

static void make_mount(const char *name, unsigned long flags)
{
	char path[300];

	snprintf(path, sizeof(path), "%s%s", f.root, name);
	if ((*name && mkdir(path, 0755)) || mount("none", path, "tmpfs", flags, "mode=755"))
		give_up(path);
}

/* A tracer reads there what the kernel noted of a program. */
static void make_proc(void)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/proc", f.root);
	if (mkdir(name, 0755) || mount("proc", name, "proc", 0, NULL))
		give_up(name);
}

/* Mutants may do what they like; none of these changes what they can run. */
static void drop_capabilities(void)
{
	static const int needless[] = { 12, 14, 16, 22, 23, 25, 26, 27, 30 };

	for (size_t i = 0; i < sizeof(needless) / sizeof(needless[0]); i++)
		if (prctl(PR_CAPBSET_DROP, needless[i], 0, 0, 0))
			give_up("PR_CAPBSET_DROP");
}

static void enter_world(void)
{
	const struct rlimit none = { 0, 0 };

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		give_up("mount");
	make_mount("", 0);
	make_mount("/plain", 0);
	make_mount("/noexec", MS_NOEXEC);
	make_mount("/nosuid", MS_NOSUID);
	copy_wrapper();
	make_shell();
	if (f.as_child)
		make_child();
	if (f.untraced)
		make_proc();
	drop_capabilities();
	setrlimit(RLIMIT_CORE, &none);
}

/* ---- the verdict ------------------------------------------------------------------ */

static bool killed(const struct observation *o)
{
	return WIFSIGNALED(o->status) && !*o->out && !*o->err;
}

/* The first line in which A and B differ, as text. */
static const char *difference(const char *a, const char *b)
{
	static char text[400];
	size_t start = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '\n')
			start = i + 1;
	snprintf(text, sizeof(text), "%.*s | %.*s", (int)strcspn(a + start, "\n"), a + start,
		 (int)strcspn(b + start, "\n"), b + start);
	return text;
}

static const char *judge_run(const struct observation *n, const struct observation *w)
{
	if (n->status != w->status)
		return "it runs natively, with another status";
	if (strcmp(n->out, w->out) || strcmp(n->err, w->err))
		return "it runs natively, with another output";
	/* Untraced, only of a program that waited there is a state. */
	if (f.untraced && strcmp(w->out, "ok\n"))
		return NULL;
	if (n->uid != w->uid || n->gid != w->gid)
		return "it runs natively, as another user";
	if (strcmp(n->state, w->state))
		return difference(n->state, w->state);
	return NULL;
}

static const char *judge(const struct observation *n, const struct observation *w)
{
	/* The reason is in the words or in the limits, not in the program. */
	if (w->error && (w->error == n->error || (n->error && w->error == E2BIG)))
		return NULL;
	if (w->error)
		return "the wrapper itself does not run";
	if (n->error)
		return refusal_check(w->status, w->out, w->err, n->error, n->error == ENOENT);
	if (!n->execs)
		return killed(w) ? NULL : refusal_check(w->status, w->out, w->err, 0, false);
	return judge_run(n, w);
}

/* ---- known kinds of difference ------------------------------------------------------ */

static bool exits_with(const struct observation *w, int status)
{
	return WIFEXITED(w->status) && WEXITSTATUS(w->status) == status &&
	       !strncmp(w->err, "hwcap-exec: ", 12) && !*w->out;
}

static bool readable(const struct mutant *m, int file)
{
	return !mutant_run(m, RUN_NOBODY) || (mutant_mode(m, file) & 4);
}

/* Of the file that is mapped: a program, or what a script names. */
static bool has_set_id(const struct mutant *m)
{
	int file = m->base < 0;

	return (mutant_mode(m, file) & 06000) && strncmp(mutant_path(m, file), "/nosuid", 7);
}

/* bprm_fill_uid(): they clear ADDR_NO_RANDOMIZE then. */
static bool set_id_counts(const struct mutant *m)
{
	unsigned int mode = mutant_mode(m, m->base < 0);

	return has_set_id(m) && ((mode & 04000) || (mode & 02010) == 02010);
}

static const char *message(const struct observation *w)
{
	return strchr(w->err, ' ') ? w->err : "";
}

/* Of an ELF file as it is written: its type, and from where to where it goes. */
struct extent {
	bool fixed;
	uint64_t low, high;
};

static void read_extent(const struct mutant *m, int file, struct extent *e)
{
	static unsigned char b[65536];
	char name[512];
	Elf64_Ehdr h;
	Elf64_Phdr ph;
	ssize_t size;
	int fd;

	*e = (struct extent){ .low = UINT64_MAX };
	snprintf(name, sizeof(name), "%s%s", f.root, mutant_path(m, file));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, b, sizeof(b));
	close(fd);
	if (size < (ssize_t)sizeof(h))
		return;
	memcpy(&h, b, sizeof(h));
	e->fixed = h.e_type == ET_EXEC;
	for (uint64_t at = h.e_phoff; h.e_phnum-- && at + sizeof(ph) <= (uint64_t)size;
	     at += sizeof(ph)) {
		memcpy(&ph, b + at, sizeof(ph));
		if (ph.p_type != PT_LOAD)
			continue;
		if (ph.p_vaddr < e->low)
			e->low = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > e->high)
			e->high = ph.p_vaddr + ph.p_memsz;
	}
}

static bool aligned_high(const struct mutant *m)
{
	for (size_t i = 0; i < m->settings; i++)
		if (m->setting[i].kind == SET_SEGMENT && m->setting[i].value >= 1ul << 43)
			return true;
	return false;
}

/*
 * The addresses of hwcap-exec itself, the vDSO and the stack, in the upper
 * eighth: a file, or a large p_align, asks for one of them, or a span is so
 * large that it reaches them.
 */
static bool occupied(const struct mutant *m, const struct observation *n,
		     const struct observation *w)
{
	const uint64_t high = ELFGEN_TASK_SIZE / 8 * 7, large = 1ul << 43;
	bool in_use = exits_with(w, 126) && strstr(message(w), "must be loaded at is in use");
	bool no_room = exits_with(w, 126) && strstr(message(w), strerror(ENOMEM));

	for (int file = 0; file < 2; file++) {
		struct extent e;

		read_extent(m, file, &e);
		if (!n->low[file] || e.low > e.high)
			continue;
		if (!e.fixed && e.high - e.low > large &&
		    (in_use || no_room || n->low[file] < high))
			return true;
		if (in_use &&
		    (e.fixed ? e.high > high : n->low[file] >= high && !file && n->low[1]))
			return true;
		if (in_use && e.fixed && file)
			return true; /* what it replaces can be what we need */
	}
	return in_use && (n->top >= high || WIFSIGNALED(n->status)) && aligned_high(m);
}

/* Limits that leave the wrapper no room of its own. */
static const char *no_room(const struct mutant *m, const struct observation *n,
			   const struct observation *w, const char *why)
{
	bool refused = exits_with(w, 125) || exits_with(w, 126);

	if (mutant_run(m, RUN_NOFILE) && ((refused && strstr(message(w), strerror(EMFILE))) ||
					  (f.untraced && !strncmp(why, "startcode", 9))))
		return "few-descriptors";
	if (mutant_run(m, RUN_AS) && ((!n->error && !n->execs) || !strncmp(why, "map ", 4)))
		return "small-memory"; /* spans are not reserved, the vDSO stays */
	if ((mutant_run(m, RUN_AS) || mutant_run(m, RUN_DATA)) &&
	    (killed(w) || (refused && (strstr(message(w), strerror(ENOMEM)) ||
				       strstr(message(w), "a page to leave by")))))
		return "small-memory";
	if (mutant_run(m, RUN_STACK) && mutant_run(m, RUN_STACK) < 1 << 18 &&
	    (killed(w) || w->error == E2BIG || (refused && strstr(message(w), "supervisor"))))
		return "small-stack";
	return NULL;
}

/* validate_prctl_map_addr() has rules for these that execve has not. */
static bool odd_ranges(const struct observation *n)
{
	return n->code[0] >= n->code[1] || n->data[0] > n->data[1] || n->code[0] < 1 << 16 ||
	       n->data[0] < 1 << 16 || n->brk < 1 << 16 || n->code[1] >= ELFGEN_TASK_SIZE ||
	       n->data[1] >= ELFGEN_TASK_SIZE;
}

/*
 * Jumping to the ELF header: its first bytes are "jg", then an access. Which
 * fault comes of it is a matter of what the mutant changed in there.
 */
static bool header_ran(const struct observation *n, const struct observation *w, const char *why)
{
	unsigned long at, to;
	const char *second = strchr(why, '|'), *first = strstr(n->state, "\nat ");

	if (killed(n) && killed(w) && n->signal && first && sscanf(first, "\nat %lx", &at) == 1 &&
	    (at & 0xfff) < sizeof(Elf64_Ehdr) + 0x20)
		return true;

	return second && sscanf(why, "at %lx", &at) == 1 && sscanf(second, "| at %lx", &to) == 1 &&
	       at - to == 0x45;
}

/* Where a tracer, or the supervisor, finds out only after the exec: SIGKILL. */
static const char *known_late(const struct mutant *m, const struct observation *n,
			      const struct observation *w)
{
	if (!f.untraced || w->status != SIGKILL || *w->out)
		return NULL;
	if (!readable(m, 0) || !readable(m, 1))
		return "unreadable";
	if (n->brk > ELFGEN_TASK_SIZE - (1ul << 32))
		return "no-heap";
	return NULL;
}

/* The kind of a difference that the manual's LIMITS tell of, or NULL. */
static const char *known(const struct mutant *m, const struct observation *n,
			 const struct observation *w, const char *why)
{
	if (exits_with(w, 126) && (!readable(m, 0) || !readable(m, 1)) &&
	    strstr(message(w), strerror(EACCES)))
		return "unreadable";
	if (exits_with(w, 126) &&
	    (strstr(message(w), "but not read") || strstr(message(w), "cannot be read")))
		return "unreadable";
	if (exits_with(w, 126) && has_set_id(m) && strstr(message(w), "set-id bits"))
		return "credentials";
	if (f.as_child && mutant_run(m, RUN_NOBODY) && has_set_id(m) &&
	    strstr(why, "as another user"))
		return "no-new-privs";
	if (occupied(m, n, w))
		return "occupied";
	if (exits_with(w, 126) && strstr(message(w), "has nothing to load") &&
	    WIFSIGNALED(n->status) && !*n->out)
		return "nothing-to-load";
	if (exits_with(w, 126) && strstr(message(w), "PR_SET_MM_MAP refuses") &&
	    n->brk > ELFGEN_TASK_SIZE - (1ul << 32))
		return "no-heap";
	if (exits_with(w, 126) && strstr(message(w), "/i: segment is outside") && !n->error &&
	    n->execs)
		return "last-page";
	if (header_ran(n, w, why))
		return "flags";
	if (!strncmp(why, "mappings", 8))
		return "split-mappings";
	if (n->error == ENOEXEC && !strcmp(w->out, "ok\n"))
		return "shell";
	if (odd_ranges(n) && (!strncmp(why, "startcode", 9) || !strncmp(why, "endcode", 7) ||
			      !strncmp(why, "start_data", 10) || strstr(why, "[heap]")))
		return "odd-ranges";
	if (known_late(m, n, w))
		return known_late(m, n, w);
	return no_room(m, n, w, why);
}

/* ---- one mutant ----------------------------------------------------------------------- */

struct trial {
	struct observation native, wrapped;
	const char *why, *kind;
};

static void try_once(const struct mutant *m, struct trial *t)
{
	const struct observe_how plain = { .random = set_id_counts(m), .hide = f.hide };
	const struct observe_how wrapped = { .wrapper = f.wrapper,
					     .untraced = f.untraced,
					     .random = plain.random };

	if (mutant_write(m, f.root))
		give_up("mutant_write");
	observe(f.root, m, &plain, &t->native);
	observe(f.root, m, &wrapped, &t->wrapped);
	t->why = judge(&t->native, &t->wrapped);
	t->kind = t->why ? known(m, &t->native, &t->wrapped, t->why) : NULL;
	for (int i = 0; t->kind && i < f.kinds; i++)
		if (!strcmp(f.c->kind[i].name, t->kind)) {
			__atomic_add_fetch(&f.c->kind[i].used, 1, __ATOMIC_RELAXED);
			t->why = NULL;
			break;
		}
}

/* A difference must come again: a loaded machine can make any program late. */
static bool differs(const struct mutant *m, struct trial *t)
{
	for (int i = 0; i < TRIES; i++) {
		try_once(m, t);
		if (!t->why)
			return false;
	}
	return true;
}

/* Leave out what is not needed for a difference. */
static void reduce(struct mutant *m, struct trial *t)
{
	for (size_t i = 0; i < m->settings;) {
		struct mutant less = *m;

		memmove(&less.setting[i], &less.setting[i + 1],
			(m->settings - i - 1) * sizeof(m->setting[0]));
		less.settings--;
		if (differs(&less, t))
			*m = less;
		else
			i++;
	}
	differs(m, t);
}

static void print_difference(const struct mutant *m, const struct trial *t, const char *label)
{
	const struct observation *n = &t->native, *w = &t->wrapped;
	static char line[MUTANT_LINE], text[2 * MUTANT_LINE];

	mutant_print(m, line);
	snprintf(text, sizeof(text),
		 "not ok - %s: %.600s\n# native: error %d status %#x execs %d '%.20s'\n"
		 "# wrapped: error %d status %#x '%.20s' '%.300s'\n%s\n",
		 label, t->why ? t->why : "(not again)", n->error, (unsigned int)n->status,
		 n->execs, n->out, w->error, (unsigned int)w->status, w->out, w->err, line);
	fputs(text, stdout);
	fflush(stdout);
}

static void count(const struct observation *n)
{
	unsigned long *which = n->error ? &f.c->refused : n->execs ? &f.c->ran : &f.c->died;

	__atomic_add_fetch(which, 1, __ATOMIC_RELAXED);
}

static void one(struct mutant *m, const char *label)
{
	static struct trial t;

	if (!differs(m, &t)) {
		count(&t.native);
		if (f.verbose)
			printf("ok - %s%s%s\n", label, t.kind ? " # known: " : "",
			       t.kind ? t.kind : "");
		return;
	}
	__atomic_add_fetch(&f.c->differ, 1, __ATOMIC_RELAXED);
	if (!f.replay)
		reduce(m, &t);
	print_difference(m, &t, label);
	if (f.verbose)
		printf("native:\n%s\nwrapped:\n%s\n", t.native.state, t.wrapped.state);
}

static void many(unsigned long job)
{
	struct mutant m;
	char label[64];

	for (unsigned long i = f.first + job; i < f.first + f.count; i += f.jobs) {
		mutant_make(&m, f.seed, i);
		snprintf(label, sizeof(label), "mutant %lu of seed %lu", i, f.seed);
		one(&m, label);
	}
}

static void replay(void)
{
	FILE *file = strcmp(f.replay, "-") ? fopen(f.replay, "re") : stdin;
	static char line[MUTANT_LINE], label[MUTANT_LINE];
	struct mutant m;

	if (!file)
		give_up(f.replay);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "base=", 5))
			continue;
		if (mutant_parse(&m, line)) {
			printf("not ok - not a mutant: %s", line);
			f.c->differ++;
			continue;
		}
		snprintf(label, sizeof(label), "%.*s", (int)strcspn(line, "\n"), line);
		one(&m, label);
	}
}

/* ---- options, jobs ------------------------------------------------------------------------ */

static void read_exceptions(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];

	if (!file)
		give_up(path);
	while (fgets(line, sizeof(line), file))
		if (*line != '#' && f.kinds < KINDS &&
		    sscanf(line, "%31s", f.c->kind[f.kinds].name) == 1)
			f.kinds++;
	fclose(file);
}

static void split_wrapper(char *s)
{
	size_t n = 0;

	for (char *w = strtok(s, " "); w && n < MAX_WORDS; w = strtok(NULL, " "))
		f.wrapper[n++] = w;
	if (!n)
		exit(125);
	f.wrapper[0] = realpath(f.wrapper[0], NULL);
	if (!f.wrapper[0])
		give_up("wrapper");
}

static void options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "w:n:s:f:j:m:x:r:cuv")) != -1) {
		switch (o) {
		case 'w': split_wrapper(strdup(optarg)); break;
		case 'n': f.count = strtoul(optarg, NULL, 0); break;
		case 's': f.seed = strtoul(optarg, NULL, 0); break;
		case 'f': f.first = strtoul(optarg, NULL, 0); break;
		case 'j': f.jobs = strtoul(optarg, NULL, 0); break;
		case 'm': f.hide = strtoul(optarg, NULL, 0); break;
		case 'x': read_exceptions(optarg); break;
		case 'r': f.replay = optarg; break;
		case 'v': f.verbose = true; break;
		case 'c': f.as_child = true; /* fallthrough */
		case 'u': f.untraced = true; break;
		default: exit(125);
		}
	}
	if (!f.wrapper[0] || !f.jobs || f.jobs > JOBS) {
		fprintf(stderr, "diff: no wrapper given with -w, or no such number of jobs\n");
		exit(125);
	}
}

/* Each job is the init of its own namespace of processes. */
static void job(unsigned long number)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS))
		give_up("unshare");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid) {
		if (waitpid(pid, &status, 0) < 0)
			give_up("waitpid");
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	enter_world();
	if (f.replay)
		replay();
	else
		many(number);
	fflush(stdout);
	_exit(0);
}

static bool run_jobs(void)
{
	bool good = true;
	int status;

	if (f.replay)
		f.jobs = 1;
	for (unsigned long i = 0; i < f.jobs; i++) {
		pid_t pid = fork();

		if (pid < 0)
			give_up("fork");
		if (!pid)
			job(i);
	}
	while (wait(&status) > 0)
		good = good && !status;
	return good;
}

/* Executes what is given, and tells of a failure as hwcap-exec does. */
static int as_child(char **argv)
{
	extern char **environ;

	execve(argv[1], argv + 1, environ);
	if (errno != EPERM) /* of that the supervisor has told */
		fprintf(stderr, "hwcap-exec: %s: %m\n", argv[1]);
	return errno == ENOENT ? 127 : 126;
}

int main(int argc, char **argv)
{
	struct counts *c =
		mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long passed;
	bool good;

	if (argc > 1 && !strcmp(argv[0], "/child"))
		return as_child(argv);
	if (c == MAP_FAILED)
		give_up("mmap");
	f.c = c;
	umask(022);
	options(argc, argv);
	if (getuid()) {
		printf("ok - differential fuzzing # SKIP needs root, to be nobody as well\n");
		printf("0 passed, 0 failed, 1 skipped\n");
		return 0;
	}
	snprintf(f.root, sizeof(f.root), "/tmp/hwcap-diff.XXXXXX");
	if (!mkdtemp(f.root))
		give_up(f.root);
	good = run_jobs();
	rmdir(f.root);
	if (!good)
		printf("not ok - a job did not come to its end\n");
	passed = c->ran + c->refused + c->died;
	printf("# natively %lu ran, %lu were refused, %lu died\n", c->ran, c->refused, c->died);
	for (int i = 0; i < f.kinds; i++)
		printf("# known difference %s: %lu\n", c->kind[i].name, c->kind[i].used);
	printf("%lu passed, %lu failed, 0 skipped\n", passed, c->differ + !good);
	return c->differ || !good || !passed;
}
