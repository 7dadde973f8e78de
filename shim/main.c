#include <errno.h>
#include <string.h>

#include "arch.h"
#include "arch_enforce.h"
#include "binfmt.h"
#include "cgroup.h"
#include "engine.h"
#include "options.h"
#include "process.h"
#include "program.h"
#include "report.h"
#include "spec.h"
#include "stamp.h"
#include "start.h"
#include "sys.h"

void hwcap_exec_main(void *sp);

/*
 * All of main()'s state; nothing of it is global. What is seldom written comes
 * last: every page of stack that stays untouched saves a page fault.
 */
struct run {
	struct start start;
	struct options options;
	struct program program;
	bool secure; /* the target will have AT_SECURE */
	struct diag diag;
};

/* The one place that prints a failure. */
__attribute__((noreturn, noinline)) static void fail(const struct diag *d)
{
	char line[sizeof(d->text) + 16];
	struct text t;

	text_init(&t, line, sizeof(line));
	text_add(&t, "hwcap-exec: %s\n", d->text);
	sys_write(2, line, t.length);
	sys_exit(d->status);
}

/*
 * A program that executes /proc/self/exe where that link is ours ends up
 * here with a command line that is not meant for us.
 */
static int check_own_name(struct diag *d, const struct start *s)
{
	const char *name = s->argc ? s->argv[0] : "", *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	if (!strncmp(name, "hwcap-exec", strlen("hwcap-exec")))
		return 0;
	return diag(d, EXIT_FAILED, 0,
		    "started as %.60s: a program that executes itself through "
		    "/proc/self/exe? use --engine=trace for it, or run "
		    "hwcap-exec by its own name",
		    *name ? name : "(nothing)");
}

static int add_environment(struct diag *d, const struct run *r, struct engine_request *request,
			   struct hwcaps *hide)
{
	const char *spec = start_getenv(&r->start, "HWCAP_EXEC_MASK");

	if (!spec)
		return 0;
	if (r->secure)
		return diag(d, EXIT_FAILED, 0,
			    "HWCAP_EXEC_MASK is not allowed where the program "
			    "runs with AT_SECURE; use --mask");
	if (spec_parse(d, SPEC_HIDE, r->options.exact, spec, hide))
		return diag(d, EXIT_FAILED, 0, "HWCAP_EXEC_MASK: %.560s", d->text);
	request->by_name |= spec_has_names(spec);
	return 0;
}

/* What the cgroup hides. The kernel's own mask is taken as it stands. */
static int add_cgroup(struct diag *d, const struct run *r, struct engine_request *to)
{
	const struct options *o = &r->options;
	const bool insist = o->cgroup == CGROUP_INSIST || (stamp_own.flags & STAMP_CGROUP);
	struct cgroup_request request = { .insist = insist,
					  .secure = r->secure,
					  .plain = o->engine == ENGINE_TRACE,
					  .path = o->cgroup_path,
					  .root = o->cgroup_root };
	struct cgroup_mask cgroup = { 0 };

	if (o->cgroup == CGROUP_LEAVE_OUT ||
	    (o->cgroup == CGROUP_IF_ANY && (stamp_own.flags & STAMP_NO_CGROUP)))
		return 0;
	if (cgroup_mask(d, &request, &cgroup))
		return insist ? -1 :
				diag(d, EXIT_FAILED, d->error,
				     "%.560s; --no-cgroup runs without the cgroup's mask", d->text);
	spec_mask(&cgroup.records, NULL, o->exact, &cgroup.records);
	hwcaps_or(&to->hide, &cgroup.records);
	hwcaps_or(&to->hide, &cgroup.kernel);
	if (o->cgroup_path)
		to->fixed = to->hide;
	else
		to->cgroup = FOLLOW_CGROUP | (insist ? FOLLOW_INSIST : 0U) |
			     (o->exact ? 0U : FOLLOW_CLOSE);
	return 0;
}

/* What --mask, --keep, the environment, our stamp and the cgroup add up to. */
__attribute__((noinline)) static int compute_mask(struct diag *d, const struct run *r,
						  struct engine_request *request)
{
	const struct options *o = &r->options;
	struct hwcaps environment = { { 0 } };

	if (add_environment(d, r, request, &environment))
		return -1;
	spec_mask(&o->hide, o->have_keep ? &o->keep : NULL, o->exact, &request->hide);
	spec_mask(&environment, NULL, o->exact, &environment);
	hwcaps_or(&request->hide, &environment);
	hwcaps_or(&request->hide, &stamp_own.hide);
	request->by_name |= (stamp_own.flags & STAMP_BY_NAME) != 0;
	request->fixed = request->hide;
	return add_cgroup(d, r, request);
}

/* As root's shell it would do whatever anyone asks. */
static int check_own_bits(struct diag *d, const struct start *s)
{
	if (!s->secure || !process_has_own_set_id(s->euid))
		return 0;
	return diag(d, EXIT_FAILED, EPERM,
		    "would pass on its own set-id bits: take them away "
		    "(chmod ug-s)");
}

/*
 * Turn off what is hidden. Where that waits for an exec, we execute ourselves:
 * the loader would be none.
 */
__attribute__((cold, noinline)) static int enforce(struct diag *d, const struct run *r,
						   const struct hwcaps *hide)
{
	const struct start *s = &r->start;
	char number[16];
	long e = arch_enforce(hide->word[0]);

	if (e == ARCH_ENFORCED)
		return 0;
	if (e == ARCH_ENFORCED_AT_EXEC)
		e = sys_execve("/proc/self/exe", s->argv, s->envp);
	if (e == ARCH_ENFORCES_NOTHING)
		return diag(d, EXIT_FAILED, 0,
			    "--enforce: there is nothing on " ARCH_NAME
			    " that could be turned off, only riscv's vector unit");
	return diag(d, EXIT_FAILED, (int)-e, "--enforce: unable to turn the vector unit off: %s",
		    errno_text((int)-e, number));
}

static int run(struct diag *d, struct run *r)
{
	const struct options *o = &r->options;
	const char *name = r->start.argv[o->first];
	const bool is_path = !*name || strchr(name, '/');
	const char *found = is_path ? NULL : start_getenv(&r->start, "PATH");
	const char *search = found ? found : PROGRAM_DEFAULT_PATH;
	char path[program_find_size(name, search)];
	struct engine_request request = {
		.start = &r->start, .options = o, .program = &r->program, .by_name = o->by_name
	};

	if (check_own_bits(d, &r->start) ||
	    program_find(d, &r->program, name, o->argv0 ? o->argv0 : name, search, PROGRAM_SHELL,
			 path))
		return -1;
	request.file = is_path ? name : path;
	if (engine_check(d, &request))
		return -1;
	r->secure = r->start.secure || request.set_id;
	if (compute_mask(d, r, &request))
		return -1;
	if (o->enforce && enforce(d, r, &request.hide))
		return -1;
	return engine_run(d, &request);
}

void hwcap_exec_main(void *sp)
{
	struct run r;
	struct diag *d = &r.diag;
	int error;

	d->status = 0;
	start_read(&r.start, sp);
	if (engine_is_stamped()) {
		engine_run_stamp(d, &r.start, &r.program);
		fail(d);
	}
	if (binfmt_is_mode(&r.start)) {
		binfmt_run(d, &r.start, &r.program);
		fail(d);
	}
	if (check_own_name(d, &r.start) || options_parse(d, r.start.argc, r.start.argv, &r.options))
		fail(d);
	switch (r.options.action) {
	case ACTION_HELP: error = report_help(d); break;
	case ACTION_VERSION: error = report_version(d); break;
	default: error = run(d, &r);
	}
	if (error)
		fail(d);
	sys_exit(0);
}
