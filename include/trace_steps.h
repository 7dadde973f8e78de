/*
 * trace_steps.h - a thread at its exec stop, between the steps of its edit
 *
 * For the two modules of the trace engine only; everyone else uses trace.h.
 */
#ifndef TRACE_STEPS_H
#define TRACE_STEPS_H

#include "arch.h"
#include "stack.h"
#include "trace.h"

struct traced {
	struct diag *d;
	int tid;
	struct arch_trace_regs regs; /* as the target is to have them */
	struct arch_trace_site site;
	uint64_t sp, mask, vdso;
	size_t width;  /* bytes of a word on its stack */
	bool stopped;  /* SIGSTOP came in between */
	bool can_step; /* SIGTRAP is known to be neither ignored nor pending */
	int stat;      /* its /proc/TID/stat, -1: not open yet */
};

/* trace_edit_exec(), with what it found left in *T. */
int trace_edit_stopped(struct traced *t, const struct trace_edit *edit);

/* Open the target's /proc/TID/stat, which may be done before it executes. */
int trace_open_stat(int tid);

int trace_set_regs(const struct traced *t, const struct arch_trace_regs *r);

/* Memory of the target. Bytes read or a negative errno; 0 or one. */
long trace_read(int tid, uint64_t at, void *to, size_t size);
long trace_write(int tid, uint64_t at, const void *from, size_t size);

#endif
