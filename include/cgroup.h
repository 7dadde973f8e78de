/*
 * cgroup.h - the mask that belongs to a cgroup
 *
 * Two halves. The parsers are pure functions over bytes: no system call, no
 * allocation, and where they refuse they say at which line and byte. The
 * readers find a cgroup's directory and read its mask from the kernel's
 * misc.mask and from the records kept as extended attributes; they leave no
 * descriptor open but the one they hand out. What exists but cannot be read
 * or understood is an error, never a mask of 0.
 */
#ifndef CGROUP_H
#define CGROUP_H

#include "diag.h"
#include "hwcap.h"

#define CGROUP_FILE        "misc.mask"
#define CGROUP_ROOT_RECORD "security.hwcap_mask" /* root's */
#define CGROUP_USER_RECORD "user.hwcap_mask"     /* the directory's owner's */

enum {
	CGROUP_PATH_MAX = 4096,  /* PATH_MAX: the kernel shows no longer one */
	CGROUP_RECORD_MAX = 512, /* four lines of 16 digits are 208 bytes */
};

/* Where a text is wrong. Lines and columns (bytes) count from 1. */
struct cgroup_fault {
	unsigned int line, column;
	const char *why;
};

/* The text of misc.mask and of a record. */
struct cgroup_record {
	unsigned int present; /* bit N: entry N has a line */
	struct hwcaps local, effective;
};

/* Lines `NAME\t0xLOCAL\t0xEFFECTIVE\n`, each entry at most once. 0 or -1. */
int cgroup_parse_record(const char *text, size_t size, struct cgroup_record *record,
			struct cgroup_fault *fault);

enum cgroup_version { CGROUP_NO_VERSION, CGROUP_V1_MISC, CGROUP_V2 };

/*
 * One line of /proc/PID/cgroup, LENGTH bytes without its newline. Points *PATH
 * to its path (which has no terminator; it ends with the line).
 */
int cgroup_parse_own(const char *line, size_t length, enum cgroup_version *version,
		     const char **path, struct cgroup_fault *fault);

/* One line of /proc/PID/mountinfo. VERSION is NO_VERSION where it is no cgroup's. */
struct cgroup_mount {
	enum cgroup_version version;
	const char *root;  /* what of the hierarchy is mounted, may be "/../.." */
	const char *point; /* where */
};

/* Undoes the octal escapes in place; LINE[LENGTH] is overwritten. */
int cgroup_parse_mount(char *line, size_t length, struct cgroup_mount *mount,
		       struct cgroup_fault *fault);

/*
 * The part of PATH below ROOT, both relative to the root of the reader's
 * cgroup namespace: "" or "a/b". NULL if PATH is not below ROOT or cannot be
 * told to be (ROOT goes up further than PATH).
 */
const char *cgroup_below(const char *root, const char *path);

struct cgroup_request {
	bool insist;      /* no cgroup is an error, and so are unknown ancestors */
	bool secure;      /* AT_SECURE: the owner's records do not count */
	bool plain;       /* use no privilege: that shows in /proc/PID/stat */
	const char *path; /* a directory, or a path below the hierarchy; NULL: PID's */
	const char *root; /* a hierarchy, whatever it lies on; NULL: what is mounted */
	const char *pid;  /* NULL: this process; may be a thread's */
	const char *proc; /* what /proc calls PID, if not so; "": there is no /proc */
};

struct cgroup_place {
	int dir;       /* its directory, opened for reading */
	int levels;    /* at most that many directories above count; -1: unknown */
	bool has_file; /* it or one above may have misc.mask */
	bool whole;    /* what is above is known to be in sight */
	enum cgroup_version version;
};

/* 1: found, the caller closes PLACE->dir; 0: there is none; or -1. */
int cgroup_find(struct diag *d, const struct cgroup_request *request, enum cgroup_version version,
		struct cgroup_place *place);

/* The directory above: 1, 0 if PLACE is the topmost in sight, -errno. */
long cgroup_above(const struct cgroup_place *place, struct cgroup_place *above);

struct cgroup_mask {
	struct hwcaps kernel;  /* from misc.mask */
	struct hwcaps records; /* from extended attributes */
	bool has_kernel, has_root, has_user;
};

/* Adds what PLACE and those above it say. */
int cgroup_read(struct diag *d, const struct cgroup_request *request,
		const struct cgroup_place *place, struct cgroup_mask *mask);

/* Both: everything that REQUEST's cgroup hides. */
int cgroup_mask(struct diag *d, const struct cgroup_request *request, struct cgroup_mask *mask);

/* The name of open directory DIR, for messages. */
const char *cgroup_dir_name(int dir, char *buffer, size_t size);

#endif
