/*
 * report.h - what hwcap-exec prints when all is well
 *
 * Standard output for --help, --version and --dry-run, standard error for
 * --verbose.
 */
#ifndef REPORT_H
#define REPORT_H

#include "load.h"

int report_help(struct diag *d);
int report_version(struct diag *d);

/* One line for --verbose: engine and why, program, mask. */
void report_choice(const struct program *program, const struct hwcaps *mask, const char *engine,
		   const char *why);

/* --dry-run: a load_request's REPORT; REPORT_TO is the engine's name. */
__attribute__((visibility("hidden"))) int report_plan(struct diag *d, const struct load *load,
						      void *to);

/* --dry-run of what goes to a tracer: there is no plan. */
int report_trace(struct diag *d, const struct load_request *request);

#endif
