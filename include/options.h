/*
 * options.h - the command line of hwcap-exec
 *
 * Pure: fills the struct from argv, opens and prints nothing. Options end at
 * the first argument that is none, or after `--`.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "diag.h"
#include "follow.h"
#include "hwcap.h"

enum engine { ENGINE_AUTO, ENGINE_LOADER, ENGINE_TRACE };

/* Whether the mask of the cgroup is added. */
enum cgroup_use { CGROUP_IF_ANY, CGROUP_INSIST, CGROUP_LEAVE_OUT };

enum options_action { ACTION_RUN, ACTION_HELP, ACTION_VERSION };

struct options {
	enum options_action action;
	enum engine engine;
	enum follow_mode follow;
	bool have_hide, have_keep; /* --mask, --keep given */
	struct hwcaps hide, keep;  /* union of their SPECs */
	bool by_name;              /* one of them names features */
	bool exact, no_vdso, enforce, dry_run, verbose;
	enum cgroup_use cgroup;
	const char *cgroup_path; /* --cgroup=PATH; NULL: this process's */
	const char *cgroup_root; /* --cgroup-root=DIR; NULL: what is mounted */
	const char *argv0;       /* NULL: as the program was named */
	unsigned long first;     /* index of PROGRAM in argv */
};

/* Returns 0, or -1 with D filled (status 125). */
int options_parse(struct diag *d, unsigned long argc, char **argv, struct options *o);

#endif
