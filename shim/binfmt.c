#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>

#include "binfmt.h"
#include "cgroup.h"
#include "engine.h"
#include "load.h"
#include "spec.h"
#include "stamp.h"
#include "sys.h"

enum { NAME_SIZE = 16, LINK_SIZE = 256 };

/* The cgroup's mask; or what the registration wants where there is none. */
static int add_cgroup(struct diag *d, const struct start *s, const char *path, struct hwcaps *hide)
{
	const struct cgroup_request request = {
		.insist = (stamp_own.flags & STAMP_CGROUP) != 0,
		.secure = s->secure != 0,
	};
	struct cgroup_mask cgroup = { 0 };

	if (stamp_own.flags & STAMP_NO_CGROUP)
		return 0;
	if (cgroup_mask(d, &request, &cgroup)) {
		if (stamp_own.flags & STAMP_RUN_UNMASKED)
			return 0;
		return diag(d, EXIT_FAILED, d->error, "%.256s: %.300s", path, d->text);
	}
	spec_mask(&cgroup.records, NULL, false, &cgroup.records);
	hwcaps_or(hide, &cgroup.records);
	hwcaps_or(hide, &cgroup.kernel);
	return 0;
}

/* The name of open file FD, without what the kernel adds to a deleted one's. */
static const char *file_name(int fd, char *buffer)
{
	static const char deleted[] = " (deleted)";
	const size_t more = sizeof(deleted) - 1;
	char path[32];
	struct text t;
	char *slash;
	long r;

	text_init(&t, path, sizeof(path));
	text_add(&t, "/proc/self/fd/%d", fd);
	r = sys_readlinkat(AT_FDCWD, path, buffer, LINK_SIZE - 1);
	if (r <= 0)
		return NULL;
	if ((size_t)r > more && !memcmp(buffer + r - more, deleted, more))
		r -= (long)more;
	buffer[r] = '\0';
	slash = strrchr(buffer, '/');
	return slash ? slash + 1 : buffer;
}

/*
 * The kernel names the process as the program, but for one that was executed
 * by its descriptor: since Linux 6.14 the name is that of the file, and under
 * a rule the interpreter's (fs/exec.c:begin_new_exec()).
 */
static const char *process_name(const struct program *p, char *name, char *buffer)
{
	const char *number;

	if (strncmp(p->path, "/dev/fd/", strlen("/dev/fd/")))
		return NULL;
	number = strrchr(p->path, '/') + 1;
	sys_prctl(PR_GET_NAME, (unsigned long)name, 0, 0, 0);
	if (!strncmp(name, number, NAME_SIZE - 1))
		return NULL;
	number = file_name(p->file.fd, buffer);
	return number ? number : name;
}

static int check_credentials(struct diag *d, const struct start *s, const struct program *p)
{
	/* With flag C the kernel has already given us what the file says. */
	if ((stamp_own.flags & STAMP_CREDENTIALS) || s->secure ||
	    !program_changes_credentials(s, &p->file))
		return 0;
	return diag(d, EXIT_CANNOT_RUN, EPERM,
		    "%.256s: set-id bits or file capabilities would be lost: "
		    "this binfmt_misc rule was registered without credentials",
		    p->path);
}

static int open_program(struct diag *d, int fd, struct program *p, const struct binfmt_args *a)
{
	if (fd >= 0)
		return program_take(d, p, fd, a->path, a->argv0);
	return program_open(d, p, a->path, a->argv0, 0);
}

int binfmt_run(struct diag *d, const struct start *s, struct program *p)
{
	struct load_request request = { .start = s, .program = p, .hide = stamp_own.hide };
	char name[NAME_SIZE] = "", buffer[LINK_SIZE];
	struct binfmt_args args;

	if (!binfmt_read_args(s, &args))
		return diag(d, EXIT_FAILED, EINVAL,
			    "started by binfmt_misc, but without a program");
	if (open_program(d, s->exec_fd, p, &args))
		return -1;
	/* A script is what was executed, and its interpreter what is loaded. */
	if (s->execfn)
		p->path = s->execfn;
	request.skip = args.skip;
	p->name = process_name(p, name, buffer);
	if (add_cgroup(d, s, p->path, &request.hide) || check_credentials(d, s, p))
		return -1;
	if (load_run(d, &request) == LOAD_OTHER_ABI)
		engine_run_abi(d, &request, (char **)s->argv + request.skip - 1);
	return -1;
}
