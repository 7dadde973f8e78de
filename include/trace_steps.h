/*
 * trace_steps.h - a thread at its exec stop, and what its edit left
 *
 * For the two modules of the trace engine only; everyone else uses trace.h.
 */
#ifndef TRACE_STEPS_H
#define TRACE_STEPS_H

#include "trace_edit.h"
#include "trace.h"

struct traced {
	struct diag *d;
	int tid;
	struct edit_context context;
	struct edit_state e;
	bool can_step; /* SIGTRAP is known to be neither ignored nor pending */
};

/* trace_edit_exec(), with what it found left in *T. */
int trace_edit_stopped(struct traced *t, const struct trace_edit *edit);

#endif
