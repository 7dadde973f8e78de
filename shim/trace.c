#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "elf_plan.h"
#include "sys.h"
#include "trace.h"
#include "trace_steps.h"
#include "vdso.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif
#ifndef PTRACE_LISTEN
#define PTRACE_LISTEN 0x4208
#endif
#ifndef PTRACE_SETSIGMASK
#define PTRACE_SETSIGMASK 0x420b
#endif
#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

enum state {
	GONE, /* the kernel writes it (CLONE_CHILD_CLEARTID) */
	STARTING,
	DENIED, /* the helper asks to be named to Yama */
	RETRY,
	SEIZED,
	FAILED,
	DISMISSED, /* the exec failed */
};

/* include/uapi/asm-generic/signal.h: what rt_sigaction(2) takes. */
struct kernel_sigaction {
	unsigned long handler, flags, words[3];
};

enum { VDSO_HEAD = 1024 }; /* its program headers are in there */

#define SIGNAL_BIT(signal) (1UL << ((signal)-1))

static int state_of(const struct tracer *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct tracer *t, enum state to)
{
	__atomic_store_n(&t->state, to, __ATOMIC_RELEASE);
	sys_futex_wake(&t->state);
}

static enum state wait_while(struct tracer *t, enum state from)
{
	while (state_of(t) == (int)from)
		sys_futex_wait(&t->state, from);
	return (enum state)state_of(t);
}

/* ---- the helper ------------------------------------------------------------ */

__attribute__((noreturn)) static void give_up(const struct tracer *t, int tid, const struct diag *d)
{
	char line[sizeof(d->text) + 300];
	struct text text;

	text_init(&text, line, sizeof(line));
	text_add(&text, "hwcap-exec: %.256s: %s\n", t->name, d->text);
	sys_write(2, line, text.length);
	sys_kill(tid, SIGKILL);
	sys_exit(EXIT_FAILED);
}

static long seize(int tid)
{
	return sys_ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
}

static void seize_parent(struct tracer *t, int tid)
{
	long r = edit_may_wait() ? seize(tid) : -EOPNOTSUPP;

	if (r == -EPERM) {
		set_state(t, DENIED);
		wait_while(t, DENIED);
		r = seize(tid);
	}
	t->error = (int)-r;
	set_state(t, r ? FAILED : SEIZED);
	if (r)
		sys_exit(0);
}

/*
 * Whoever reaps orphans must not be what we seize, should our parent have been
 * killed meanwhile: init would die of PTRACE_O_EXITKILL. And a parent that dies
 * while it is waited for takes us along.
 */
static void check_parent(struct tracer *t)
{
	sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (sys_getppid() == t->parent)
		return;
	t->error = EXDEV;
	set_state(t, FAILED);
	sys_exit(0);
}

/* Let signals and job control be what they are until it executes. */
static void await_exec(const struct tracer *t, int tid)
{
	int status, signal;
	long how;

	for (;;) {
		if (sys_wait4(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			sys_exit(0);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return;
		how = PTRACE_CONT;
		signal = WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_STOP) {
			if (signal != SIGTRAP)
				how = PTRACE_LISTEN;
			signal = 0;
		} else if (state_of(t) == DISMISSED && signal == SIGURG) {
			sys_ptrace(PTRACE_DETACH, tid, 0, 0);
			sys_exit(0);
		}
		sys_ptrace(how, tid, 0, (unsigned long)signal);
	}
}

/*
 * Free bytes at the end of the vDSO's last page, for the code that it lacks; 0
 * if there are none.
 */
static uint64_t room_in_vdso(const struct traced *x, uint64_t page)
{
	_Alignas(uint64_t) unsigned char head[VDSO_HEAD];
	uint64_t size, end, code = 0;

	if (x->e.width != 8 ||
	    edit_read(x->tid, x->e.vdso, head, sizeof(head)) != (long)sizeof(head))
		return 0;
	size = vdso_file_size(head);
	end = page_up(size, page) - sizeof(code);
	if (!size || end < size || edit_read(x->tid, x->e.vdso + end, &code, sizeof(code)) < 8 ||
	    code)
		return 0;
	return x->e.vdso + end;
}

static void add_code(const struct traced *x, uint64_t page, struct arch_trace_site *site)
{
	uint64_t at = room_in_vdso(x, page), code;

	memcpy(&code, arch_trace_code, sizeof(code));
	if (at && !sys_ptrace(PTRACE_POKEDATA, x->tid, at, code))
		arch_trace_take_code(site, at);
}

/* Have it return from a signal after its wait: that restores all there is. */
static uint64_t add_frame(const struct traced *x)
{
	unsigned char frame[ARCH_TRACE_FRAME];
	uint64_t at = (arch_trace_sp(&x->e.regs) - ARCH_TRACE_FRAME_ROOM) & ~15UL;

	arch_trace_frame(&x->e.regs, x->e.mask, frame);
	return edit_write(x->tid, at, frame, sizeof(frame)) ? 0 : at;
}

/*
 * The last call is the wait for ourselves. The kernel sends SIGCHLD when we
 * end, although we were cloned without one, since our parent has executed
 * meanwhile (do_notify_parent()). A blocked one would stay; so it is unblocked
 * for the time being, and thus ignored, unless one is pending anyway.
 */
static int let_it_reap(struct traced *x, const struct tracer *t)
{
	const uint64_t child = SIGNAL_BIT(SIGCHLD), mask = x->e.mask & ~child;
	const bool unblock = (x->e.mask & child) && !t->child_pending;
	const bool restore = (unblock || !x->e.site.clean) && x->e.width == 8;
	struct arch_trace_regs regs = x->e.regs;
	struct arch_trace_site site = x->e.site;
	uint64_t stack[ARCH_TRACE_STACK], then = arch_trace_ip(&regs);
	uint64_t sp = arch_trace_sp(&x->e.regs);
	size_t words;

	if (arch_trace_lacks_code(&site, restore))
		add_code(x, t->page, &site);
	if (restore && site.sigreturn) {
		then = site.sigreturn;
		sp = add_frame(x);
	}
	if (!site.returns)
		return diag(x->d, EXIT_CANNOT_RUN, EPERM, "%s", edit_text(EDIT_NO_SITE));
	words = arch_trace_set_last_call(&regs, &site, ARCH_TRACE_WAITID, t->alone ? P_ALL : P_PID,
					 t->alone ? 0 : (uint64_t)t->pid, then, sp, stack);
	if (!sp || edit_write(x->tid, arch_trace_sp(&regs), stack, words * x->e.width))
		return diag(x->d, EXIT_FAILED, EFAULT, "unable to write to its memory");
	if (then == site.sigreturn && unblock)
		sys_ptrace(PTRACE_SETSIGMASK, x->tid, sizeof(mask), (unsigned long)&mask);
	return edit_set_regs(x->tid, &regs) ? -1 : 0;
}

static void helper(void *arg)
{
	struct tracer *t = arg;
	struct diag d = { .status = 0 };
	struct traced x = { .d = &d,
			    .tid = t->parent,
			    .can_step = ARCH_TRACE_CAN_STEP && !t->trap_taken };

	check_parent(t);
	seize_parent(t, x.tid);
	/* What can be done while the kernel executes the target. */
	edit_context_init(&x.context, t->vdso, -1);
	edit_state_init(&x.e);
	edit_prepare(&x.context, &x.e, x.tid);
	await_exec(t, x.tid);
	if (trace_edit_stopped(&x, &t->edit))
		give_up(t, x.tid, &d);
	if (!t->child_ignored && let_it_reap(&x, t))
		give_up(t, x.tid, &d);
	if (t->child_ignored)
		sys_close_range(0, ~0U);
	sys_ptrace(PTRACE_DETACH, x.tid, 0, 0);
	sys_exit(0);
}

/* ---- this process ---------------------------------------------------------- */

static void reap(const struct tracer *t)
{
	while (sys_wait4(t->pid, NULL, __WALL) == -EINTR)
		;
}

static int refused(struct diag *d, const char *name, int error)
{
	char number[16];

	if (error == EXDEV)
		return diag(d, EXIT_FAILED, EPERM,
			    "%s: unable to trace it: this process's children get "
			    "another pid namespace",
			    name);
	if (error == EOPNOTSUPP)
		return diag(d, EXIT_FAILED, EPERM, "%s: unable to trace it: %s", name,
			    edit_text(EDIT_FORBIDDEN));
	if (error == EPERM || error == ENOSYS || error == EACCES)
		return diag(d, EXIT_FAILED, EPERM,
			    "%s: unable to trace it: this process is traced "
			    "already, or ptrace is forbidden here (a seccomp "
			    "filter, Yama); use --engine=loader",
			    name);
	return diag(d, EXIT_FAILED, error, "%s: unable to trace it: %s", name,
		    errno_text(error, number));
}

bool trace_child_is_init(void)
{
	return sys_faccessat2(AT_FDCWD, "/proc/self/ns/pid_for_children", 0, 0) == -ENOENT &&
	       !sys_faccessat2(AT_FDCWD, "/proc/self/ns/pid", 0, 0);
}

/* What the helper cannot find out once the target is there. */
static bool look_around(struct tracer *t)
{
	long others;

	struct kernel_sigaction action = { .handler = 0 };
	uint64_t pending = 0;

	sys_sigpending(&pending);
	sys_sigaction(SIGCHLD, NULL, &action);
	t->child_pending = pending & SIGNAL_BIT(SIGCHLD);
	t->child_ignored = action.handler == (unsigned long)SIG_IGN;
	sys_sigaction(SIGTRAP, NULL, &action);
	t->trap_taken = action.handler == (unsigned long)SIG_IGN || (pending & SIGNAL_BIT(SIGTRAP));
	others = sys_waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL);
	t->alone = others == -ECHILD;
	return (!others || t->alone) && edit_may_set_map();
}

int trace_start(struct diag *d, struct tracer *t, const char *name, uint64_t vdso, uint64_t page,
		const struct trace_edit *edit)
{
	const uint64_t all = ~0UL;
	enum state state;
	char number[16];
	long r;

	if (trace_child_is_init())
		return refused(d, name, EXDEV);
	t->state = STARTING;
	t->error = 0;
	t->parent = (int)sys_getpid();
	t->name = name;
	t->edit = *edit;
	t->vdso = vdso;
	t->page = page;
	if (!look_around(t))
		return refused(d, name, EOPNOTSUPP);
	/* The helper must not die of what is meant for the target. */
	sys_sigprocmask(SIG_SETMASK, &all, &t->mask);
	r = arch_clone(CLONE_VM | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID,
		       t->stack + sizeof(t->stack), &t->pid, &t->state, helper, t);
	sys_sigprocmask(SIG_SETMASK, &t->mask, NULL);
	if (r == -EAGAIN)
		return diag(d, EXIT_FAILED, EAGAIN,
			    "%s: unable to start a helper to trace it: the "
			    "limit of processes (RLIMIT_NPROC, pids.max) is "
			    "reached",
			    name);
	if (sys_failed(r))
		return diag(d, EXIT_FAILED, (int)-r, "%s: unable to start a helper to trace it: %s",
			    name, errno_text((int)-r, number));
	state = wait_while(t, STARTING);
	if (state == DENIED) {
		sys_prctl(PR_SET_PTRACER, (unsigned long)t->pid, 0, 0, 0);
		set_state(t, RETRY);
		state = wait_while(t, RETRY);
	}
	if (state == SEIZED)
		return 0;
	reap(t);
	return refused(d, name, t->error ? t->error : ESRCH);
}

static void dismiss(struct tracer *t)
{
	const uint64_t urgent = SIGNAL_BIT(SIGURG);

	__atomic_store_n(&t->state, DISMISSED, __ATOMIC_RELEASE);
	sys_sigprocmask(SIG_UNBLOCK, &urgent, NULL);
	sys_kill((int)sys_getpid(), SIGURG);
	reap(t);
	sys_sigprocmask(SIG_SETMASK, &t->mask, NULL);
}

int trace_exec(struct diag *d, struct tracer *t, const char *path, char *const *argv,
	       char *const *envp)
{
	long r = sys_execve(path, argv, envp);
	char number[16];
	int status = r == -ENOENT || r == -ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;

	dismiss(t);
	return diag(d, status, (int)-r, "%s: %s", path, errno_text((int)-r, number));
}
