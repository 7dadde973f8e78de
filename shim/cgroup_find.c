#include <string.h>

#include "cgroup_dir.h"

RARE static bool goes_up(const char *path)
{
	for (const char *p = path; *p; p++)
		if (p[0] == '.' && p[1] == '.' && (!p[2] || p[2] == '/') &&
		    (p == path || p[-1] == '/'))
			return true;
	return false;
}

/* Below --cgroup-root, whatever file system that is on. */
RARE static int find_below_root(struct cgroup_search *s, struct cgroup_place *p)
{
	const char *path = s->q->path;
	long top, r;

	if (!path && cgroup_own_paths(s->d, &s->own))
		return -1;
	if (!path)
		path = cgroup_own_path(&s->own, CGROUP_V2);
	if (!path)
		return 0;
	while (*path == '/')
		path++;
	if (goes_up(path))
		return cgroup_fail(s->d, -EINVAL, "use a path that goes upwards,", path);
	top = sys_openat(AT_FDCWD, s->q->root, CGROUP_DIRECTORY, 0);
	if (top < 0)
		return cgroup_fail(s->d, top, "open", s->q->root);
	r = cgroup_enter((int)top, path, CGROUP_V2, p);
	sys_close((int)top);
	if (r)
		return cgroup_fail(s->d, r, "open cgroup", path);
	p->whole = true;
	return 1;
}

/* PATH as a directory, else as a path of the hierarchy. */
RARE static int find_named(struct cgroup_search *s, enum cgroup_version version,
			   struct cgroup_place *p)
{
	const char *path = s->q->path;
	enum cgroup_version other = version == CGROUP_V2 ? CGROUP_V1_MISC : CGROUP_V2;
	long dir = cgroup_open_hierarchy(AT_FDCWD, path, other);

	if (dir >= 0) {
		sys_close((int)dir);
		return 0;
	}
	dir = cgroup_open_hierarchy(AT_FDCWD, path, version);
	if (dir >= 0) {
		*p = (struct cgroup_place){
			.dir = (int)dir, .levels = -1, .has_file = true, .version = version
		};
		return 1;
	}
	if (dir != -ENOENT && dir != -ENOTDIR)
		return cgroup_fail(s->d, dir, "open cgroup", path);
	if (*path != '/' || strlen(path) >= CGROUP_PATH_MAX || goes_up(path))
		return cgroup_fail(s->d, dir, "find cgroup", path);
	/* The number of our own cgroup is not that one's. */
	s->own.paths[version == CGROUP_V2] = path;
	s->own.has_paths = s->own.has_number = true;
	if (cgroup_open_usual(s))
		return -1;
	return cgroup_find_by_path(s, version, p);
}

/* The way most runs by root go: 1, 0 if it is not for us, -1. */
static int find_fast(struct cgroup_search *s, struct cgroup_place *p)
{
	if (s->q->root || s->q->path)
		return 0;
	if (cgroup_open_usual(s))
		return -1;
	return cgroup_find_by_number(s, p);
}

static int find_slowly(struct cgroup_search *s, enum cgroup_version version, struct cgroup_place *p)
{
	if (s->q->root)
		return version == CGROUP_V2 ? find_below_root(s, p) : 0;
	if (s->q->path)
		return find_named(s, version, p);
	return cgroup_find_by_path(s, version, p);
}

static void search_init(struct cgroup_search *s, struct diag *d, const struct cgroup_request *q)
{
	s->d = d;
	s->q = q;
	s->own.pid = q->pid;
	s->own.proc = q->proc;
	s->own.number = 0;
	s->own.has_number = s->own.has_paths = false;
	s->own.paths[0] = s->own.paths[1] = NULL;
	s->own.space = NULL;
	s->own.text = NULL;
	s->base = s->top = CGROUP_NOT_OPENED;
	s->usual = false;
}

static void search_end(struct cgroup_search *s)
{
	if (s->top >= 0)
		sys_close((int)s->top);
	if (s->base >= 0)
		sys_close((int)s->base);
	cgroup_own_end(&s->own);
}

int cgroup_find(struct diag *d, const struct cgroup_request *request, enum cgroup_version version,
		struct cgroup_place *place)
{
	char text[CGROUP_OWN_TEXT];
	struct cgroup_search s;
	int found = 0;

	search_init(&s, d, request);
	s.own.text = text;
	if (version == CGROUP_V2)
		found = find_fast(&s, place);
	if (!found)
		found = find_slowly(&s, version, place);
	search_end(&s);
	return found;
}

static int read_place(struct cgroup_search *s, struct cgroup_place *place, struct cgroup_mask *mask)
{
	int r = cgroup_read(s->d, s->q, place, mask);

	sys_close(place->dir);
	return r;
}

/* A controller is in one hierarchy only. FOUND: version 2 has been, with a file. */
static bool may_be_v1(const struct cgroup_search *s, bool found, bool has_file)
{
	const struct cgroup_request *q = s->q;

	if (has_file || q->root || (found && q->path))
		return false;
	if (q->path)
		return true;
	if (s->own.has_paths)
		return cgroup_own_path(&s->own, CGROUP_V1_MISC);
	if (s->usual)
		return false;
	/* Reading /proc for a hierarchy that hardly exists would cost all the time. */
	return !found || s->base < 0 || !cgroup_is_missing((int)s->base, "misc");
}

/* FOUND: version 2 has been read, and has a misc.mask or not. */
__attribute__((noinline)) static int mask_slowly(struct cgroup_search *s, struct cgroup_mask *mask,
						 bool found)
{
	char text[CGROUP_OWN_TEXT];
	struct cgroup_place place = { .has_file = false };
	bool found_v1 = false;
	int r = 0;

	s->own.text = text;
	if (!found) {
		r = find_slowly(s, CGROUP_V2, &place);
		found = r > 0;
		if (r < 0 || (found && read_place(s, &place, mask)))
			return -1;
	}
	if (may_be_v1(s, found, place.has_file)) {
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

static int find_mask(struct cgroup_search *s, struct cgroup_mask *mask)
{
	struct cgroup_place place;
	int found = find_fast(s, &place);

	if (found < 0 || (found && read_place(s, &place, mask)))
		return -1;
	if (found && !may_be_v1(s, true, place.has_file))
		return 0;
	return mask_slowly(s, mask, found > 0);
}

int cgroup_mask(struct diag *d, const struct cgroup_request *request, struct cgroup_mask *mask)
{
	struct cgroup_search s;
	int r;

	search_init(&s, d, request);
	r = find_mask(&s, mask);
	search_end(&s);
	return r;
}
