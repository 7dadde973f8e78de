/*
 * cgroup_dir.h - what the parts of the cgroup readers share
 *
 * shim/cgroup_own.c knows which cgroup a process is in, shim/cgroup_mount.c
 * finds its directory where a hierarchy is mounted, shim/cgroup_find.c does so
 * for what a request names, shim/cgroup_read.c reads what a directory and those
 * above it hide. Everything goes through open directories. No frame is larger
 * than 1.5 KiB: the stack may be limited to a few pages.
 */
#ifndef CGROUP_DIR_H
#define CGROUP_DIR_H

#include <errno.h>
#include <fcntl.h>

#include "cgroup.h"
#include "lines.h"
#include "sys.h"

/* Off the path that most runs take: for size, and with a frame of its own. */
#define RARE __attribute__((cold, noinline))

enum {
	CGROUP_REAL_ROOT = 1, /* fs/kernfs: inode of a hierarchy's own root */
	CGROUP_DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
};

/* include/uapi/linux/stat.h: struct statx, as far as it is used. */
struct cgroup_status {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare;
	uint64_t ino;
	uint64_t rest[11];
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t more[14];
};

_Static_assert(sizeof(struct cgroup_status) == 256, "struct statx");

/* Of PATH seen from DIR, or with "" of DIR: owner, inode, device, attributes. */
static inline long cgroup_status(int dir, const char *path, struct cgroup_status *s)
{
	int empty = 0x1000; /* AT_EMPTY_PATH */

	return sys_statx(dir, path, *path ? 0 : empty, 0x8 | 0x100 /* STATX_UID, STATX_INO */, s);
}

/* With AT_EACCESS the kernel need not change credentials for the question. */
static inline bool cgroup_is_missing(int dir, const char *path)
{
	return sys_faccessat2(dir, path, 0, 0x200) == -ENOENT;
}

int cgroup_fail(struct diag *d, long error, const char *what, const char *name)
	__attribute__((cold));

/* ---- which cgroup a process is in ------------------------------------------ */

/* Too large for a stack. */
struct cgroup_space {
	struct lines lines;
	char text[262144];
};

/* Each half is looked up when it is asked for, once. */
struct cgroup_own {
	const char *pid;  /* NULL: this process */
	const char *proc; /* as in the request */
	uint64_t number;
	bool has_number, has_paths;
	const char *paths[2];       /* of v1 misc, of version 2; NULL: none */
	char *text;                 /* they point into it, or into SPACE */
	struct cgroup_space *space; /* mapped when it is needed */
};

enum { CGROUP_OWN_TEXT = 1024 };

/* Its number in version 2, which is its inode; 0: unknown (before Linux 6.13). */
uint64_t cgroup_own_number(struct cgroup_own *own);

/* Fill in the paths. Without /proc there are none. 0 or -1. */
int cgroup_own_paths(struct diag *d, struct cgroup_own *own);

static inline const char *cgroup_own_path(const struct cgroup_own *own, enum cgroup_version version)
{
	return own->paths[version == CGROUP_V2];
}

/* Room that is too large for a stack: once mapped, it stays until the end. */
struct cgroup_space *cgroup_own_space(struct diag *d, struct cgroup_own *own);
void cgroup_own_end(struct cgroup_own *own);

/* ---- where a hierarchy is mounted ------------------------------------------ */

struct cgroup_search {
	struct diag *d;
	const struct cgroup_request *q;
	struct cgroup_own own;
	/* Descriptors, or -errno. */
	long base;  /* where hierarchies of version 1 and 2 are mounted side by side */
	long top;   /* version 2 where it usually is; NOWHERE if it is not there */
	bool usual; /* TOP is where version 2 is mounted alone */
};

enum { CGROUP_NOWHERE = -ENOENT, CGROUP_NOT_OPENED = -EBADF };

/* Open TOP if that has not been done. 0, or -1. */
int cgroup_open_usual(struct cgroup_search *s);

/* A descriptor of PATH if a hierarchy of VERSION is there, or -errno. */
long cgroup_open_hierarchy(int dir, const char *path, enum cgroup_version version);

/* The cgroup at BELOW, seen from directory TOP: 0 or -errno. */
long cgroup_enter(int top, const char *below, enum cgroup_version version, struct cgroup_place *p);

/* By its number, in version 2. False if it cannot be had that way. */
bool cgroup_find_by_number(struct cgroup_search *s, struct cgroup_place *p);

/* By its path: 1, 0 if VERSION is not mounted, or -1. */
int cgroup_find_by_path(struct cgroup_search *s, enum cgroup_version version,
			struct cgroup_place *p);

#endif
