#include <string.h>

#include "cgroup_dir.h"

enum {
	V1_MAGIC = 0x27e0eb, /* include/uapi/linux/magic.h */
	V2_MAGIC = 0x63677270,
	INITIAL_NAMESPACE = 0xeffffffb, /* include/uapi/linux/nsfs.h: of cgroups */
};

/* ---- directories ----------------------------------------------------------- */

/* 1 if FD lies on a cgroup file system of VERSION, 0 or -errno. */
static long is_hierarchy(int fd, enum cgroup_version version)
{
	long fs[16];
	long r = sys_fstatfs(fd, fs);

	if (r)
		return r;
	/* The type is the first word; 32 bits hold both numbers. */
	return fs[0] == (version == CGROUP_V2 ? V2_MAGIC : V1_MAGIC);
}

long cgroup_open_hierarchy(int dir, const char *path, enum cgroup_version version)
{
	long fd = sys_openat(dir, path, CGROUP_DIRECTORY, 0), r;

	if (fd < 0)
		return fd;
	r = is_hierarchy((int)fd, version);
	if (r == 1)
		return fd;
	sys_close((int)fd);
	return r ? r : -ENOTDIR;
}

static bool is_absent(long error)
{
	return error == -ENOENT || error == -ENOTDIR;
}

int cgroup_open_usual(struct cgroup_search *s)
{
	long r;

	if (s->top != CGROUP_NOT_OPENED)
		return 0;
	s->base = sys_openat(AT_FDCWD, "/sys/fs/cgroup", CGROUP_DIRECTORY, 0);
	r = s->base < 0 ? 0 : is_hierarchy((int)s->base, CGROUP_V2);
	if (r < 0)
		return cgroup_fail(s->d, r, "look at", "/sys/fs/cgroup");
	if (r) {
		s->top = s->base;
		s->base = CGROUP_NOT_OPENED;
		s->usual = true;
		return 0;
	}
	if (s->base >= 0)
		s->top = cgroup_open_hierarchy((int)s->base, "unified", CGROUP_V2);
	else
		s->top = cgroup_open_hierarchy(AT_FDCWD, "/sys/fs/cgroup/unified", CGROUP_V2);
	if (is_absent(s->top))
		s->top = s->base >= 0 || is_absent(s->base) ? CGROUP_NOWHERE : s->base;
	if (s->top >= 0 || s->top == CGROUP_NOWHERE)
		return 0;
	return cgroup_fail(s->d, s->top, "open", "/sys/fs/cgroup");
}

static uint64_t inode_of(int dir)
{
	struct cgroup_status st = { 0 };

	return cgroup_status(dir, "", &st) ? 0 : st.ino;
}

static int count_levels(const char *path)
{
	int n = 0;

	for (const char *p = path; *p; p++)
		n += *p != '/' && (p == path || p[-1] == '/');
	return n;
}

/* Where TOP has no misc.mask none below can: controllers are enabled from the top. */
long cgroup_enter(int top, const char *below, enum cgroup_version version, struct cgroup_place *p)
{
	long dir = sys_openat(top, *below ? below : ".", CGROUP_DIRECTORY, 0);

	if (dir < 0)
		return dir;
	*p = (struct cgroup_place){
		.dir = (int)dir,
		.levels = count_levels(below),
		.has_file = !cgroup_is_missing(top, CGROUP_FILE),
		.version = version,
	};
	return 0;
}

/* ---- by number ------------------------------------------------------------- */

/* include/linux/exportfs.h: a file handle of type FILEID_KERNFS. */
struct handle {
	uint32_t bytes;
	int32_t type;
	uint64_t number;
};

/* Takes as long at every depth; needs CAP_DAC_READ_SEARCH. */
bool cgroup_find_by_number(struct cgroup_search *s, struct cgroup_place *p)
{
	struct handle handle = { sizeof(handle.number), 0xfe, 0 };
	long dir;

	if (s->top < 0 || s->q->plain)
		return false;
	handle.number = cgroup_own_number(&s->own);
	if (!handle.number)
		return false;
	dir = sys_open_by_handle_at((int)s->top, &handle, CGROUP_DIRECTORY);
	if (dir < 0)
		return false;
	*p = (struct cgroup_place){
		.dir = (int)dir,
		.levels = -1,
		.has_file = !cgroup_is_missing((int)s->top, CGROUP_FILE),
		.version = CGROUP_V2,
	};
	return true;
}

/* ---- by path --------------------------------------------------------------- */

RARE static bool in_initial_namespace(void)
{
	struct cgroup_status st = { 0 };

	return !cgroup_status(AT_FDCWD, "/proc/self/ns/cgroup", &st) && st.ino == INITIAL_NAMESPACE;
}

/*
 * Is DIR, found by its path below TOP, that of the cgroup? The path is relative
 * to the root of our cgroup namespace, TOP need not be: the number tells, or
 * that nothing is hidden from us.
 */
static bool is_own(struct cgroup_search *s, int top, enum cgroup_version version, int dir)
{
	uint64_t number = version == CGROUP_V2 ? cgroup_own_number(&s->own) : 0;

	if (number)
		return inode_of(dir) == number;
	return inode_of(top) == CGROUP_REAL_ROOT && in_initial_namespace();
}

static bool find_below(struct cgroup_search *s, int top, enum cgroup_version version,
		       struct cgroup_place *p)
{
	const char *below = cgroup_below("/", cgroup_own_path(&s->own, version));

	if (!below || cgroup_enter(top, below, version, p))
		return false;
	if (is_own(s, top, version, p->dir))
		return true;
	sys_close(p->dir);
	return false;
}

/* As MOUNT has it: 1, 0 if it is not there, or -errno. */
RARE static long find_in_mount(struct cgroup_search *s, const struct cgroup_mount *mount,
			       struct cgroup_place *p)
{
	const char *below = cgroup_below(mount->root, cgroup_own_path(&s->own, mount->version));
	uint64_t number;
	long top, r;

	if (!below)
		return 0;
	top = cgroup_open_hierarchy(AT_FDCWD, mount->point, mount->version);
	if (top < 0)
		return top;
	r = cgroup_enter((int)top, below, mount->version, p);
	sys_close((int)top);
	if (r)
		return r;
	number = mount->version == CGROUP_V2 ? cgroup_own_number(&s->own) : 0;
	if (!number || inode_of(p->dir) == number)
		return 1;
	sys_close(p->dir);
	return 0;
}

/* 1, 0 if VERSION is not mounted at all, or -1. */
RARE static int find_in_mounts(struct cgroup_search *s, struct lines *l,
			       enum cgroup_version version, struct cgroup_place *p)
{
	struct cgroup_mount mount;
	struct cgroup_fault fault;
	bool mounted = false;
	long error = -ENOENT, r;
	size_t length;
	char *line;

	while ((r = lines_next(l, &line, &length)) > 0) {
		/* Only the end, options of a file system, is missing where it was cut. */
		if (cgroup_parse_mount(line, length, &mount, &fault) && !l->cut)
			return diag(s->d, EXIT_FAILED, EINVAL,
				    "/proc/self/mountinfo: byte %u of a line: %s", fault.column,
				    fault.why);
		if (mount.version != version)
			continue;
		mounted = true;
		r = find_in_mount(s, &mount, p);
		if (r == 1)
			return 1;
		if (r)
			error = r;
	}
	if (r)
		return cgroup_fail(s->d, r, "read", "/proc/self/mountinfo");
	if (!mounted)
		return 0;
	return cgroup_fail(s->d, error, "find the mounted directory of cgroup",
			   cgroup_own_path(&s->own, version));
}

RARE static int search_mounts(struct cgroup_search *s, enum cgroup_version version,
			      struct cgroup_place *p)
{
	struct cgroup_space *space = cgroup_own_space(s->d, &s->own);
	int fd, r;

	if (!space)
		return -1;
	fd = (int)sys_openat(AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return cgroup_fail(s->d, fd, "open", "/proc/self/mountinfo");
	space->lines.fd = fd;
	lines_init(&space->lines);
	r = find_in_mounts(s, &space->lines, version, p);
	sys_close(fd);
	return r;
}

RARE static int find_by_path_v1(struct cgroup_search *s, struct cgroup_place *p)
{
	long top = cgroup_open_hierarchy(AT_FDCWD, "/sys/fs/cgroup/misc", CGROUP_V1_MISC);
	bool found;

	if (top < 0 && !is_absent(top))
		return cgroup_fail(s->d, top, "open", "/sys/fs/cgroup/misc");
	found = top >= 0 && find_below(s, (int)top, CGROUP_V1_MISC, p);
	if (top >= 0)
		sys_close((int)top);
	return found ? 1 : search_mounts(s, CGROUP_V1_MISC, p);
}

int cgroup_find_by_path(struct cgroup_search *s, enum cgroup_version version,
			struct cgroup_place *p)
{
	if (cgroup_own_paths(s->d, &s->own))
		return -1;
	if (!cgroup_own_path(&s->own, version))
		return 0;
	if (version == CGROUP_V1_MISC)
		return find_by_path_v1(s, p);
	if (s->top >= 0 && find_below(s, (int)s->top, version, p))
		return 1;
	return search_mounts(s, version, p);
}
