/*
 * binfmt.h - hwcap-exec as an interpreter of binfmt_misc
 *
 * The kernel starts us in place of the program and says so in the vector,
 * which no caller can forge: AT_EXECFD has the program, opened; a bit of
 * AT_FLAGS tells that argv is [interpreter, path, argv0, argument...] rather
 * than [interpreter, path, argument...]. There are no options and no masks
 * from the environment; what to hide is in the stamp (stamp.h) and the cgroup.
 */
#ifndef BINFMT_H
#define BINFMT_H

#include <stdbool.h>

#include "diag.h"
#include "program.h"
#include "start.h"

struct binfmt_args {
	const char *path, *argv0; /* of the program */
	unsigned long skip;       /* of our argv, up to and with argv0 */
};

bool binfmt_is_mode(const struct start *s);

/* What our argv says. False where it names no program. Pure. */
bool binfmt_read_args(const struct start *s, struct binfmt_args *args);

/* Does not return if all is well; else -1 with D filled. */
int binfmt_run(struct diag *d, const struct start *s, struct program *p);

#endif
