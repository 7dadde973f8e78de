#include "ctl_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ctl.h"
#include "spec.h"

#define LOCK_DIRECTORY "/run/hwcap-exec"
#define LOCK_FILE      LOCK_DIRECTORY "/cgroup.lock"

struct name {
	char text[CGROUP_PATH_MAX];
};

static const char *name_of(int dir, struct name *n)
{
	return cgroup_dir_name(dir, n->text, sizeof(n->text));
}

/* A cgroup may vanish at any time; what it hid does not matter any more. */
static bool is_gone(int error)
{
	return error == ENOENT || error == ENODEV;
}

/* ---- one record ----------------------------------------------------------- */

/* As record_read(), but without a word; the place of a fault goes into *F. */
static int record_look(int dir, const char *name, struct cgroup_record *r, struct cgroup_fault *f)
{
	char text[CGROUP_RECORD_MAX];
	struct cgroup_fault own = { 0, 0, NULL }, *fault = f ? f : &own;
	ssize_t n = fgetxattr(dir, name, text, sizeof(text));

	memset(r, 0, sizeof(*r));
	*fault = (struct cgroup_fault){ 1, CGROUP_RECORD_MAX + 1, "too long" };
	if (n < 0 && (errno == ENODATA || errno == EOPNOTSUPP || is_gone(errno)))
		return 0;
	if (n < 0 && errno != ERANGE)
		fault->why = strerror(errno);
	return n >= 0 && !cgroup_parse_record(text, (size_t)n, r, fault) ? 1 : -1;
}

int record_read(int dir, const char *name, struct cgroup_record *r)
{
	struct cgroup_fault f;
	struct name buffer;
	int found = record_look(dir, name, r, &f);

	if (found < 0)
		ctl_fail(CTL_FAILED, "%s: %s: line %u, byte %u: %s", name_of(dir, &buffer), name,
			 f.line, f.column, f.why);
	return found;
}

int record_write(int dir, const char *name, const struct cgroup_record *r, unsigned int present)
{
	char text[CGROUP_RECORD_MAX];
	struct name buffer;
	size_t size = 0;

	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (present >> i & 1)
			size += (size_t)snprintf(text + size, sizeof(text) - size,
						 "%s\t0x%014lx\t0x%014lx\n", spec_entry_name(i),
						 (unsigned long)r->local.word[i],
						 (unsigned long)r->effective.word[i]);
	if (!fsetxattr(dir, name, text, size, 0) || is_gone(errno))
		return CTL_OK;
	if (errno == EPERM && !strcmp(name, CGROUP_ROOT_RECORD))
		return ctl_fail(CTL_FAILED,
				"%s: only root of the host may write %s (--user writes the "
				"owner's record)",
				name_of(dir, &buffer), name);
	return ctl_fail(CTL_FAILED, "%s: unable to write %s: %s", name_of(dir, &buffer), name,
			strerror(errno));
}

static int record_remove(int dir, const char *name)
{
	struct name buffer;

	if (!fremovexattr(dir, name) || errno == ENODATA || is_gone(errno))
		return CTL_OK;
	return ctl_fail(CTL_FAILED, "%s: unable to remove %s: %s", name_of(dir, &buffer), name,
			strerror(errno));
}

/* ---- a tree of them ------------------------------------------------------- */

static bool covers(const struct hwcaps *all, const struct hwcaps *part)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (part->word[i] & ~all->word[i])
			return false;
	return true;
}

static bool equal(const struct hwcaps *a, const struct hwcaps *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void complain(int dir, const struct cgroup_record *r, const struct hwcaps *wanted)
{
	struct hwcaps lacks, extra;
	struct name buffer;

	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		lacks.word[i] = wanted->word[i] & ~r->effective.word[i];
		extra.word[i] = r->effective.word[i] & ~wanted->word[i];
	}
	ctl_print_name(stdout, name_of(dir, &buffer));
	putchar(':');
	if (hwcaps_any(&lacks)) {
		fputs(" does not hide ", stdout);
		ctl_print_spec(stdout, &lacks);
	}
	if (hwcaps_any(&extra)) {
		fputs(" hides more than asked for: ", stdout);
		ctl_print_spec(stdout, &extra);
	}
	putchar('\n');
}

static void settle(struct records *t, int dir, const struct hwcaps *above);

/* Settle every child of DIR, which hides ABOVE. */
static void settle_children(struct records *t, int dir, const struct hwcaps *above)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct name buffer;
	struct dirent *e;

	if (!list && is_gone(errno))
		return;
	if (!list) {
		t->status = ctl_fail(CTL_FAILED, "unable to open %s: %s", name_of(dir, &buffer),
				     strerror(errno));
		return;
	}
	while ((e = readdir(list)) != NULL) {
		int child;

		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		child = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child >= 0) {
			settle(t, child, above);
			close(child);
		} else if (!is_gone(errno)) {
			t->status = ctl_fail(CTL_FAILED, "unable to open %s/%s: %s",
					     name_of(dir, &buffer), e->d_name, strerror(errno));
		}
	}
	closedir(list);
}

static void put(struct records *t, int dir, const struct cgroup_record *r)
{
	int status = record_write(dir, CGROUP_ROOT_RECORD, r, t->present);

	if (status)
		t->status = status;
}

/*
 * Make the record of DIR and all below hide LOCAL and ABOVE. A reader needs
 * the nearest record alone, so the order matters to those without one: they
 * must not see less because their parent was a step ahead, or behind.
 */
static void settle_record(struct records *t, int dir, const struct cgroup_record *old, bool had,
			  const struct hwcaps *local, const struct hwcaps *above)
{
	struct cgroup_record new = { t->present, *local, *above };
	bool changed, lower;

	hwcaps_or(&new.effective, local);
	changed = !had || !equal(&old->local, &new.local) ||
		  !equal(&old->effective, &new.effective);
	lower = had && covers(&old->effective, &new.effective);
	if (changed && !lower)
		put(t, dir, &new);
	if (changed && lower && !equal(&old->local, &new.local)) {
		/* What is intended, should we not get to the end. */
		struct cgroup_record intent = { t->present, *local, old->effective };

		put(t, dir, &intent);
	}
	settle_children(t, dir, &new.effective);
	if (changed && lower)
		put(t, dir, &new);
}

static void settle(struct records *t, int dir, const struct hwcaps *above)
{
	struct cgroup_record old;
	struct hwcaps wanted;
	int had = record_read(dir, CGROUP_ROOT_RECORD, &old);

	if (had < 0) {
		t->status = CTL_FAILED;
		t->wrong++;
		return;
	}
	wanted = old.local;
	hwcaps_or(&wanted, above);
	if (had && !equal(&old.effective, &wanted)) {
		t->wrong++;
		if (t->complain)
			complain(dir, &old, &wanted);
	}
	if (t->repair)
		settle_record(t, dir, &old, had, &old.local, above);
	else
		settle_children(t, dir, &wanted);
}

int records_above(const struct cgroup_place *place, struct hwcaps *above)
{
	struct cgroup_request request = { .secure = true };
	struct cgroup_mask mask = { 0 };
	struct cgroup_place parent;
	struct diag d;
	long r = cgroup_above(place, &parent);

	memset(above, 0, sizeof(*above));
	if (r < 0)
		return ctl_fail(CTL_FAILED, "unable to open what is above the cgroup: %s",
				strerror((int)-r));
	if (!r)
		return CTL_OK;
	parent.has_file = false;
	r = cgroup_read(&d, &request, &parent, &mask);
	close(parent.dir);
	if (r)
		return ctl_fail(CTL_FAILED, "%s", d.text);
	*above = mask.records;
	return CTL_OK;
}

/* ---- root's lock ---------------------------------------------------------- */

/* The lock file names the directory in which a writer was killed. */
static void finish_other(struct records *t, int lock)
{
	struct cgroup_place p = { .levels = -1, .version = CGROUP_V2 };
	struct records other = *t;
	struct hwcaps above;
	struct name n;
	ssize_t size = pread(lock, n.text, sizeof(n.text) - 1, 0);

	if (size <= 0)
		return;
	n.text[size] = '\0';
	p.dir = open(n.text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p.dir < 0)
		return;
	other.repair = true;
	other.complain = false;
	if (!records_above(&p, &above))
		settle(&other, p.dir, &above);
	close(p.dir);
}

static int open_lock(void)
{
	struct stat st;
	int fd;

	if (mkdir(LOCK_DIRECTORY, 0755) && errno != EEXIST)
		return -1;
	fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	/* One that others can open could be held by them. */
	if (!fstat(fd, &st) && (st.st_uid || !S_ISREG(st.st_mode) || st.st_mode & 077)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

int records_lock(struct records *records)
{
	int fd = open_lock();

	if (fd < 0 || flock(fd, LOCK_EX)) {
		ctl_fail(CTL_FAILED, "unable to lock " LOCK_FILE ": %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	finish_other(records, fd);
	if (ftruncate(fd, 0)) {
		ctl_fail(CTL_FAILED, "unable to write " LOCK_FILE ": %s", strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

void records_unlock(int lock)
{
	/* Failing, it makes the next writer look at what is done. */
	if (ftruncate(lock, 0))
		errno = 0;
	close(lock);
}

int records_set(struct records *records, int lock, const struct cgroup_place *place,
		const struct hwcaps *local, bool remove)
{
	struct cgroup_record old;
	struct hwcaps above, both;
	struct name buffer;
	int found, status = records_above(place, &above);

	if (status)
		return status;
	name_of(place->dir, &buffer);
	if (pwrite(lock, buffer.text, strlen(buffer.text), 0) < 0)
		return ctl_fail(CTL_FAILED, "unable to write " LOCK_FILE ": %s", strerror(errno));
	found = record_look(place->dir, CGROUP_ROOT_RECORD, &old, NULL);
	both = above;
	hwcaps_or(&both, local);
	records->repair = true;
	/* One that cannot be understood is as good as none: it is replaced. */
	if (found || hwcaps_any(local) || !remove)
		settle_record(records, place->dir, &old, found > 0, local, &above);
	if (remove && !hwcaps_any(&both))
		status = record_remove(place->dir, CGROUP_ROOT_RECORD);
	return status ? status : records->status;
}

int records_check(struct records *records, const struct cgroup_place *place)
{
	struct cgroup_record top;
	struct hwcaps above;
	struct stat st;
	int status = records_above(place, &above);

	if (status)
		return status;
	/* Where what is above is out of sight, its own record is all there is. */
	if (!place->levels && !fstat(place->dir, &st) && st.st_ino != 1 &&
	    record_read(place->dir, CGROUP_ROOT_RECORD, &top) > 0)
		above = top.effective;
	settle(records, place->dir, &above);
	return records->status;
}
