/*
 * commit.h - carrying the plan out
 *
 * Maps the target, builds its stack, tells the kernel, unmaps ourselves and
 * jumps. Returns as load_run() does if something is in the way; from the first
 * write to the stack's end on there is no return.
 */
#ifndef COMMIT_H
#define COMMIT_H

#include "load.h"

int commit(struct diag *d, struct load *load);

#endif
