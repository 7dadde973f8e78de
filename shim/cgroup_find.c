#include <errno.h>
#include <string.h>

#include "cgroup_dir.h"
#include "lines.h"

enum {
	V1_MAGIC = 0x27e0eb, /* include/uapi/linux/magic.h */
	V2_MAGIC = 0x63677270,
	INITIAL_NAMESPACE = 0xeffffffb, /* include/uapi/linux/nsfs.h: of cgroups */
};

#define V1_DIRECTORY "/sys/fs/cgroup/misc"

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

RARE static int fail(struct diag *d, long error, const char *what, const char *name)
{
	char number[16];

	return diag(d, EXIT_FAILED, (int)-error, "unable to %s %.200s: %s; %s", what, name,
		    errno_text((int)-error, number), CGROUP_ADVICE);
}

/* ---- what a search knows -------------------------------------------------- */

/* As /proc/PID/cgroup has them: of v1 misc, of version 2. */
struct paths {
	char of[2][CGROUP_PATH_MAX];
};

enum { NOWHERE = -ENOENT, NOT_OPENED = -EBADF };

struct search {
	struct diag *d;
	const struct cgroup_request *q;
	uint64_t number;     /* of the cgroup, which is its inode; 0: unknown */
	long top;            /* where version 2 is, or one of the two below */
	bool read;           /* the paths have been */
	bool usual;          /* version 2 is mounted where it is alone */
	bool has[2];         /* there is such a path */
	struct paths *paths; /* in the frame of who needs them: they are long */
};

static char *path_of(struct search *s, enum cgroup_version version)
{
	return s->paths->of[version == CGROUP_V2];
}

static bool *has_path(struct search *s, enum cgroup_version version)
{
	return &s->has[version == CGROUP_V2];
}

static const char *proc_file(const struct cgroup_request *q, const char *name, char buffer[48])
{
	struct text t;

	text_init(&t, buffer, 48);
	text_add(&t, "/proc/%.20s/%s", q->pid ? q->pid : "self", name);
	return buffer;
}

RARE static int take_paths(struct search *s, struct lines *l, const char *name)
{
	enum cgroup_version version;
	struct cgroup_fault fault;
	size_t length;
	const char *p;
	char *line;
	long r;

	while ((r = lines_next(l, &line, &length)) > 0) {
		line[length] = '\0';
		if (l->cut || cgroup_parse_own(line, length, &version, &p, &fault))
			return diag(s->d, EXIT_FAILED, EINVAL,
				    "%s: unable to understand '%.100s'; %s", name, line,
				    CGROUP_ADVICE);
		length -= (size_t)(p - line);
		if (!version)
			continue;
		if (length >= CGROUP_PATH_MAX)
			return fail(s->d, -ENAMETOOLONG, "use", name);
		memcpy(path_of(s, version), p, length + 1);
		*has_path(s, version) = true;
		/* cgroup_roots is in reverse order of mounting: version 2 is last. */
		if (version == CGROUP_V2)
			return 0;
	}
	return r ? fail(s->d, r, "read", name) : 0;
}

/* Fill in the paths. Without /proc there are none. */
RARE static int read_paths(struct search *s)
{
	char buffer[48];
	const char *name = proc_file(s->q, "cgroup", buffer);
	struct lines l;
	int r;

	if (s->read)
		return 0;
	s->read = true;
	l.fd = (int)sys_openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
	if (l.fd == -ENOENT && !s->q->pid)
		return 0;
	if (l.fd < 0)
		return fail(s->d, l.fd, "open", name);
	lines_init(&l);
	r = take_paths(s, &l, name);
	sys_close(l.fd);
	return r;
}

/* include/uapi/linux/pidfd.h: struct pidfd_info, as first published. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t rest[12];
};

enum { PIDFD_INFO_CGROUPID = 4 };

static int to_pid(const char *s)
{
	int n = 0;

	while (*s >= '0' && *s <= '9' && n < 1 << 26)
		n = n * 10 + (*s++ - '0');
	return n;
}

/* Linux 6.13 tells the number of a process's cgroup of version 2. */
static uint64_t read_number(const struct cgroup_request *q)
{
	/* _IOWR(PIDFS_IOCTL_MAGIC 0xff, 11, struct pidfd_info) */
	unsigned long request = 3UL << 30 | sizeof(struct pidfd_info) << 16 | 0xff << 8 | 11;
	struct pidfd_info info = { .mask = PIDFD_INFO_CGROUPID };
	int fd = (int)sys_pidfd_open(q->pid ? to_pid(q->pid) : sys_getpid(), 0);
	long r;

	if (fd < 0)
		return 0;
	r = sys_ioctl(fd, request, &info);
	sys_close(fd);
	return r || !(info.mask & PIDFD_INFO_CGROUPID) ? 0 : info.cgroup;
}

/* ---- directories ---------------------------------------------------------- */

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

RARE static bool goes_up(const char *path)
{
	for (const char *p = path; *p; p++)
		if (p[0] == '.' && p[1] == '.' && (!p[2] || p[2] == '/') &&
		    (p == path || p[-1] == '/'))
			return true;
	return false;
}

/* With AT_EACCESS the kernel need not change credentials for the question. */
static bool is_missing(int dir, const char *path)
{
	return sys_faccessat2(dir, path, 0, 0x200) == -ENOENT;
}

/*
 * The cgroup at BELOW, seen from directory TOP. Where TOP has no misc.mask
 * none below can have one: a controller is enabled from the top down.
 */
static long enter(int top, const char *below, enum cgroup_version version, struct cgroup_place *p)
{
	long dir = sys_openat(top, *below ? below : ".", CGROUP_DIRECTORY, 0);

	if (dir < 0)
		return dir;
	*p = (struct cgroup_place){
		.dir = (int)dir,
		.levels = count_levels(below),
		.has_file = !is_missing(top, CGROUP_FILE),
		.version = version,
	};
	return 0;
}

/* ---- where a hierarchy is mounted ----------------------------------------- */

/* A descriptor of PATH if a hierarchy of VERSION is there, or -errno. */
static long open_hierarchy(const char *path, enum cgroup_version version)
{
	long fd = sys_openat(AT_FDCWD, path, CGROUP_DIRECTORY, 0), r;

	if (fd < 0)
		return fd;
	r = is_hierarchy((int)fd, version);
	if (r == 1)
		return fd;
	sys_close((int)fd);
	return r ? r : -ENOTDIR;
}

/* A descriptor, NOWHERE if it is at no usual place, or -errno. */
static long open_usual(struct search *s, enum cgroup_version version)
{
	long fd;

	if (version == CGROUP_V2) {
		fd = open_hierarchy("/sys/fs/cgroup/unified", version);
		if (fd == -ENOENT || fd == -ENOTDIR) {
			fd = open_hierarchy("/sys/fs/cgroup", version);
			s->usual = fd >= 0;
		}
	} else {
		fd = open_hierarchy(V1_DIRECTORY, version);
	}
	return fd == -ENOTDIR ? NOWHERE : fd;
}

/* include/linux/exportfs.h: a file handle of type FILEID_KERNFS. */
struct handle {
	uint32_t bytes;
	int32_t type;
	uint64_t number;
};

/*
 * By its number: takes as long at every depth, but needs CAP_DAC_READ_SEARCH.
 * False if it cannot be had.
 */
static bool find_by_number(struct search *s, int top, struct cgroup_place *p)
{
	struct handle handle = { sizeof(handle.number), 0xfe, s->number };
	long dir;

	if (!s->number || s->q->plain)
		return false;
	dir = sys_open_by_handle_at(top, &handle, CGROUP_DIRECTORY);
	if (dir < 0)
		return false;
	*p = (struct cgroup_place){
		.dir = (int)dir,
		.levels = -1,
		.has_file = !is_missing(top, CGROUP_FILE),
		.version = CGROUP_V2,
	};
	return true;
}

static bool in_initial_namespace(void)
{
	struct cgroup_status st = { 0 };

	return !cgroup_status(AT_FDCWD, "/proc/self/ns/cgroup", &st) && st.ino == INITIAL_NAMESPACE;
}

/*
 * PATH is relative to the root of our cgroup namespace, TOP need not be: the
 * number tells, or that nothing is hidden from us.
 */
RARE static bool find_by_path(struct search *s, int top, enum cgroup_version version,
			      struct cgroup_place *p)
{
	const char *below = cgroup_below("/", path_of(s, version));

	if (!below || enter(top, below, version, p))
		return false;
	if (s->number && version == CGROUP_V2 ?
		    inode_of(p->dir) == s->number :
		    inode_of(top) == CGROUP_REAL_ROOT && in_initial_namespace())
		return true;
	sys_close(p->dir);
	return false;
}

/* As MOUNT has it: 1, 0 if it is not there, or -errno. */
RARE static long find_in_mount(struct search *s, const struct cgroup_mount *mount,
			       struct cgroup_place *p)
{
	const char *below = cgroup_below(mount->root, path_of(s, mount->version));
	long top, r;

	if (!below)
		return 0;
	top = open_hierarchy(mount->point, mount->version);
	if (top < 0)
		return top;
	r = enter((int)top, below, mount->version, p);
	sys_close((int)top);
	if (r)
		return r;
	if (!s->number || mount->version != CGROUP_V2 || inode_of(p->dir) == s->number)
		return 1;
	sys_close(p->dir);
	return 0;
}

/* 1, 0 if VERSION is not mounted at all, or -1. */
RARE static int find_in_mounts(struct search *s, struct lines *l, enum cgroup_version version,
			       struct cgroup_place *p)
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
				    "/proc/self/mountinfo: byte %u of a line: %s; %s", fault.column,
				    fault.why, CGROUP_ADVICE);
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
		return fail(s->d, r, "read", "/proc/self/mountinfo");
	if (!mounted)
		return 0;
	return fail(s->d, error, "find the mounted directory of cgroup", path_of(s, version));
}

RARE static int search_mounts(struct search *s, enum cgroup_version version, struct cgroup_place *p)
{
	struct lines l;
	int r;

	l.fd = (int)sys_openat(AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC, 0);
	if (l.fd == -ENOENT)
		return 0;
	if (l.fd < 0)
		return fail(s->d, l.fd, "open", "/proc/self/mountinfo");
	lines_init(&l);
	r = find_in_mounts(s, &l, version, p);
	sys_close(l.fd);
	return r;
}

/* The way most runs by root go: 1, 0 if it is not for us, -1. */
static int find_fast(struct search *s, struct cgroup_place *p)
{
	s->top = open_usual(s, CGROUP_V2);
	if (s->top == NOWHERE)
		return 0;
	if (s->top < 0)
		return fail(s->d, s->top, "open", "/sys/fs/cgroup");
	s->number = read_number(s->q);
	if (!find_by_number(s, (int)s->top, p))
		return 0;
	sys_close((int)s->top);
	return 1;
}

/* TOP: where VERSION is usually mounted, NOWHERE if it is not there. */
static int find_at(struct search *s, int top, enum cgroup_version version, struct cgroup_place *p)
{
	if (read_paths(s))
		return -1;
	if (!*has_path(s, version))
		return 0;
	if (top >= 0 && find_by_path(s, top, version, p))
		return 1;
	return search_mounts(s, version, p);
}

static int find_mounted(struct search *s, enum cgroup_version version, struct cgroup_place *p)
{
	long top = version == CGROUP_V2 ? s->top : NOT_OPENED;
	int r;

	if (top == NOT_OPENED)
		top = open_usual(s, version);
	if (top < 0 && top != NOWHERE)
		return fail(s->d, top, "open", "/sys/fs/cgroup");
	r = find_at(s, (int)top, version, p);
	if (top >= 0)
		sys_close((int)top);
	return r;
}

/* ---- what the request names ----------------------------------------------- */

/* Below --cgroup-root, whatever file system that is on. */
RARE static int find_below_root(struct search *s, struct cgroup_place *p)
{
	const char *path = s->q->path;
	long top, r;

	if (!path && read_paths(s))
		return -1;
	if (!path && !*has_path(s, CGROUP_V2))
		return 0;
	if (!path)
		path = path_of(s, CGROUP_V2);
	while (*path == '/')
		path++;
	if (goes_up(path))
		return fail(s->d, -EINVAL, "use a path that goes upwards,", path);
	top = sys_openat(AT_FDCWD, s->q->root, CGROUP_DIRECTORY, 0);
	if (top < 0)
		return fail(s->d, top, "open", s->q->root);
	r = enter((int)top, path, CGROUP_V2, p);
	sys_close((int)top);
	if (r)
		return fail(s->d, r, "open cgroup", path);
	p->whole = true;
	return 1;
}

/* PATH as a directory, else as a path of the hierarchy. */
RARE static int find_named(struct search *s, enum cgroup_version version, struct cgroup_place *p)
{
	const char *path = s->q->path;
	enum cgroup_version other = version == CGROUP_V2 ? CGROUP_V1_MISC : CGROUP_V2;
	long dir = open_hierarchy(path, other);

	if (dir >= 0) {
		sys_close((int)dir);
		return 0;
	}
	dir = open_hierarchy(path, version);
	if (dir >= 0) {
		*p = (struct cgroup_place){
			.dir = (int)dir, .levels = -1, .has_file = true, .version = version
		};
		return 1;
	}
	if (dir != -ENOENT && dir != -ENOTDIR)
		return fail(s->d, dir, "open cgroup", path);
	if (*path != '/' || strlen(path) >= CGROUP_PATH_MAX || goes_up(path))
		return fail(s->d, dir, "find cgroup", path);
	memcpy(path_of(s, version), path, strlen(path) + 1);
	*has_path(s, version) = s->read = true;
	return find_mounted(s, version, p);
}

RARE static int find_slowly(struct search *s, enum cgroup_version version, struct cgroup_place *p)
{
	if (s->q->root)
		return version == CGROUP_V2 ? find_below_root(s, p) : 0;
	if (s->q->path)
		return find_named(s, version, p);
	return find_mounted(s, version, p);
}

static void search_init(struct search *s, struct diag *d, const struct cgroup_request *q)
{
	s->d = d;
	s->q = q;
	s->number = 0;
	s->top = NOT_OPENED;
	s->read = s->usual = false;
	s->has[0] = s->has[1] = false;
	s->paths = NULL;
}

int cgroup_find(struct diag *d, const struct cgroup_request *request, enum cgroup_version version,
		struct cgroup_place *place)
{
	struct paths paths;
	struct search s;
	int found = 0;

	search_init(&s, d, request);
	s.paths = &paths;
	if (version == CGROUP_V2 && !request->root && !request->path)
		found = find_fast(&s, place);
	return found ? found : find_slowly(&s, version, place);
}

static int read_place(struct search *s, struct cgroup_place *place, struct cgroup_mask *mask)
{
	int r = cgroup_read(s->d, s->q, place, mask);

	sys_close(place->dir);
	return r;
}

/* FOUND: version 2 has been read. It has a misc.mask or not. */
RARE static int mask_slowly(const struct search *so_far, struct cgroup_mask *mask, bool found)
{
	bool has_file = false, found_v1 = false;
	struct search own = *so_far, *s = &own;
	struct cgroup_place place;
	struct paths paths;
	int r;

	own.paths = &paths;
	if (!found) {
		r = find_slowly(s, CGROUP_V2, &place);
		found = r > 0;
		has_file = found && place.has_file;
		if (r < 0 || (found && read_place(s, &place, mask)))
			return -1;
	}
	/* A controller is in one hierarchy only. */
	if (!has_file && !s->usual && !s->q->root && !(found && s->q->path)) {
		r = find_slowly(s, CGROUP_V1_MISC, &place);
		found_v1 = r > 0;
		if (r < 0 || (found_v1 && read_place(s, &place, mask)))
			return -1;
	}
	if (found || found_v1 || !s->q->insist)
		return 0;
	return diag(s->d, EXIT_FAILED, ENOENT,
		    "--cgroup: no cgroup file system is mounted here, or /proc is not");
}

int cgroup_mask(struct diag *d, const struct cgroup_request *request, struct cgroup_mask *mask)
{
	struct cgroup_place place;
	struct search s;
	int found = 0;

	search_init(&s, d, request);
	if (!request->root && !request->path)
		found = find_fast(&s, &place);
	if (found < 0 || (found && read_place(&s, &place, mask)))
		return -1;
	/* Reading /proc for a hierarchy that hardly exists would cost all the time. */
	if (found && (place.has_file || s.usual || is_missing(AT_FDCWD, V1_DIRECTORY)))
		return 0;
	return mask_slowly(&s, mask, found > 0);
}
