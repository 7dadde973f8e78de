/*
 * trace_edit.h - the edit of one program at its start, in steps
 *
 * Clears bits of the vector on its new stack and makes the vector that the
 * kernel saved agree, by a PR_SET_MM_MAP that the program is made to call. For
 * callers that have other tracees to wait for: no function here waits.
 *
 * The thread has to be at a stop on its way to user mode (the one that
 * PTRACE_INTERRUPT asks for), so that its registers are those it starts with.
 */
#ifndef TRACE_EDIT_H
#define TRACE_EDIT_H

#include "arch_trace.h"
#include "process.h"
#include "trace.h"

/* What is the same for all edits by one tracer. */
struct edit_context {
	int proc;                    /* /proc, or -1: to be opened by its path */
	bool have_site;              /* the native vDSO has a call to use: */
	struct arch_trace_site site; /* its offset there */
};

struct edit_state {
	struct arch_trace_regs regs; /* to be restored */
	struct arch_trace_site site;
	struct process_map map;
	uint64_t vdso;
	uint64_t mask;      /* signals it had blocked, if BLOCKED */
	uint64_t scratch;   /* where the map is in its memory */
	unsigned int width; /* bytes of a word on its stack */
	unsigned int stops; /* until the injected call is over */
	int stat;           /* /proc/PID/stat, opened ahead, or -1 */
	bool have_map;
	bool step;       /* a stop right after the call, not two */
	bool brk, tamed; /* which call that is */
	bool stopped;    /* SIGSTOP came in between */
	bool blocked;    /* so that other signals stay pending */
};

/* A vector, as it is in the target. */
struct edit_vector {
	uint64_t at;
	size_t count, width;        /* pairs, AT_NULL included; bytes of a word */
	uint64_t args, env, execfn; /* of strings: the first of each */
	bool changed;
	_Alignas(8) unsigned char bytes[2 * 8 * STACK_AUX_MAX];
};

enum edit_result {
	EDIT_DONE,    /* all is as execve left it, but for the vector */
	EDIT_RUNNING, /* it was resumed; its next stop is for edit_step() */
	EDIT_GONE,    /* it died */
	/* It cannot be masked, and is past its point of no return. */
	EDIT_UNREADABLE,
	EDIT_NARROW,
	EDIT_NO_SITE,
	EDIT_REFUSED,
	EDIT_FORBIDDEN, /* said ahead of it */
};

/*
 * May this process wait, and set its memory map, as an edit takes? Not under
 * some seccomp filters. For a process without children.
 */
bool edit_may_wait(void);
bool edit_may_set_map(void);

/* VDSO: our own; 0: search each program's. */
void edit_context_init(struct edit_context *c, uint64_t vdso, int proc);
void edit_state_init(struct edit_state *e);

/*
 * While TID executes: what can be done ahead of the edit. edit_close() takes
 * it back, after the edit, since that need not be waited for.
 */
void edit_prepare(const struct edit_context *c, struct edit_state *e, int tid);
void edit_close(struct edit_state *e);

long edit_get_regs(int tid, struct arch_trace_regs *regs);
long edit_set_regs(int tid, const struct arch_trace_regs *regs);

/*
 * The edit's halves; they want E->regs. edit_look() reads the vector and masks
 * it in V; it may come as early as the exec event. EDIT_DONE: go on.
 * edit_read_map() has to be between them. edit_go() writes V and starts the
 * injected call; not without need, if V has not changed.
 */
enum edit_result edit_look(const struct edit_context *c, struct edit_state *e, int tid,
			   const struct trace_edit *edit, struct edit_vector *v);
void edit_read_map(struct edit_state *e);
enum edit_result edit_go(struct edit_state *e, int tid, const struct edit_vector *v);

/* TID has stopped with STATUS (of wait4) after EDIT_RUNNING. */
enum edit_result edit_step(struct edit_state *e, int tid, int status);

/* Words for a result that is neither of the first two. */
const char *edit_text(enum edit_result r);

/* Memory of a tracee. Bytes read or a negative errno; 0 or one. */
long edit_read(int tid, uint64_t at, void *to, size_t size);
long edit_write(int tid, uint64_t at, const void *from, size_t size);

#endif
