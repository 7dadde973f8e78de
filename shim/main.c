#include <errno.h>
#include <string.h>

#include "load.h"
#include "options.h"
#include "process.h"
#include "program.h"
#include "report.h"
#include "spec.h"
#include "start.h"
#include "sys.h"
#include "trace.h"

void hwcap_exec_main(void *sp);

/*
 * All of main()'s state; nothing of it is global. What is seldom written comes
 * last: every page of stack that stays untouched saves a page fault.
 */
struct run {
	struct start start;
	struct options options;
	struct hwcaps mask;
	struct program program;
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
		    "hwcap-exec by its own name", *name ? name : "(nothing)");
}

static int add_environment(struct diag *d, const struct run *r,
			   struct hwcaps *hide)
{
	const char *spec = start_getenv(&r->start, "HWCAP_EXEC_MASK");

	if (!spec)
		return 0;
	if (r->start.secure)
		return diag(d, EXIT_FAILED, 0,
			    "HWCAP_EXEC_MASK is not allowed in a process with "
			    "AT_SECURE; use --mask");
	if (!spec_parse(d, SPEC_HIDE, r->options.exact, spec, hide))
		return 0;
	return diag(d, EXIT_FAILED, 0, "HWCAP_EXEC_MASK: %.560s", d->text);
}

/* What --mask, --keep and the environment add up to. */
static int compute_mask(struct diag *d, struct run *r)
{
	const struct options *o = &r->options;
	struct hwcaps environment = { { 0 } };

	if (add_environment(d, r, &environment))
		return -1;
	spec_mask(&o->hide, o->have_keep ? &o->keep : NULL, o->exact, &r->mask);
	spec_mask(&environment, NULL, o->exact, &environment);
	hwcaps_or(&r->mask, &environment);
	return 0;
}

static int check_engine(struct diag *d, const struct run *r)
{
	const char *path = r->program.path;

	if (r->options.engine == ENGINE_AUTO && process_has_security_module())
		return diag(d, EXIT_CANNOT_RUN, EACCES,
			    "%s: a security module is active and would not see "
			    "this program; use --engine=loader to run it all "
			    "the same", path);
	if (program_changes_credentials(&r->program.file))
		return diag(d, EXIT_CANNOT_RUN, EPERM,
			    "%s: set-id bits or file capabilities would be "
			    "lost; run it as that user, or under setpriv "
			    "--no-new-privs", path);
	return 0;
}

static int run(struct diag *d, struct run *r)
{
	const struct options *o = &r->options;
	const char *name = r->start.argv[o->first];
	const char *found = start_getenv(&r->start, "PATH");
	const char *search = found ? found : PROGRAM_DEFAULT_PATH;
	char path[program_find_size(name, search)];
	struct load_request request = { .start = &r->start,
					.program = &r->program,
					.skip = o->first + 1,
					.no_vdso = o->no_vdso };

	if (compute_mask(d, r) ||
	    program_find(d, &r->program, name, o->argv0 ? o->argv0 : name,
			 search, PROGRAM_SHELL, path) ||
	    check_engine(d, r))
		return -1;
	request.hide = r->mask;
	if (o->engine == ENGINE_TRACE) {
		struct trace_edit edit = { .hide = r->mask };
		struct tracer t;
		char **argv = r->start.argv + o->first;
		if (o->argv0) argv[0] = (char *)o->argv0;
		if (trace_start(d, &t, name, &edit)) return -1;
		return trace_exec(d, &t, r->program.path, argv, r->start.envp);
	}
	if (o->verbose)
		report_choice(&r->program, &r->mask);
	if (o->dry_run)
		request.report = report_plan;
	return load_run(d, &request);
}

void hwcap_exec_main(void *sp)
{
	struct run r;
	struct diag *d = &r.diag;

	d->status = 0;
	start_read(&r.start, sp);
	if (check_own_name(d, &r.start) ||
	    options_parse(d, r.start.argc, r.start.argv, &r.options))
		fail(d);
	if (r.options.action == ACTION_HELP)
		report_help();
	else if (r.options.action == ACTION_VERSION)
		report_version();
	else if (run(d, &r))
		fail(d);
	sys_exit(0);
}
