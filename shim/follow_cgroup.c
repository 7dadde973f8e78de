#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cgroup_dir.h"
#include "follow_parts.h"
#include "spec.h"
#include "sys.h"

/*
 * A mask acts at execve, and on the process that calls it: what its cgroup
 * hides is read at each, from outside of the tree and its namespaces.
 */

enum { THREAD = O_EXCL }; /* include/uapi/linux/pidfd.h: PIDFD_THREAD */

int follow_keep_root(struct supervisor *s)
{
	const char *dir = s->follow->cgroup_root;
	struct text t;
	long r = 1;

	s->cgroup_root = dir ? s->root : NULL;
	s->root[0] = '\0';
	if (dir && *dir != '/')
		r = sys_getcwd(s->root, sizeof(s->root));
	if (r <= 0)
		return (int)-r;
	text_init(&t, s->root + r - 1, sizeof(s->root) - (size_t)r + 1);
	text_add(&t, "/%s", dir ? dir : "");
	return t.length + 1 < t.size ? 0 : ENAMETOOLONG;
}

/*
 * What /proc calls TID, if it is another pid namespace's: "" if there is no
 * /proc, NULL if it has no name there.
 */
static const char *name_in_proc(int tid, char buffer[STATUS_SIZE])
{
	char path[40];
	const char *line;
	struct text t;
	long fd, info, r;

	if (sys_faccessat2(AT_FDCWD, "/proc/self", 0, 0) == -ENOENT)
		return "";
	fd = sys_pidfd_open(tid, THREAD);
	if (fd < 0) /* before Linux 6.9 */
		fd = sys_pidfd_open(tid, 0);
	if (fd < 0)
		return NULL;
	text_init(&t, path, sizeof(path));
	text_add(&t, "/proc/self/fdinfo/%d", (int)fd);
	info = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	r = info < 0 ? info : sys_read((int)info, buffer, STATUS_SIZE - 1);
	if (info >= 0)
		sys_close((int)info);
	sys_close((int)fd);
	buffer[r > 0 ? r : 0] = '\0';
	line = follow_status_line(buffer, "Pid:");
	r = line ? (long)follow_number(&line) : 0;
	text_init(&t, buffer, STATUS_SIZE);
	text_add(&t, "%d", (int)r);
	return r ? buffer : NULL;
}

static int read_cgroup(struct diag *d, const struct supervisor *s, struct slot *slot)
{
	char pid[16], other[STATUS_SIZE];
	struct cgroup_request q = { .insist = slot->edit.cgroup & FOLLOW_INSIST,
				    .root = s->cgroup_root,
				    .pid = pid };
	struct cgroup_mask all = { 0 }, secure = { 0 };
	const bool exact = !(slot->edit.cgroup & FOLLOW_CLOSE);
	struct text t;

	text_init(&t, pid, sizeof(pid));
	text_add(&t, "%d", slot->tid);
	if (s->context.proc < 0) {
		q.proc = name_in_proc(slot->tid, other);
		if (!q.proc)
			return diag(d, EXIT_FAILED, ENOENT,
				    "unable to find its cgroup: it is not in /proc");
	}
	if (cgroup_mask(d, &q, &all))
		return -1;
	q.secure = true;
	if (all.has_user && cgroup_mask(d, &q, &secure))
		return -1;
	spec_mask(&all.records, NULL, exact, &all.records);
	spec_mask(&secure.records, NULL, exact, &secure.records);
	hwcaps_or(&slot->edit.hide, &all.kernel);
	hwcaps_or(&slot->edit.hide, all.has_user ? &secure.records : &all.records);
	hwcaps_or(&slot->edit.hide_insecure, &all.records);
	return 0;
}

int follow_add_cgroup(struct diag *d, const struct supervisor *s, struct slot *slot)
{
	if (!(slot->edit.cgroup & FOLLOW_CGROUP) || !read_cgroup(d, s, slot))
		return 0;
	/* What else there is to hide can be hidden. */
	if (s->follow->mode == FOLLOW_TRY)
		return 0;
	return slot->edit.cgroup & FOLLOW_INSIST ?
		       -1 :
		       diag(d, EXIT_FAILED, d->error,
			    "%.560s; --no-cgroup runs without the cgroup's mask", d->text);
}
