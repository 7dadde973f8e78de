#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "program.h"
#include "sys.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef AT_EACCESS
#define AT_EACCESS 0x200
#endif
#define ST_NOEXEC 8 /* include/linux/statfs.h; sys/statvfs.h has it, too */

enum { GROUPS_MAX = 1024 }; /* of 65536; nobody is in that many */

/*
 * Not a regular file: EACCES (do_open_execat()). O_NONBLOCK, since opening a
 * fifo must not wait for its writer.
 */
static int check_kind(struct program_file *f)
{
	struct statx st;
	long r = sys_statx(f->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st);

	if (r < 0)
		return (int)-r;
	f->size = st.stx_size;
	f->mode = st.stx_mode;
	f->uid = st.stx_uid;
	f->gid = st.stx_gid;
	return (f->mode & S_IFMT) == S_IFREG ? 0 : EACCES;
}

static int read_head(struct program_file *f)
{
	size_t size = f->head_room < PROGRAM_HEAD ? f->head_room : PROGRAM_HEAD;
	long r = sys_pread(f->fd, f->head, size, 0);

	if (r < 0)
		return (int)-r;
	f->head_size = (size_t)r;
	return 0;
}

bool program_may_override(void)
{
	uint32_t header[2] = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint32_t data[2][3] = { { 0 } };

	sys_capget(header, data);
	return data[0][0] & 1U << CAP_DAC_OVERRIDE;
}

/* Is the process of GROUP? 1 yes, 0 no, -1 not known. */
static int in_group(unsigned int group)
{
	unsigned int list[GROUPS_MAX];
	long count;

	if (sys_getegid() == (long)group)
		return 1;
	count = sys_getgroups(GROUPS_MAX, list);
	for (long i = 0; i < count; i++)
		if (list[i] == group)
			return 1;
	return count < 0 ? -1 : 0;
}

/*
 * A seccomp filter older than faccessat2(2) fails it with ERROR. What the
 * kernel would look at (fs/namei.c:generic_permission(), may_open()) tells as
 * much, but for an access list, which may say more or less than the mode.
 */
__attribute__((cold, noinline)) static int check_mode(const struct program_file *f, int error)
{
	struct statfs fs;
	unsigned int bits = f->mode;
	int group;

	if (sys_fstatfs(f->fd, &fs) ||
	    sys_fgetxattr(f->fd, "system.posix_acl_access", NULL, 0) >= 0)
		return error;
	if ((fs.f_flags & ST_NOEXEC) || !(bits & (S_IXUSR | S_IXGRP | S_IXOTH)))
		return EACCES;
	if (program_may_override())
		return 0;
	if (sys_geteuid() == (long)f->uid)
		return bits & S_IXUSR ? 0 : EACCES;
	group = in_group(f->gid);
	if (group < 0)
		return error;
	return bits & (group ? S_IXGRP : S_IXOTH) ? 0 : EACCES;
}

static int open_checked(struct program_file *f, const char *path)
{
	int error;
	long r = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);

	if (r == -ENXIO) /* what open(2) says of a socket */
		return EACCES;
	if (r < 0)
		return (int)-r;
	f->fd = (int)r;
	error = check_kind(f);
	if (error)
		return error;
	r = sys_faccessat2(f->fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH);
	error = (int)-r;
	if (r == -ENOSYS || r == -EPERM)
		error = check_mode(f, error);
	return error ? error : read_head(f);
}

int program_file_open(struct program_file *f, const char *path)
{
	int error;

	f->fd = -1;
	error = open_checked(f, path);
	if (error && f->fd >= 0) {
		sys_close(f->fd);
		f->fd = -1;
	}
	return error;
}

/* Text for a failed open; knows the one case in which execve would differ. */
__attribute__((cold)) static int open_failed(struct diag *d, const struct program *p,
					     const char *path, int error)
{
	char number[16];
	int status = error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;

	if (error == EMFILE || error == ENFILE || error == ENOMEM)
		status = EXIT_FAILED;
	if (path != p->path)
		return diag(d, EXIT_CANNOT_RUN, error, "%.256s: interpreter %.256s: %s", p->path,
			    path, errno_text(error, number));
	if (error == EACCES && !sys_faccessat2(AT_FDCWD, path, X_OK, AT_EACCESS) &&
	    sys_faccessat2(AT_FDCWD, path, R_OK, AT_EACCESS) == -EACCES)
		return diag(d, EXIT_CANNOT_RUN, error,
			    "%.256s: may be executed but not read, so its vector "
			    "cannot be masked; run as a user who may read it",
			    path);
	return diag(d, status, error, "%.256s: %s", path, errno_text(error, number));
}

/* Put INTERPRETER, ARGUMENT and the script's PATH where argv[0] was. */
static void push_level(struct program *p, const struct script *s)
{
	unsigned int more = s->argument ? 2 : 1;

	memmove(p->prefix + more + 1, p->prefix + 1, (p->prefixes - 1) * sizeof(p->prefix[0]));
	p->prefix[more] = p->loaded;
	if (s->argument)
		p->prefix[1] = s->argument;
	p->prefix[0] = s->interpreter;
	p->prefixes += more;
	p->loaded = s->interpreter;
}

/* The file's head becomes S's strings. */
static int read_line(struct diag *d, const struct program *p, struct script *s)
{
	char *line = (char *)p->file.head;
	size_t size = p->file.head_size;
	int error;

	if (size < SCRIPT_LINE)
		memset(line + size, 0, SCRIPT_LINE - size);
	error = script_parse(line, s);
	if (error)
		return diag(d, EXIT_CANNOT_RUN, error,
			    "%s: #! line of %s names no interpreter, or is "
			    "longer than %d bytes",
			    p->path, p->loaded, SCRIPT_LINE);
	if (!*s->interpreter)
		return diag(d, EXIT_CANNOT_RUN, EACCES, "%s: #! line of %s names no interpreter",
			    p->path, p->loaded);
	return 0;
}

/* load_script() opens what the line names; exec_binprm() counts after that. */
__attribute__((cold, noinline)) static int too_deep(struct diag *d, struct program *p)
{
	unsigned char head[SCRIPT_LINE];
	struct script s;
	int error;

	if (read_line(d, p, &s))
		return -1;
	sys_close(p->file.fd);
	p->file.head = head;
	p->file.head_room = sizeof(head);
	error = program_file_open(&p->file, s.interpreter);
	if (error)
		return open_failed(d, p, s.interpreter, error);
	return diag(d, EXIT_CANNOT_RUN, ELOOP, "%s: more than %d levels of #! interpreters",
		    p->path, SCRIPT_LEVELS);
}

static int next_level(struct diag *d, struct program *p, unsigned int level)
{
	struct script s;

	if (level == SCRIPT_LEVELS)
		return too_deep(d, p);
	if (read_line(d, p, &s))
		return -1;
	push_level(p, &s);
	return 0;
}

/* To be looked for elsewhere. */
static int not_here(struct diag *d)
{
	d->status = EXIT_NOT_FOUND;
	d->error = ENOENT;
	return -1;
}

static int follow_scripts(struct diag *d, struct program *p, unsigned int flags)
{
	static const char shell[] = "/bin/sh";
	int error;

	for (unsigned int level = 0;; level++) {
		const size_t lines = (size_t)level * SCRIPT_LINE;

		p->file.head = p->heads + lines;
		p->file.head_room = sizeof(p->heads) - lines;
		error = program_file_open(&p->file, p->loaded);
		if (error == ENOENT && level == 0 && (flags & PROGRAM_QUIET))
			return not_here(d);
		if (error)
			return open_failed(d, p, p->loaded, error);
		if (is_script(p->file.head, p->file.head_size)) {
			error = next_level(d, p, level);
		} else if (level == 0 && (flags & PROGRAM_SHELL) &&
			   is_text(p->file.head, p->file.head_size)) {
			const struct script s = { (char *)shell, NULL };

			push_level(p, &s);
			p->path = shell;
		} else {
			return 0;
		}
		sys_close(p->file.fd);
		p->file.fd = -1;
		if (error)
			return -1;
	}
}

static void begin(struct program *p, int fd, const char *path, const char *argv0)
{
	p->path = path;
	p->loaded = path;
	p->name = NULL;
	p->prefixes = 1;
	p->prefix[0] = argv0;
	p->file.fd = fd;
	p->file.head = p->heads;
	p->file.head_room = sizeof(p->heads);
}

int program_open(struct diag *d, struct program *p, const char *path, const char *argv0,
		 unsigned int flags)
{
	begin(p, -1, path, argv0);
	return follow_scripts(d, p, flags);
}

int program_take(struct diag *d, struct program *p, int fd, const char *path, const char *argv0)
{
	char number[16];
	int error;

	begin(p, fd, path, argv0);
	error = check_kind(&p->file);
	if (!error)
		error = read_head(&p->file);
	if (!error)
		return 0;
	sys_close(fd);
	return diag(d, EXIT_CANNOT_RUN, error, "%.256s: %s", path, errno_text(error, number));
}

/* execvp(3): these mean that another directory may have it. */
static int try_next(int error)
{
	return error == EACCES || error == ENOENT || error == ENOTDIR || error == ESTALE ||
	       error == ENODEV || error == ETIMEDOUT;
}

static bool is_interpreter_missing(const struct diag *d)
{
	return d->error == ENOENT && d->status == EXIT_CANNOT_RUN;
}

/* Join [dir, dir_end) and NAME. False if that is longer than PATH_MAX. */
static bool join(char *buffer, const char *dir, const char *dir_end, const char *name)
{
	size_t length = (size_t)(dir_end - dir), name_size = strlen(name) + 1;

	if (length + 1 + name_size > PATH_MAX)
		return false;
	memcpy(buffer, dir, length);
	if (length)
		buffer[length++] = '/';
	memcpy(buffer + length, name, name_size);
	return true;
}

/* The longest path there can be to look at: no element is longer than all. */
size_t program_find_size(const char *name, const char *search)
{
	size_t size;

	if (!*name || strchr(name, '/'))
		return 1;
	size = strlen(search) + 1 + strlen(name) + 1;
	return size < PATH_MAX ? size : PATH_MAX;
}

int program_find(struct diag *d, struct program *p, const char *name, const char *argv0,
		 const char *search, unsigned int flags, char *buffer)
{
	const char *found = NULL, *found_end = NULL, *end;

	if (!*name || strchr(name, '/'))
		return program_open(d, p, name, argv0, flags);
	if (strlen(name) > NAME_MAX)
		return diag(d, EXIT_CANNOT_RUN, ENAMETOOLONG, "%s: file name too long", name);
	for (const char *dir = search; dir; dir = *end ? end + 1 : NULL) {
		end = strchr(dir, ':');
		if (!end)
			end = dir + strlen(dir);
		if (!join(buffer, dir, end, name))
			continue;
		if (!program_open(d, p, buffer, argv0, flags | PROGRAM_QUIET))
			return 0;
		if (!try_next(d->error))
			return -1;
		if (!found && (d->error == EACCES || is_interpreter_missing(d))) {
			found = dir;
			found_end = end;
		}
	}
	/* Once more, for what there is to say of it. */
	if (found && join(buffer, found, found_end, name))
		return program_open(d, p, buffer, argv0, flags);
	return diag(d, EXIT_NOT_FOUND, ENOENT, "%s: not found in PATH", name);
}

/*
 * A read lease is refused for a file that is open for writing
 * (fs/locks.c:check_conflicting_open()); who may not take a lease cannot tell.
 */
bool program_is_busy(int fd)
{
	if (sys_fcntl(fd, F_SETLEASE, F_RDLCK) == -EAGAIN)
		return true;
	sys_fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}
