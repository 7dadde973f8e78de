/*
 * verdict - does the wrapper run and refuse what execve runs and refuses?
 *
 *	verdict -w WRAPPER [-d DIRECTORY] [-p PATTERN] [-x EXCEPTIONS] [-v]
 *
 * Every crafted file and a number of plain cases, as root and as nobody: run
 * by execve (by execvp where the case is about the search or the shell's
 * share), then behind WRAPPER. Natively refused: the wrapper must exit with
 * 126, or 127 where there is no such file, and name the reason. Natively
 * killed before it did anything: 126 or the same death. Else: same status,
 * same output.
 *
 * EXCEPTIONS: lines of "CASE USER reason", both patterns. An exception that
 * is not needed any more is a failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elfgen.h"
#include "refusal.h"

enum { MAX_WORDS = 32, OUTPUT = 16384, NOBODY = 65534 };

struct outcome {
	int error;  /* of execve, 0 if it went through */
	int status; /* as from waitpid */
	char out[OUTPUT], err[OUTPUT];
};

struct trial {
	const char *name;
	const char *program;
	char *argv[8];    /* of the target */
	const char *path; /* PATH, NULL for none */
	bool search;      /* natively by execvp */
	bool nobody;
	bool text;
};

struct exception {
	char name[64], user[16];
	bool used;
};

static struct {
	char *wrapper[MAX_WORDS];
	size_t words;
	bool verbose;
	const char *pattern;
	char directory[512];
	int passed, failed, skipped, ran, refused, died;
	struct exception exception[64];
	size_t exceptions;
} v;

static void result(const struct trial *t, bool ok, const char *why)
{
	const char *user = t->nobody ? "nobody" : "root";

	for (size_t i = 0; !ok && i < v.exceptions; i++) {
		struct exception *e = &v.exception[i];

		if (!fnmatch(e->name, t->name, 0) && !fnmatch(e->user, user, 0)) {
			e->used = true;
			v.passed++;
			printf("ok - row 15: %s (%s) # known exception: %s\n", t->name, user, why);
			return;
		}
	}
	*(ok ? &v.passed : &v.failed) += 1;
	if (!ok || v.verbose)
		printf("%s - row 15: %s (%s)%s%s\n", ok ? "ok" : "not ok", t->name, user,
		       *why ? " # " : "", why);
}

static void skip(const char *name, const char *why)
{
	v.skipped++;
	printf("ok - row 15: %s # SKIP: %s\n", name, why);
}

static void drain(int fd, char *to)
{
	size_t n = 0;
	ssize_t got;
	char rest[512];

	while ((got = read(fd, n < OUTPUT - 1 ? to + n : rest,
			   n < OUTPUT - 1 ? OUTPUT - 1 - n : sizeof(rest))) > 0)
		if (n < OUTPUT - 1)
			n += (size_t)got;
	to[n] = 0;
	close(fd);
}

static _Noreturn void child(const struct trial *t, bool wrapped, const int *out, const int *err,
			    int report)
{
	char *words[MAX_WORDS + 12], *path = NULL, *environment[2] = { NULL, NULL };
	size_t n = 0;

	if (t->path && asprintf(&path, "PATH=%s", t->path) > 0)
		environment[0] = path;
	dup2(out[1], 1);
	dup2(err[1], 2);
	alarm(20);
	if (chdir(v.directory))
		_exit(99);
	if (t->nobody && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			  setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(99);
	if (wrapped) {
		for (; n < v.words; n++)
			words[n] = v.wrapper[n];
		words[n++] = (char *)(size_t)t->program;
		for (size_t i = 1; t->argv[0] && t->argv[i]; i++)
			words[n++] = t->argv[i];
		words[n] = NULL;
		execve(words[0], words, environment);
	} else {
		environ = environment;
		(t->search || t->text ? execvp : execv)(t->program, t->argv);
	}
	n = (size_t)errno;
	if (write(report, &n, sizeof(n)) != sizeof(n))
		_exit(98);
	_exit(97);
}

static void run(const struct trial *t, bool wrapped, struct outcome *o)
{
	int out[2], err[2], report[2];
	size_t error = 0;
	pid_t pid;

	memset(o, 0, sizeof(*o));
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) {
		perror("pipe2");
		exit(2);
	}
	fflush(stdout);
	pid = fork();
	if (!pid)
		child(t, wrapped, out, err, report[1]);
	close(out[1]);
	close(err[1]);
	close(report[1]);
	if (pid < 0 || (read(report[0], &error, sizeof(error)) < 0))
		exit(2);
	close(report[0]);
	drain(out[0], o->out);
	drain(err[0], o->err);
	while (waitpid(pid, &o->status, 0) < 0 && errno == EINTR)
		;
	o->error = (int)error;
}

/* Not run: the status and the message that tells why, or a complaint. */
static const char *check_refusal(const struct trial *t, const struct outcome *w, int error)
{
	return refusal_check(w->status, w->out, w->err, error,
			     error == ENOENT || (error == ENOTDIR && t->search));
}

static const char *judge(const struct trial *t, const struct outcome *n, const struct outcome *w)
{
	if (w->error || (WIFEXITED(w->status) && WEXITSTATUS(w->status) == 99))
		return "the wrapper itself does not run";
	if (n->error) {
		v.refused++;
		return check_refusal(t, w, n->error);
	}
	if (WIFSIGNALED(n->status) && !*n->out) {
		v.died++;
		if (WIFSIGNALED(w->status) && WTERMSIG(w->status) == WTERMSIG(n->status) &&
		    !*w->out)
			return NULL;
		return check_refusal(t, w, 0);
	}
	v.ran++;
	if (n->status != w->status)
		return "it runs natively, with another status";
	if (strcmp(n->out, w->out) || strcmp(n->err, w->err))
		return "it runs natively, with another output";
	return NULL;
}

static void trial(const struct trial *t)
{
	static struct outcome n, w;
	const char *complaint;
	char why[1400];

	if (fnmatch(v.pattern, t->name, 0))
		return;
	run(t, false, &n);
	run(t, true, &w);
	complaint = judge(t, &n, &w);
	snprintf(why, sizeof(why), "native: %s %#x '%.100s', wrapped: %#x '%.100s' '%.*s'%s%s",
		 n.error ? strerrorname_np(n.error) : "ran", n.error ? 0 : n.status, n.out,
		 w.status, w.out, (int)strcspn(w.err, "\n"), w.err, complaint ? ": " : "",
		 complaint ? complaint : "");
	for (char *c = why; *c; c++)
		if (*c == '\n')
			*c = '|';
	result(t, !complaint, why);
}

static void both_users(struct trial t)
{
	if (!t.argv[0])
		t.argv[0] = (char *)(size_t)t.program;
	if (!t.path)
		t.path = "/usr/bin:/bin";
	t.nobody = false;
	trial(&t);
	t.nobody = true;
	trial(&t);
}

static char *in(const char *name)
{
	char *s;

	if (asprintf(&s, "%s/%s", v.directory, name) < 0)
		exit(2);
	return s;
}

static void write_text(const char *name, const char *text, mode_t mode)
{
	char *path = in(name);
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f) || chmod(path, mode)) {
		perror(path);
		exit(2);
	}
	free(path);
}

static void crafted(void)
{
	char *path = in("crafted");
	char name[64];

	for (size_t i = 0; i < elfgen_count(); i++) {
		snprintf(name, sizeof(name), "%s", elfgen_name(i));
		if (fnmatch(v.pattern, name, 0))
			continue;
		unlink(path);
		if (elfgen_write(i, path)) {
			perror(name);
			v.failed++;
			continue;
		}
		both_users((struct trial){
			.name = name, .program = path, .text = elfgen_kind_of(i) == ELFGEN_TEXT });
	}
	free(path);
}

/* A case of elfgen, written to NAME in the directory. */
static char *make_program(const char *kind, const char *name)
{
	char *path = in(name);

	unlink(path);
	for (size_t i = 0; i < elfgen_count(); i++)
		if (!strcmp(elfgen_name(i), kind) && elfgen_write(i, path)) {
			perror(path);
			exit(2);
		}
	return path;
}

static void simple(const char *name, const char *program)
{
	both_users((struct trial){ .name = name, .program = program });
}

static void modes(void)
{
	static const mode_t mode[] = { 0, 0644, 0100, 0111, 0555, 0711, 0700, 0744, 0710 };
	char name[64];
	char *path = make_program("static", "mode"), *pie = make_program("pie", "mode-pie");
	char *script = make_program("script-sh", "mode-script"), *interp = in("mode-pie.interp");

	for (size_t i = 0; i < sizeof(mode) / sizeof(mode[0]); i++) {
		chmod(path, mode[i]);
		chmod(script, mode[i]);
		snprintf(name, sizeof(name), "mode-%03o", mode[i]);
		simple(name, path);
		snprintf(name, sizeof(name), "script-mode-%03o", mode[i]);
		simple(name, script);
		chmod(interp, mode[i]);
		snprintf(name, sizeof(name), "interp-mode-%03o", mode[i]);
		simple(name, pie);
	}
}

static void bind_socket(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (void *)&a, sizeof(a)) || chmod(path, 0755))
		perror(path);
	close(fd);
}

static void kinds(void)
{
	char *program = make_program("static", "program");
	char *path;

	simple("missing", in("nonexistent"));
	simple("missing-directory", in("nonexistent/program"));
	simple("directory", v.directory);
	simple("through-file", in("program/x"));
	simple("trailing-slash", in("program/"));
	simple("relative", "./program");
	simple("dot-dot", "../../../../../../../../../usr/../bin/true");
	path = in("fifo");
	mkfifo(path, 0755);
	simple("fifo", path);
	path = in("socket");
	bind_socket(path);
	simple("socket", path);
	simple("device", "/dev/null");
	path = in("device");
	if (mknod(path, S_IFCHR | 0755, makedev(1, 5)))
		skip("device-x", strerror(errno));
	else
		chmod(path, 0755), simple("device-x", path);
	path = in("closed");
	mkdir(path, 0755);
	free(make_program("static", "closed/program"));
	chmod(path, 0700);
	simple("closed-directory", in("closed/program"));
	path = in("link");
	if (symlink(program, path) || symlink("loop", in("loop")) ||
	    symlink("/nonexistent", in("dangling")))
		perror(path);
	simple("link", path);
	simple("link-loop", in("loop"));
	simple("link-dangling", in("dangling"));
	simple("empty-name", "");
}

static void limits(void)
{
	char *program = make_program("static", "program"), *name = in("");
	char *huge = calloc(1, 131073), *longer;
	size_t n = strlen(name);

	longer = calloc(1, 6000);
	memcpy(longer, name, n);
	memset(longer + n, 'x', 255);
	simple("name-255", longer);
	memset(longer + n, 'x', 256);
	simple("name-256", longer);
	for (size_t i = n; i < 5000; i++)
		longer[i] = i % 100 ? 'y' : '/';
	simple("path-5000", longer);
	memset(huge, 'a', 131071);
	both_users((struct trial){
		.name = "argument-131071", .program = program, .argv = { program, huge } });
	free(huge);
}

static void busy(void)
{
	char *program = make_program("static", "busy"),
	     *script = make_program("script-sh", "busy-script");
	char *pie = make_program("pie", "busy-pie"), *interp = in("busy-pie.interp");
	int a = open(program, O_WRONLY | O_CLOEXEC), b = open(script, O_WRONLY | O_CLOEXEC);
	int c = open(interp, O_WRONLY | O_CLOEXEC);

	simple("busy", program);
	simple("busy-script", script);
	simple("busy-interp", pie);
	close(a);
	close(b);
	close(c);
	simple("not-busy", program);
	free(pie);
}

static void noexec(void)
{
	char *path = in("noexec");

	mkdir(path, 0755);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", MS_NOEXEC, "mode=755")) {
		skip("noexec", strerror(errno));
		return;
	}
	simple("noexec", make_program("static", "noexec/program"));
	simple("noexec-script", make_program("script-sh", "noexec/script"));
	free(make_program("pie", "pie"));
	write_text("noexec-interp", "", 0644);
	path = make_program("pie", "noexec/pie");
	simple("noexec-pie", path);
	umount2(in("noexec"), MNT_DETACH);
}

static void chains(void)
{
	char *program = make_program("static", "level-0");
	char name[32], text[1024];

	for (int i = 1; i <= 7; i++) {
		snprintf(name, sizeof(name), "level-%d", i);
		snprintf(text, sizeof(text), "#!%s/level-%d a%d\n", v.directory, i - 1, i);
		write_text(name, text, 0755);
		snprintf(name, sizeof(name), "script-level-%d", i);
		snprintf(text, sizeof(text), "level-%d", i);
		both_users((struct trial){ .name = name, .program = in(text) });
	}
	write_text("plain-text", "echo plain\n", 0755);
	snprintf(text, sizeof(text), "#!%s/plain-text\n", v.directory);
	write_text("script-of-text", text, 0755);
	simple("script-of-text", in("script-of-text"));
	write_text("nothing", "", 0755);
	snprintf(text, sizeof(text), "#!%s/nothing\n", v.directory);
	write_text("script-of-nothing", text, 0755);
	simple("script-of-nothing", in("script-of-nothing"));
	free(program);
}

/* execvp(3): what each element of PATH answers, and what is remembered. */
static void search(void)
{
	static const struct {
		const char *name, *program, *path;
	} s[] = {
		{ "path-found", "found", "@/one:@/two" },
		{ "path-second", "second", "@/one:@/two" },
		{ "path-missing", "absent-everywhere", "@/one:@/two" },
		{ "path-eacces-then-found", "both", "@/denied:@/one" },
		{ "path-eacces-remembered", "denied-only", "@/denied:@/one" },
		{ "path-directory", "directory-only", "@/one:@/two" },
		{ "path-directory-then-found", "directory-then-file", "@/one:@/two" },
		{ "path-closed-directory", "found", "@/closed:@/one" },
		{ "path-closed-only", "absent-everywhere", "@/closed:@/one" },
		{ "path-nonexistent-element", "found", "/nonexistent:@/one" },
		{ "path-file-element", "found", "@/program:@/one" },
		{ "path-file-element-only", "absent-everywhere", "@/program" },
		{ "path-loop-element", "found", "@/loop:@/one" },
		{ "path-empty-element", "here", "@/one::@/two" },
		{ "path-empty-first", "here", ":@/one" },
		{ "path-empty-last", "here", "@/one:" },
		{ "path-empty", "here", "" },
		{ "path-empty-absent", "absent-everywhere", "" },
		{ "path-relative-element", "found", "one" },
		{ "path-text", "text", "@/one" },
		{ "path-dangling", "dangling", "@/one:@/two" },
		{ "path-slash", "one/found", "/nonexistent" },
		{ "path-empty-name", "", "@/one" },
		{ "path-dash", "-x", "@/one" },
	};
	char path[2048];

	for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
		size_t n = 0;

		for (const char *c = s[i].path; *c; c++)
			n += (size_t)snprintf(path + n, sizeof(path) - n, *c == '@' ? "%s" : "%.1s",
					      *c == '@' ? v.directory : c);
		path[n] = 0;
		both_users((struct trial){
			.name = s[i].name, .program = s[i].program, .path = path, .search = true });
	}
}

static void unset_path(void)
{
	struct trial t = { .name = "path-unset", .program = "true", .search = true };

	t.argv[0] = (char *)(size_t)t.program;
	trial(&t);
	t.nobody = true;
	trial(&t);
	t.name = "path-unset-missing";
	t.program = "absent-everywhere";
	trial(&t);
}

static void prepare_search(void)
{
	static const char *const directory[] = { "one", "two", "denied", "one/directory-only",
						 "one/directory-then-file" };

	for (size_t i = 0; i < sizeof(directory) / sizeof(directory[0]); i++)
		mkdir(in(directory[i]), 0755);
	write_text("one/found", "#!/bin/sh\necho one $0 $*\n", 0755);
	write_text("two/found", "#!/bin/sh\necho two\n", 0755);
	write_text("two/second", "#!/bin/sh\necho second\n", 0755);
	write_text("denied/both", "#!/bin/sh\necho denied\n", 0644);
	write_text("one/both", "#!/bin/sh\necho both\n", 0755);
	write_text("denied/denied-only", "#!/bin/sh\necho denied\n", 0644);
	write_text("two/directory-then-file", "#!/bin/sh\necho file\n", 0755);
	write_text("one/text", "echo text $# ${0##*/}\n", 0755);
	write_text("here", "#!/bin/sh\necho here $0\n", 0755);
	write_text("one/-x", "#!/bin/sh\necho dash\n", 0755);
	write_text("two/dangling", "#!/bin/sh\necho dangling\n", 0755);
	if (symlink("/nonexistent", in("one/dangling")))
		perror("symlink");
}

static void read_exceptions(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), f)) {
		struct exception *e = &v.exception[v.exceptions];

		if (*line != '#' && v.exceptions < 64 &&
		    sscanf(line, "%63s %15s", e->name, e->user) == 2)
			v.exceptions++;
	}
	fclose(f);
}

static void split_wrapper(char *s)
{
	for (char *w = strtok(s, " "); w && v.words < MAX_WORDS - 1; w = strtok(NULL, " "))
		v.wrapper[v.words++] = w;
	if (!v.words)
		exit(2);
	v.wrapper[0] = realpath(v.wrapper[0], NULL);
	if (!v.wrapper[0]) {
		perror("wrapper");
		exit(2);
	}
}

static void options(int argc, char **argv)
{
	const char *directory = "/tmp";
	int o;

	v.pattern = "*";
	while ((o = getopt(argc, argv, "w:d:p:x:v")) != -1) {
		switch (o) {
		case 'w': split_wrapper(strdup(optarg)); break;
		case 'd': directory = optarg; break;
		case 'p': v.pattern = optarg; break;
		case 'x': read_exceptions(optarg); break;
		case 'v': v.verbose = true; break;
		default: exit(125);
		}
	}
	if (!v.words) {
		fprintf(stderr, "verdict: no wrapper given with -w\n");
		exit(125);
	}
	snprintf(v.directory, sizeof(v.directory), "%s/verdict.XXXXXX", directory);
	if (!mkdtemp(v.directory) || chmod(v.directory, 0755)) {
		perror(v.directory);
		exit(2);
	}
}

static void remove_directory(void)
{
	pid_t pid = fork();

	if (!pid) {
		execlp("rm", "rm", "-rf", v.directory, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	bool whole;

	umask(022);
	options(argc, argv);
	signal(SIGPIPE, SIG_DFL);
	if (getuid()) {
		skip("all verdicts", "must be root, to be nobody as well");
		printf("1..1\n0 passed, 0 failed, 1 skipped\n");
		return 0;
	}
	crafted();
	modes();
	kinds();
	limits();
	busy();
	chains();
	prepare_search();
	search();
	unset_path();
	noexec();
	remove_directory();
	whole = !strcmp(v.pattern, "*");
	for (size_t i = 0; whole && i < v.exceptions; i++) {
		if (v.exception[i].used)
			continue;
		printf("not ok - exception %s %s no longer occurs\n", v.exception[i].name,
		       v.exception[i].user);
		v.failed++;
	}
	if (whole && (v.ran < 150 || v.refused < 100 || v.died < 50)) {
		printf("not ok - the cases are no test\n");
		v.failed++;
	}
	if (v.verbose)
		printf("1..%d\n", v.passed + v.failed + v.skipped);
	printf("# natively: %d ran, %d were refused, %d died\n", v.ran, v.refused, v.died);
	printf("%d passed, %d failed, %d skipped\n", v.passed, v.failed, v.skipped);
	return v.failed != 0 || !v.passed;
}
