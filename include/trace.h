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

#include "diag.h"
#include "hwcap.h"

struct trace_edit {
	struct hwcaps hide;
	bool by_name; /* bits came from names: void for another ABI's program */
	bool no_vdso; /* drop AT_SYSINFO_EHDR */
};

/*
 * Thread TID, a tracee of ours, is at its PTRACE_EVENT_EXEC stop: edit its new
 * stack's vector, then set the saved one by an injected PR_SET_MM_MAP at the
 * exec's exit. Returns 0 with TID stopped, its registers as execve left them,
 * ready for PTRACE_DETACH; or -1 with D filled: TID must then be killed.
 * Signals that arrive meanwhile stay pending.
 */
int trace_edit_exec(struct diag *d, int tid, const struct trace_edit *edit);

#endif
