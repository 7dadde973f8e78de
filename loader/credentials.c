#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "credentials.h"
#include "lines.h"
#include "program.h"
#include "sys.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef AT_EACCESS
#define AT_EACCESS 0x200
#endif
#define ST_NOSUID 2 /* include/linux/statfs.h; sys/statvfs.h has it, too */

/* What is shown of an owner who has no id here: /proc/sys/kernel/overflowuid. */
enum { OVERFLOW_ID = 65534 };

/* Does the mount or the process make set-id bits and file capabilities void?
 * (mnt_may_suid(), fs/exec.c:bprm_fill_uid(), security/commoncap.c)
 */
static bool privileges_are_void(int fd)
{
	struct statfs fs;

	if (sys_prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return true;
	return sys_fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_NOSUID);
}

/* bprm_fill_uid(): set-id bits clear these, whosever the file is. */
static bool personality_changes(void)
{
	return sys_personality(0xffffffff) &
	       (READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT | MMAP_PAGE_ZERO);
}

/*
 * Root's capabilities are those of root, whatever the file has; but not where
 * the real user is another one or root is none
 * (security/commoncap.c:handle_privileged_root()).
 */
static bool is_wholly_root(const struct start *s)
{
	return s->euid == 0 && s->uid == 0 &&
	       !(sys_prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) & SECBIT_NOROOT);
}

/* One number of user_namespaces(7)'s maps, and where it ends. */
static const char *number(const char *at, const char *end, uint64_t *value)
{
	while (at < end && *at == ' ')
		at++;
	for (*value = 0; at < end && *at >= '0' && *at <= '9'; at++)
		*value = *value * 10 + (uint64_t)(*at - '0');
	return at;
}

bool idmap_line_has(const char *line, size_t length, unsigned int id)
{
	const char *end = line + length;
	uint64_t first, above, count;

	line = number(line, end, &first);
	line = number(line, end, &above);
	number(line, end, &count);
	return id >= first && id - first < count;
}

/* Is ID one that MAP, of this user namespace, has? As if, where it cannot be read. */
static bool is_mapped(const char *map, unsigned int id)
{
	bool found = false;
	struct lines l;
	size_t length;
	char *line;
	long r;

	l.fd = (int)sys_openat(AT_FDCWD, map, O_RDONLY | O_CLOEXEC, 0);
	if (l.fd < 0)
		return true;
	lines_init(&l);
	while ((r = lines_next(&l, &line, &length)) > 0 && !found)
		found = idmap_line_has(line, length, id);
	sys_close(l.fd);
	return found || r < 0;
}

/* Of the initial user namespace, or as good as that: with all ids. */
static bool has_all_ids(void)
{
	return is_mapped("/proc/self/uid_map", UINT32_MAX - 1) &&
	       is_mapped("/proc/self/uid_map", 0);
}

/*
 * bprm_fill_uid() ignores the bits if owner or group has no id in this user
 * namespace. Such an id is shown as the overflow id, which may be mapped as
 * well: then who may override modes is told, as that ends at the same border
 * (fs/namei.c:generic_permission(), privileged_wrt_inode_uidgid()). All others
 * have to take it for the owner's.
 */
__attribute__((cold, noinline)) static bool owner_is_mapped(const struct program_file *f)
{
	if (!is_mapped("/proc/self/uid_map", f->uid) || !is_mapped("/proc/self/gid_map", f->gid))
		return false;
	if ((f->uid != OVERFLOW_ID && f->gid != OVERFLOW_ID) || has_all_ids() ||
	    !program_may_override())
		return true;
	return sys_faccessat2(f->fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) != -EACCES;
}

/*
 * Those of another namespace's root are void (rootid_owns_currentns()). Which
 * of those above it are, only the initial one knows for sure.
 */
static bool has_capabilities(const struct program_file *f)
{
	struct vfs_ns_cap_data data = { 0 };
	long r = sys_fgetxattr(f->fd, "security.capability", &data, sizeof(data));

	if (r < 0)
		return false;
	return r < (long)sizeof(data) || !le32toh(data.rootid) || !has_all_ids();
}

/* Of set-id bits that count in this process. */
static bool set_id_changes(const struct start *s, const struct program_file *f)
{
	const bool uid = f->mode & S_ISUID;
	const bool gid = (f->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);

	return ((uid && f->uid != s->euid) || (gid && f->gid != sys_getegid()) ||
		((uid || gid) && personality_changes())) &&
	       owner_is_mapped(f);
}

int program_changes_credentials(const struct start *s, const struct program_file *f)
{
	return (set_id_changes(s, f) || (!is_wholly_root(s) && has_capabilities(f))) &&
	       !privileges_are_void(f->fd);
}
