#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "sys.h"
#include "trace.h"
#include "trace_steps.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif

/*
 * To the next stop that REQUEST is about. Everything that can be blocked is,
 * so the only signals that get in between are SIGKILL and SIGSTOP.
 */
static bool wait_stop(struct traced *t, long request)
{
	int status;

	for (;;) {
		if (sys_wait4(t->tid, &status, __WALL) != t->tid || !WIFSTOPPED(status))
			return false;
		if ((status >> 8 & 0xff7f) == SIGTRAP)
			return true;
		if (status >> 8 == SIGSTOP)
			t->e.stopped = true;
		if (sys_ptrace(request, t->tid, 0, 0))
			return false;
	}
}

/* SIGTRAP is how a step ends. */
static bool block_signals(struct traced *t)
{
	const uint64_t all = t->can_step ? ~(1UL << (SIGTRAP - 1)) : ~0UL;

	t->e.blocked = true;
	return !sys_ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(t->e.mask),
			   (unsigned long)&t->e.mask) &&
	       !sys_ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(all), (unsigned long)&all);
}

static enum edit_result edit(struct traced *t, const struct trace_edit *edit)
{
	struct edit_vector v;
	enum edit_result r;
	int status;

	if (edit_get_regs(t->tid, &t->e.regs) || !block_signals(t))
		return EDIT_GONE;
	r = edit_look(&t->context, &t->e, t->tid, edit, &v);
	if (r != EDIT_DONE)
		return r;
	if (sys_ptrace(PTRACE_SYSCALL, t->tid, 0, 0))
		return EDIT_GONE;
	/* While it is on its way to the end of the exec. */
	edit_read_map(&t->e);
	t->e.step = t->e.step && t->can_step;
	if (!wait_stop(t, PTRACE_SYSCALL))
		return EDIT_GONE;
	for (r = edit_go(&t->e, t->tid, &v); r == EDIT_RUNNING;
	     r = edit_step(&t->e, t->tid, status))
		if (sys_wait4(t->tid, &status, __WALL) != t->tid || !WIFSTOPPED(status))
			return EDIT_GONE;
	return r;
}

int trace_edit_stopped(struct traced *t, const struct trace_edit *e)
{
	const enum edit_result r = edit(t, e);

	if (r == EDIT_DONE)
		return 0;
	return diag(t->d, r == EDIT_GONE || r == EDIT_REFUSED ? EXIT_FAILED : EXIT_CANNOT_RUN,
		    r == EDIT_NARROW ? ENOEXEC :
		    r == EDIT_GONE   ? ESRCH :
				       EPERM,
		    "%s", edit_text(r));
}

int trace_edit_exec(struct diag *d, int tid, const struct trace_edit *e)
{
	struct traced t = { .d = d, .tid = tid };
	int failed;

	edit_context_init(&t.context, 0, -1);
	edit_state_init(&t.e);
	edit_prepare(&t.context, &t.e, tid);
	failed = trace_edit_stopped(&t, e);
	edit_close(&t.e);
	return failed;
}
