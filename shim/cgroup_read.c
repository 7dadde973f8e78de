#include <string.h>

#include "cgroup_dir.h"

enum {
	NO_XDEV = 1,         /* include/uapi/linux/openat2.h: RESOLVE_NO_XDEV */
	MOUNT_ROOT = 0x2000, /* include/uapi/linux/stat.h: STATX_ATTR_MOUNT_ROOT */
};

RARE const char *cgroup_dir_name(int dir, char *buffer, size_t size)
{
	char link[32];
	struct text t;
	long n;

	text_init(&t, link, sizeof(link));
	text_add(&t, "/proc/self/fd/%d", dir);
	n = sys_readlinkat(AT_FDCWD, link, buffer, size - 1);
	if (n <= 0)
		return "the cgroup";
	buffer[n] = '\0';
	return buffer;
}

/*
 * Levels looked at from one open directory. Getting attributes of "../.." is
 * cheaper than opening it; before Linux 6.13 it has to be opened. A path that
 * leads above the mount's own root is not refused: where nothing was found on
 * PROBE levels, it is looked how far the hierarchy goes.
 */
enum { STEP = 9, PROBE = 3, UP_SIZE = 3 * STEP + 16 };

struct walk {
	struct diag *d;
	const struct cgroup_request *q;
	struct cgroup_mask *mask;
	int dir;
	int level;  /* of DIR above the cgroup asked for */
	int levels; /* as in the place */
	int inside; /* so many levels above DIR are known to be of the hierarchy */
	int step;
	bool want_kernel, want_root, want_user;
	uint32_t dev_major, dev_minor;
};

/* NAME in the directory K levels up. */
static const char *up(int k, const char *name, char buffer[UP_SIZE])
{
	char *p = buffer;

	while (k--) {
		*p++ = '.';
		*p++ = '.';
		*p++ = '/';
	}
	memcpy(p, name, strlen(name) + 1);
	return buffer;
}

static bool other_device(const struct walk *w, const struct cgroup_status *st)
{
	return st->dev_major != w->dev_major || st->dev_minor != w->dev_minor;
}

/* The directory K levels up; -EXDEV above the mount's own root. */
static long open_up(const struct walk *w, int k)
{
	struct sys_open_how how = { CGROUP_DIRECTORY, 0, NO_XDEV };
	char path[UP_SIZE];
	struct cgroup_status st;
	long fd, r;

	up(k, "", path);
	fd = sys_openat2(w->dir, path, &how);
	if (fd != -ENOSYS && fd != -EPERM)
		return fd;
	/* A sandbox without openat2. */
	fd = sys_openat(w->dir, path, CGROUP_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	r = cgroup_status((int)fd, "", &st);
	if (!r && other_device(w, &st))
		r = -EXDEV;
	if (!r)
		return fd;
	sys_close((int)fd);
	return r;
}

/* Is the directory K levels up still of the hierarchy? */
static bool is_inside(const struct walk *w, int k)
{
	char path[UP_SIZE];
	struct cgroup_status st;
	long fd;

	if (w->levels >= 0 || k <= w->inside)
		return true;
	if (!cgroup_status(w->dir, up(k, "", path), &st))
		return !other_device(w, &st);
	fd = open_up(w, k);
	if (fd >= 0)
		sys_close((int)fd);
	return fd != -EXDEV;
}

RARE static int refuse(const struct walk *w, int k, const char *what, const struct cgroup_fault *f,
		       long error)
{
	long dir = k ? open_up(w, k) : w->dir;
	char name[256], number[16];
	const char *of = cgroup_dir_name((int)dir, name, sizeof(name));

	if (k && dir >= 0)
		sys_close((int)dir);
	if (f)
		return diag(w->d, EXIT_FAILED, EINVAL, "%s of cgroup %.200s: line %u, byte %u: %s",
			    what, of, f->line, f->column, f->why);
	return diag(w->d, EXIT_FAILED, (int)-error, "unable to read %s of cgroup %.200s: %s", what,
		    of, errno_text((int)-error, number));
}

/* SIZE bytes (or -errno) as read: 1 if *R is filled, 0 if there is none, -1. */
static int parse(struct walk *w, int k, const char *what, const char *text, long size,
		 struct cgroup_record *r)
{
	struct cgroup_fault fault = { .line = 1, .column = CGROUP_RECORD_MAX + 1 };

	fault.why = "too long"; /* in an initialiser, its address is relocated */
	if (size == -ENODATA || size == -EOPNOTSUPP)
		return 0;
	/* A system call younger than the kernel or the sandbox: open each level. */
	if (k && (size == -ENOSYS || size == -EPERM)) {
		w->step = k;
		return 0;
	}
	if (!is_inside(w, k))
		return 0;
	if (size == -ERANGE || size > CGROUP_RECORD_MAX)
		return refuse(w, k, what, &fault, 0);
	if (size < 0)
		return refuse(w, k, what, NULL, size);
	if (cgroup_parse_record(text, (size_t)size, r, &fault))
		return refuse(w, k, what, &fault, 0);
	return 1;
}

static int look_record(struct walk *w, int k, const char *name, struct cgroup_record *r)
{
	char text[CGROUP_RECORD_MAX], path[UP_SIZE];
	long n = k ? sys_getxattrat(w->dir, up(k, "", path), name, text, sizeof(text)) :
		     sys_fgetxattr(w->dir, name, text, sizeof(text));

	return parse(w, k, name, text, n, r);
}

RARE static int look_kernel(struct walk *w, int k)
{
	char text[CGROUP_RECORD_MAX + 1], path[UP_SIZE];
	struct cgroup_record r;
	size_t size = 0;
	long n;
	int fd, found;

	fd = (int)sys_openat(w->dir, up(k, CGROUP_FILE, path), O_RDONLY | O_CLOEXEC, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return parse(w, k, CGROUP_FILE, text, fd == -EPERM ? -EACCES : fd, &r);
	while ((n = sys_read(fd, text + size, sizeof(text) - size)) > 0)
		size += (size_t)n;
	sys_close(fd);
	found = parse(w, k, CGROUP_FILE, text, n < 0 ? n : (long)size, &r);
	if (found <= 0)
		return found;
	w->want_kernel = false;
	w->mask->has_kernel = true;
	hwcaps_or(&w->mask->kernel, &r.effective);
	return 0;
}

static int look_root(struct walk *w, int k)
{
	struct cgroup_record r;
	int found = look_record(w, k, CGROUP_ROOT_RECORD, &r);

	if (found <= 0)
		return found;
	w->want_root = false;
	w->mask->has_root = true;
	hwcaps_or(&w->mask->records, &r.local);
	hwcaps_or(&w->mask->records, &r.effective);
	return 0;
}

/* Local columns, up to the first directory that is root's; here that is UID's. */
static int look_user(struct walk *w, int k, uint32_t uid)
{
	struct cgroup_record r;
	int found;

	if (!uid)
		w->want_user = false;
	found = look_record(w, k, CGROUP_USER_RECORD, &r);
	if (found <= 0)
		return found;
	w->mask->has_user = true;
	hwcaps_or(&w->mask->records, &r.local);
	return 0;
}

static bool is_beyond(const struct walk *w, int k)
{
	return w->levels >= 0 && w->level + k > w->levels;
}

static bool needs_status(const struct walk *w, int k)
{
	if (w->want_user || (!w->level && !k))
		return true;
	return w->levels < 0 && w->step > 1 && k % PROBE == 0;
}

/* Whose it is, and whether it is the topmost one or beyond that. */
static int look_status(struct walk *w, int k)
{
	struct cgroup_status st;
	char path[UP_SIZE];
	long error = cgroup_status(w->dir, up(k, "", path), &st);

	if (error)
		return refuse(w, 0, k ? "what is above" : "the owner", NULL, error);
	if (!w->level && !k) {
		w->dev_major = st.dev_major;
		w->dev_minor = st.dev_minor;
	}
	if (w->levels < 0) {
		if (other_device(w, &st))
			w->levels = w->level + k - 1;
		else if (st.ino == CGROUP_REAL_ROOT || st.attributes & MOUNT_ROOT)
			w->levels = w->level + k;
		else
			w->inside = k + 1;
	}
	if (is_beyond(w, k) || !w->want_user)
		return 0;
	return look_user(w, k, st.uid);
}

/* One directory. -1, or 0. */
static int look(struct walk *w, int k)
{
	if (needs_status(w, k) && look_status(w, k))
		return -1;
	if (is_beyond(w, k))
		return 0;
	if (w->want_root && k < w->step && look_root(w, k))
		return -1;
	return w->want_kernel && k < w->step ? look_kernel(w, k) : 0;
}

static bool wants(const struct walk *w)
{
	return w->want_kernel || w->want_root || w->want_user;
}

/* From W->dir on upwards until all is found. */
static int climb(struct walk *w, int first)
{
	for (;;) {
		long next;
		int k;

		for (k = 0; k < w->step && wants(w); k++) {
			if (is_beyond(w, k))
				return 0;
			if (look(w, k))
				return -1;
		}
		if (!wants(w) || is_beyond(w, w->step))
			return 0;
		next = open_up(w, w->step);
		if (next == -EXDEV)
			return 0;
		if (next < 0)
			return refuse(w, 0, "what is above", NULL, next);
		if (w->dir != first)
			sys_close(w->dir);
		w->dir = (int)next;
		w->level += w->step;
		w->inside = 0;
	}
}

long cgroup_above(const struct cgroup_place *place, struct cgroup_place *above)
{
	struct walk w = { .dir = place->dir };
	struct cgroup_status st;
	long dir;

	if (!place->levels)
		return 0;
	dir = cgroup_status(place->dir, "", &st);
	if (dir)
		return dir;
	w.dev_major = st.dev_major;
	w.dev_minor = st.dev_minor;
	dir = open_up(&w, 1);
	if (dir < 0)
		return dir == -EXDEV ? 0 : dir;
	*above = *place;
	above->dir = (int)dir;
	above->levels -= above->levels > 0;
	return 1;
}

/* Is the topmost directory in sight, upwards from W->dir, the hierarchy's root? */
RARE static bool sees_root(struct walk *w, int first)
{
	struct cgroup_status st = { 0 };
	long next;

	while (w->levels < 0 || w->level < w->levels) {
		next = open_up(w, 1);
		if (next < 0)
			break;
		if (w->dir != first)
			sys_close(w->dir);
		w->dir = (int)next;
		w->level++;
	}
	return !cgroup_status(w->dir, "", &st) && st.ino == CGROUP_REAL_ROOT;
}

RARE static int refuse_unknown(struct diag *d)
{
	return diag(d, EXIT_FAILED, 0,
		    "no mask is recorded for the cgroup, and those above it are out of sight; "
		    "`hwcapctl cgroup stamp` on the host makes it known");
}

int cgroup_read(struct diag *d, const struct cgroup_request *request,
		const struct cgroup_place *place, struct cgroup_mask *mask)
{
	struct walk w = { .d = d,
			  .q = request,
			  .mask = mask,
			  .dir = place->dir,
			  .levels = place->levels,
			  .step = STEP,
			  .want_kernel = place->has_file,
			  .want_root = true,
			  .want_user = !request->secure };
	int r = climb(&w, place->dir);

	if (!r && request->insist && !mask->has_kernel && !mask->has_root && !place->whole &&
	    !sees_root(&w, place->dir))
		r = refuse_unknown(d);
	if (w.dir != place->dir)
		sys_close(w.dir);
	return r;
}
