#include <string.h>

#include "cgroup_dir.h"

int cgroup_fail(struct diag *d, long error, const char *what, const char *name)
{
	char number[16];

	return diag(d, EXIT_FAILED, (int)-error, "unable to %s %.200s: %s", what, name,
		    errno_text((int)-error, number));
}

/* ---- its number ------------------------------------------------------------ */

/* include/uapi/linux/pidfd.h: struct pidfd_info, as first published. */
struct pidfd_info {
	uint64_t mask, cgroup;
	uint32_t rest[12];
};

enum { PIDFD_INFO_CGROUPID = 4, PIDFD_THREAD = O_EXCL };

static int to_pid(const char *s)
{
	int n = 0;

	while (*s >= '0' && *s <= '9' && n < 1 << 26)
		n = n * 10 + (*s++ - '0');
	return n;
}

static uint64_t read_number(const char *pid)
{
	/* _IOWR(PIDFS_IOCTL_MAGIC 0xff, 11, struct pidfd_info) */
	unsigned long request = 3UL << 30 | sizeof(struct pidfd_info) << 16 | 0xff << 8 | 11;
	struct pidfd_info info = { .mask = PIDFD_INFO_CGROUPID };
	int fd = (int)sys_pidfd_open(pid ? to_pid(pid) : sys_getpid(), pid ? PIDFD_THREAD : 0);
	long r;

	if (fd < 0)
		return 0;
	r = sys_ioctl(fd, request, &info);
	sys_close(fd);
	return r || !(info.mask & PIDFD_INFO_CGROUPID) ? 0 : info.cgroup;
}

uint64_t cgroup_own_number(struct cgroup_own *own)
{
	if (!own->has_number)
		own->number = read_number(own->pid);
	own->has_number = true;
	return own->number;
}

/* ---- its paths ------------------------------------------------------------- */

RARE struct cgroup_space *cgroup_own_space(struct diag *d, struct cgroup_own *own)
{
	long at;

	if (own->space)
		return own->space;
	at = sys_mmap(0, sizeof(*own->space), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (sys_failed(at)) {
		cgroup_fail(d, at, "get memory for", "/proc/self/cgroup");
		return NULL;
	}
	own->space = (struct cgroup_space *)at;
	return own->space;
}

void cgroup_own_end(struct cgroup_own *own)
{
	if (own->space)
		sys_munmap((uintptr_t)own->space, sizeof(*own->space));
}

/* cgroup_roots is in reverse order of mounting: version 2 is last. */
static bool is_whole(const char *text, size_t size)
{
	size_t start = size ? size - 1 : 0;

	if (!size || text[start] != '\n')
		return false;
	while (start && text[start - 1] != '\n')
		start--;
	return size - start > 3 && !memcmp(text + start, "0::", 3);
}

/* On from the USED bytes that TEXT has; how many there are then, or -errno. */
static long read_on(int fd, char *text, size_t used, size_t size)
{
	while (used < size && !is_whole(text, used)) {
		long n = sys_read(fd, text + used, size - used);

		if (n < 0)
			return n;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (long)used;
}

static int take_paths(struct diag *d, struct cgroup_own *own, char *text, size_t size,
		      const char *name)
{
	for (char *line = text, *end; line < text + size; line = end + 1) {
		enum cgroup_version version;
		struct cgroup_fault fault;
		const char *path;

		end = memchr(line, '\n', (size_t)(text + size - line));
		if (!end)
			end = text + size;
		*end = '\0';
		if (cgroup_parse_own(line, (size_t)(end - line), &version, &path, &fault))
			return diag(d, EXIT_FAILED, EINVAL, "%s: unable to understand '%.100s'",
				    name, line);
		if (version && end - path >= CGROUP_PATH_MAX)
			return cgroup_fail(d, -ENAMETOOLONG, "use", name);
		if (version)
			own->paths[version == CGROUP_V2] = path;
	}
	return 0;
}

/* What does not fit into TEXT. */
RARE static int read_long(struct diag *d, struct cgroup_own *own, int fd, const char *name)
{
	struct cgroup_space *space = cgroup_own_space(d, own);
	long n;

	if (!space)
		return -1;
	memcpy(space->text, own->text, CGROUP_OWN_TEXT);
	n = read_on(fd, space->text, CGROUP_OWN_TEXT, sizeof(space->text) - 1);
	if (n == sizeof(space->text) - 1)
		n = -ENAMETOOLONG;
	if (n < 0)
		return cgroup_fail(d, n, "read", name);
	return take_paths(d, own, space->text, (size_t)n, name);
}

static int read_paths(struct diag *d, struct cgroup_own *own, int fd, const char *name)
{
	long n = read_on(fd, own->text, 0, CGROUP_OWN_TEXT);

	if (n < 0)
		return cgroup_fail(d, n, "read", name);
	if (n == CGROUP_OWN_TEXT)
		return read_long(d, own, fd, name);
	return take_paths(d, own, own->text, (size_t)n, name);
}

RARE static const char *name_of_file(const char *pid, char buffer[40])
{
	struct text t;

	text_init(&t, buffer, 40);
	text_add(&t, "/proc/%.20s/cgroup", pid);
	return buffer;
}

int cgroup_own_paths(struct diag *d, struct cgroup_own *own)
{
	char buffer[40];
	const char *process = own->proc ? own->proc : own->pid;
	const char *name = process ? name_of_file(process, buffer) : "/proc/self/cgroup";
	int fd, r;

	if (own->has_paths)
		return 0;
	own->has_paths = true;
	fd = (int)sys_openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
	if (fd == -ENOENT && (!process || !*process))
		return 0;
	if (fd < 0)
		return cgroup_fail(d, fd, "open", name);
	r = read_paths(d, own, fd, name);
	sys_close(fd);
	return r;
}
