/*
 * trace.h - the trace engine: the kernel executes, a tracer edits the vector
 *
 * The edit is the same wherever a program is executed under a tracer of ours:
 * clear bits in the vector on its new stack, make the vector the kernel saved
 * agree, and put every register back. Nothing of the target has run by then.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>

/* The architecture's registers and calls of a tracee. */
#include "arch_trace.h"
#include "diag.h"
#include "hwcap.h"

struct trace_edit {
	struct hwcaps hide;
	struct hwcaps hide_insecure; /* these as well, unless AT_SECURE is 1 */
	bool by_name;                /* bits came from names: void for another ABI's program */
	bool no_vdso;                /* drop AT_SYSINFO_EHDR */
	unsigned int cgroup;         /* follow.h: how the caller's cgroup adds to it */
};

/*
 * Thread TID, a tracee of ours, is at its PTRACE_EVENT_EXEC stop: edit its new
 * stack's vector, then set the saved one by an injected PR_SET_MM_MAP at the
 * exec's exit. Returns 0 with TID stopped, its registers as execve left them,
 * ready for PTRACE_DETACH; or -1 with D filled: TID must then be killed.
 * Signals that arrive meanwhile stay pending.
 */
int trace_edit_exec(struct diag *d, int tid, const struct trace_edit *edit);

/*
 * The engine itself. A helper, cloned from this process, seizes it; then this
 * process executes the target. The helper is a child for as long as that
 * takes: the target's first system call, injected, waits for it, so that
 * neither the target nor any reaper finds a trace of it. Should the helper
 * die, the kernel kills this process: nothing ever runs unmasked.
 */
enum { TRACE_STACK = 32768 };

struct tracer {
	int state; /* shared with the helper; 0 once it is gone */
	int error; /* of the seizure */
	int pid;
	int parent;         /* this process */
	uint64_t mask;      /* signals blocked in this process */
	bool child_pending; /* SIGCHLD is */
	bool child_ignored;
	bool trap_taken;  /* SIGTRAP is ignored, or one is pending */
	bool alone;       /* no other children */
	const char *name; /* for messages of the helper */
	struct trace_edit edit;
	uint64_t vdso, page;
	_Alignas(16) unsigned char stack[TRACE_STACK];
};

/*
 * Start the helper and let it seize us. VDSO: where ours is, 0 if not known.
 * Returns 0; or -1 with D filled and no helper left, D->error EPERM if tracing
 * is not permitted here.
 */
int trace_start(struct diag *d, struct tracer *t, const char *name, uint64_t vdso, uint64_t page,
		const struct trace_edit *edit);

/*
 * After unshare(CLONE_NEWPID) the next child is init of a new namespace, and no
 * other can be started once it is gone: that must not be a helper of ours. A
 * namespace without init has no such link (kernel/pid_namespace.c:
 * pidns_for_children_get()).
 */
bool trace_child_is_init(void);

/* Execute PATH. Returns only on failure, -1 with D filled and no helper left. */
int trace_exec(struct diag *d, struct tracer *t, const char *path, char *const *argv,
	       char *const *envp);

#endif
