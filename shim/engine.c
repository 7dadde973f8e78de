#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "arch.h"
#include "engine.h"
#include "follow.h"
#include "load.h"
#include "process.h"
#include "report.h"
#include "stamp.h"
#include "sys.h"
#include "trace.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* Ours, headers included, as mapped: see hwcap-exec.ld. */
extern const char image_start[] __attribute__((visibility("hidden")));
extern const char image_end[] __attribute__((visibility("hidden")));

static size_t image_size(void)
{
	return (uintptr_t)image_end - (uintptr_t)image_start;
}

enum kind { NATIVE, NARROW, OTHER };

static enum kind kind_of(const struct program_file *f)
{
	const unsigned char *ident = f->head;

	if (f->head_size < EI_NIDENT || !elf_has_magic(ident))
		return OTHER;
	return ident[EI_CLASS] == ELFCLASS32 ? NARROW : NATIVE;
}

/* ---- what each engine needs ------------------------------------------------ */

static void verbose(const struct engine_request *r, const char *engine, const char *why)
{
	if (r->options->verbose)
		report_choice(r->program, &r->hide, engine, why);
}

/* Given to us, not to the program, which execve would not let have them. */
static int check_own_capabilities(struct diag *d, const struct engine_request *r)
{
	if (!r->start->secure || !process_has_more_than_ambient())
		return 0;
	return diag(d, EXIT_FAILED, EPERM,
		    "%s: would keep the file capabilities of hwcap-exec: take them "
		    "away (setcap -r)",
		    r->file);
}

static int run_loader(struct diag *d, const struct engine_request *r, bool need_link)
{
	const struct load_request request = {
		.start = r->start,
		.program = r->program,
		.skip = r->options->first + 1,
		.hide = r->hide,
		.no_vdso = r->options->no_vdso,
		.need_link = need_link,
	};

	return check_own_capabilities(d, r) ? -1 : load_run(d, &request);
}

/*
 * The target's arguments, where ours are. A shell comes in place of the word
 * before its script: there is one, argv[0] at least.
 */
static char **arguments(const struct engine_request *r)
{
	char **argv = r->start->argv + r->options->first;

	if (r->options->argv0)
		argv[0] = (char *)(uintptr_t)r->options->argv0;
	if (r->program->path != r->file) {
		*argv-- = (char *)(uintptr_t)r->file;
		argv[0] = (char *)(uintptr_t)r->program->path;
	}
	return argv;
}

static int keep_diagnosis(struct diag *d, const struct load *load, void *to)
{
	(void)load;
	(void)to;
	d->status = EXIT_CANNOT_RUN;
	return -1;
}

/* The kernel's errno may be about the interpreter; the loader's checks tell. */
static int explain(struct diag *d, const struct engine_request *r)
{
	const struct load_request request = { .start = r->start,
					      .program = r->program,
					      .report = keep_diagnosis };

	return load_run(d, &request);
}

static int exec_failed(struct diag *d, const struct engine_request *r, long error)
{
	char number[16];

	if (error == -ENOEXEC)
		return explain(d, r);
	if (error == -EPERM)
		return diag(d, EXIT_CANNOT_RUN, EPERM,
			    "%s: cannot be masked, so it does not run; --follow=try "
			    "would run it as it is",
			    r->file);
	if (error == -ENOSYS)
		return diag(d, EXIT_FAILED, ENOSYS, "%s: the supervisor of --follow has ended",
			    r->file);
	return diag(d, error == -ENOENT || error == -ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN,
		    (int)-error, "%s: %s", r->file, errno_text((int)-error, number));
}

/*
 * With --follow, or under a supervisor where it would come to a tracer: one
 * process has one tracer, so the supervisor's edit serves both.
 */
__attribute__((noinline, cold)) static int
run_followed(struct diag *d, const struct engine_request *r, const char *why)
{
	const bool follows = r->options->follow;
	const struct trace_edit edit = { .hide = follows ? r->fixed : r->hide,
					 .by_name = r->by_name,
					 .no_vdso = r->options->no_vdso,
					 .cgroup = follows ? r->cgroup : 0 };
	const struct follow follow = { .edit = edit,
				       .mode = r->options->follow,
				       .now = r->hide,
				       .cgroup_root = r->options->cgroup_root };
	long error;

	if (follow.mode && follow_start(d, r->start, &follow))
		return -1;
	if (r->options->engine == ENGINE_LOADER) {
		verbose(r, "loader", "as asked; what it starts is followed");
		return run_loader(d, r, false);
	}
	verbose(r, "trace", why);
	if (follow.mode)
		error = sys_execve(r->program->path, arguments(r), r->start->envp);
	else
		error = follow_exec(r->program->path, arguments(r), r->start->envp, &edit);
	return exec_failed(d, r, error);
}

/*
 * AS_IS: our address space is as the kernel made it; the loader, where it
 * gives up, leaves the vDSO elsewhere. Returns 1 if there can be no tracer.
 */
__attribute__((noinline, cold)) static int try_trace(struct diag *d, const struct engine_request *r,
						     const char *why, bool as_is)
{
	const struct trace_edit edit = { .hide = r->hide,
					 .by_name = r->by_name,
					 .no_vdso = r->options->no_vdso };
	struct tracer tracer;

	if (follow_supervised())
		return run_followed(d, r, "by the supervisor there is");
	if (trace_start(d, &tracer, r->file, as_is ? r->start->vdso : 0, r->start->page_size,
			&edit))
		return 1;
	verbose(r, "trace", why);
	trace_exec(d, &tracer, r->program->path, arguments(r), r->start->envp);
	if (d->error == ENOEXEC || (d->error == ENOENT && kind_of(&r->program->file) == NATIVE))
		return explain(d, r);
	return -1;
}

static int run_trace(struct diag *d, const struct engine_request *r, const char *why)
{
	return try_trace(d, r, why, true) ? -1 : 0;
}

/* ---- the loader in a stamped copy ------------------------------------------ */

/* PATH made absolute in TO (SIZE bytes). False if it is too long. */
static bool absolute(char *to, size_t size, const char *path)
{
	size_t length = strlen(path), used = 0;

	if (*path != '/') {
		long r = sys_getcwd(to, size);

		if (r <= 0)
			return false;
		used = (size_t)r;
		to[used - 1] = '/';
	}
	if (used + length + 1 > size)
		return false;
	memcpy(to + used, path, length + 1);
	return true;
}

static bool fill(struct stamp *s, const struct load_request *r)
{
	size_t size = strlen(r->program->path) + 1;

	*s = stamp_own;
	s->flags = STAMP_TARGET | (r->no_vdso ? STAMP_NO_VDSO : 0);
	s->hide = r->hide;
	if (size >= STAMP_PATH)
		return false;
	memcpy(s->path, r->program->path, size);
	return absolute(s->path + size, STAMP_PATH - size, r->program->loaded);
}

/* All that is needed of us lies in one segment, headers included. */
static long write_copy(int fd, const struct stamp *s, unsigned int abi)
{
	const size_t size = image_size();
	const size_t at = (uintptr_t)&stamp_own - (uintptr_t)image_start;
	long r = sys_pwrite(fd, image_start, size, 0);

	if (r == (long)size)
		r = sys_pwrite(fd, s, sizeof(*s), at);
	if (r == (long)sizeof(*s))
		r = arch_set_abi(fd, abi);
	if (!r)
		r = sys_fcntl(fd, F_ADD_SEALS,
			      F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	return r;
}

/*
 * RLIMIT_FSIZE binds memory files, too. Beyond it a write sends SIGXFSZ: let it
 * be an error. The signal stays blocked then, since it is pending.
 */
static long make_copy(const struct stamp *s, unsigned int abi)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	const uint64_t too_large = 1UL << (SIGXFSZ - 1);
	uint64_t mask;
	long fd = sys_memfd_create("hwcap-exec", flags | MFD_EXEC), r;

	if (fd == -EINVAL) /* before Linux 6.3 */
		fd = sys_memfd_create("hwcap-exec", flags);
	if (fd < 0)
		return fd;
	sys_sigprocmask(SIG_BLOCK, &too_large, &mask);
	r = write_copy((int)fd, s, abi);
	if (!r) {
		sys_sigprocmask(SIG_SETMASK, &mask, NULL);
		return fd;
	}
	sys_close((int)fd);
	return r < 0 ? r : -ENOSPC;
}

/* argv[0] of a copy that we start; who executes /proc/self/exe has another. */
static const char first_start[] = "hwcap-exec: the copy's first start";

static unsigned int abi_of(const struct program_file *f)
{
	Elf64_Ehdr header = { .e_flags = 0 };

	memcpy(&header, f->head, f->head_size < sizeof(header) ? f->head_size : sizeof(header));
	return header.e_flags;
}

/* NAME and INSTEAD, what else might be done, are for what goes wrong. */
__attribute__((noinline, cold)) static int run_copy(struct diag *d, const struct load_request *r,
						    char **argv, const char *name,
						    const char *instead)
{
	struct stamp stamp;
	long fd;
	char number[16];

	if (!fill(&stamp, r))
		return diag(d, EXIT_FAILED, ENAMETOOLONG,
			    "%.256s: its path is too long for a copy of hwcap-exec to carry%s",
			    name, instead);
	fd = make_copy(&stamp, abi_of(&r->program->file));
	if (fd >= 0) {
		sys_close(r->program->file.fd);
		*--argv = (char *)(uintptr_t)first_start; /* argc, or a word of ours */
		fd = sys_execveat((int)fd, "", argv, r->start->envp, AT_EMPTY_PATH);
	}
	return diag(d, EXIT_FAILED, (int)-fd,
		    "%.256s: unable to run it from a copy of hwcap-exec: %s%s", name,
		    errno_text((int)-fd, number), instead);
}

static int run_in_copy(struct diag *d, const struct engine_request *r, const char *why,
		       const char *instead)
{
	const struct load_request request = {
		.start = r->start,
		.program = r->program,
		.hide = r->hide,
		.no_vdso = r->options->no_vdso,
	};

	verbose(r, "loader", why);
	return run_copy(d, &request, arguments(r), r->file, instead);
}

int engine_run_abi(struct diag *d, const struct load_request *request, char **argv)
{
	return run_copy(d, request, argv, request->program->path, "");
}

bool engine_is_stamped(void)
{
	return stamp_own.flags & STAMP_TARGET;
}

__attribute__((cold)) int engine_run_stamp(struct diag *d, const struct start *s, struct program *p)
{
	const bool first = s->argc > 1 && !strcmp(s->argv[0], first_start);
	const struct load_request request = {
		.start = s,
		.program = p,
		.skip = first   ? 2 :
			s->argc ? 1 :
				  0,
		.hide = stamp_own.hide,
		.no_vdso = stamp_own.flags & STAMP_NO_VDSO,
	};
	const char *path = stamp_own.path;

	if (!first)
		path += strlen(path) + 1; /* of the file that was mapped */
	if (program_open(d, p, path, request.skip ? s->argv[request.skip - 1] : "", 0))
		return -1;
	if (program_changes_credentials(s, &p->file))
		return diag(d, EXIT_CANNOT_RUN, EPERM,
			    "%.256s: set-id bits or file capabilities would be lost", p->path);
	if (!first)
		p->path = s->execfn;
	if (load_run(d, &request) == LOAD_OTHER_ABI)
		return diag(d, EXIT_CANNOT_RUN, ENOEXEC, "%.256s: has changed its ABI", p->path);
	return -1;
}

/* ---- the choice ------------------------------------------------------------ */

static int refuse_set_id(struct diag *d, const struct engine_request *r)
{
	return diag(d, EXIT_CANNOT_RUN, EPERM,
		    "%s: set-id bits or file capabilities would be lost; run "
		    "it as that user, under setpriv --no-new-privs, or by root "
		    "with --engine=trace",
		    r->file);
}

/* As root: the link can be set, as a rule. Only the attempt is free. */
static bool link_is_likely(const struct engine_request *r)
{
	if (r->start->euid == 0 && !r->options->verbose)
		return true;
	return process_may_set_link();
}

static int run_auto(struct diag *d, const struct engine_request *r)
{
	bool as_is = true;
	int result;

	switch (kind_of(&r->program->file)) {
	case NARROW: return run_trace(d, r, "a 32-bit program");
	case OTHER: return run_trace(d, r, "not an ELF file");
	default: break;
	}
	if (process_has_security_module())
		return run_trace(d, r, "a security module is active");
	if (link_is_likely(r)) {
		verbose(r, "loader", "/proc/self/exe can be set");
		result = run_loader(d, r, true);
		if (result != LOAD_NO_LINK)
			return result;
		as_is = false;
	}
	result = try_trace(d, r, "/proc/self/exe cannot be set", as_is);
	if (result != 1)
		return result;
	return run_in_copy(d, r,
			   "in a copy of hwcap-exec: neither can the link be set nor a "
			   "tracer started",
			   "; use --engine=loader");
}

static int check_narrow(struct diag *d, const struct engine_request *r)
{
	if (!r->by_name || kind_of(&r->program->file) != NARROW)
		return 0;
	return diag(d, EXIT_CANNOT_RUN, ENOEXEC,
		    "%s: is a 32-bit program, whose entries have another "
		    "meaning: give the mask in numbers (AT_HWCAP=0x...)",
		    r->file);
}

int engine_check(struct diag *d, struct engine_request *r)
{
	r->set_id = program_changes_credentials(r->start, &r->program->file);
	if (!r->set_id || (r->options->engine != ENGINE_LOADER && process_may_trace_set_id()))
		return 0;
	return refuse_set_id(d, r);
}

/* Of what is not ELF only the kernel knows; the loader says what is wrong. */
static bool is_for_tracer(const struct engine_request *r)
{
	const enum kind kind = kind_of(&r->program->file);

	if (r->options->engine == ENGINE_LOADER || kind == OTHER)
		return false;
	return r->options->engine == ENGINE_TRACE || r->options->follow || r->set_id ||
	       kind == NARROW || process_has_security_module();
}

__attribute__((noinline, cold)) static int dry_run(struct diag *d, const struct engine_request *r)
{
	const bool sure = r->options->engine == ENGINE_LOADER || process_may_set_link();
	const char *engine = sure ? "loader" :
				    "trace, or loader in a copy where there is no ptrace";
	const struct load_request request = {
		.start = r->start,
		.program = r->program,
		.skip = r->options->first + 1,
		.hide = r->hide,
		.report = report_plan,
		.report_to = (void *)(uintptr_t)engine,
	};

	if (is_for_tracer(r))
		return report_trace(d, &request);
	return check_own_capabilities(d, r) ? -1 : load_run(d, &request);
}

static int run_chosen(struct diag *d, const struct engine_request *r)
{
	if (r->options->follow)
		return run_followed(d, r, "by the supervisor");
	if (r->set_id)
		return run_trace(d, r, "a set-id program");
	switch (r->options->engine) {
	case ENGINE_LOADER: verbose(r, "loader", "as asked"); return run_loader(d, r, false);
	case ENGINE_TRACE: return run_trace(d, r, "as asked");
	default: return run_auto(d, r);
	}
}

int engine_run(struct diag *d, const struct engine_request *r)
{
	int result;

	if (r->options->engine != ENGINE_LOADER && check_narrow(d, r))
		return -1;
	if (r->options->dry_run)
		return dry_run(d, r);
	result = run_chosen(d, r);
	if (result != LOAD_OTHER_ABI)
		return result;
	return run_in_copy(d, r, "in a copy of hwcap-exec that is of the program's ABI", "");
}
