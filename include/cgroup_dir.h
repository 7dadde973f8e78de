/*
 * cgroup_dir.h - what the two halves of the cgroup readers share
 *
 * shim/cgroup_find.c finds a cgroup's directory, shim/cgroup_read.c reads what
 * it and those above it hide. Everything goes through open directories.
 */
#ifndef CGROUP_DIR_H
#define CGROUP_DIR_H

#include <fcntl.h>

#include "cgroup.h"
#include "sys.h"

/* Off the path that most runs take: for size, and with a frame of its own. */
#define RARE __attribute__((cold, noinline))

/* What to do where the cgroup's mask cannot be had. */
#define CGROUP_ADVICE "--no-cgroup runs without the cgroup's mask"

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

/* Of PATH seen from DIR, or with "" of DIR: owner, inode, device. */
static inline long cgroup_status(int dir, const char *path, struct cgroup_status *s)
{
	int empty = 0x1000; /* AT_EMPTY_PATH */

	return sys_statx(dir, path, *path ? 0 : empty, 0x8 | 0x100 /* STATX_UID, STATX_INO */, s);
}

#endif
