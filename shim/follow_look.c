#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <poll.h>
#include <string.h>

#include "elf_plan.h"
#include "follow_parts.h"
#include "script.h"
#include "sys.h"

#include "follow_filter.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

enum { PATH_SIZE = 1024, HEAD_SIZE = SCRIPT_LINE };

bool follow_read_status(const struct supervisor *s, int tid, char to[STATUS_SIZE])
{
	char path[24];
	struct text t;
	long fd, r;

	text_init(&t, path, sizeof(path));
	text_add(&t, "%d/status", tid);
	fd = sys_openat(s->context.proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	r = sys_read((int)fd, to, STATUS_SIZE - 1);
	sys_close((int)fd);
	to[r > 0 ? r : 0] = '\0';
	return r > 0;
}

const char *follow_status_line(const char *status, const char *name)
{
	const size_t length = strlen(name);

	while (status && strncmp(status, name, length)) {
		status = strchr(status, '\n');
		status = status ? status + 1 : NULL;
	}
	return status ? status + length : NULL;
}

uint64_t follow_number(const char **at)
{
	uint64_t value = 0;

	while (**at == ' ' || **at == '\t')
		++*at;
	for (; **at >= '0' && **at <= '9'; ++*at)
		value = value * 10 + (uint64_t)(**at - '0');
	return value;
}

bool follow_is_exec(const struct seccomp_data *data, bool *at)
{
	for (unsigned int i = 0; i < sizeof(filter_exec_call) / sizeof(filter_exec_call[0]); i++) {
		if (filter_exec_call[i].arch != data->arch ||
		    (int)filter_exec_call[i].number != data->nr)
			continue;
		*at = filter_exec_call[i].at;
		return true;
	}
	return false;
}

void follow_complain(const struct slot *slot, const char *text)
{
	char line[700]; /* more than a diag's text */
	struct text t;
	long process = sys_pidfd_open(slot->tgid ? slot->tgid : slot->tid, 0), fd;
	struct sys_pollfd poll = { .events = POLLOUT };

	if (process < 0)
		return;
	fd = sys_pidfd_getfd((int)process, 2);
	sys_close((int)process);
	if (fd < 0)
		return;
	text_init(&t, line, sizeof(line));
	text_add(&t, "hwcap-exec: process %d: %s\n", slot->tid, text);
	poll.fd = (int)fd;
	if (sys_poll_now(&poll) == 1 && (poll.revents & POLLOUT))
		sys_write((int)fd, line, t.length);
	sys_close((int)fd);
}

/* ---- masks of nested hwcap-execs ------------------------------------------- */

static void add(struct trace_edit *to, const struct trace_edit *from)
{
	hwcaps_or(&to->hide, &from->hide);
	to->by_name |= from->by_name;
	to->no_vdso |= from->no_vdso;
	to->cgroup |= from->cgroup;
}

/* The limit, from /proc where the process has other ids than we. */
static uint64_t read_limit(const struct supervisor *s, int tid)
{
	char path[24], text[2048];
	uint64_t limit[2] = { 0, 0 };
	struct text t;
	const char *line;
	long fd, r;

	if (!sys_prlimit(tid, FOLLOW_MARK_LIMIT, NULL, limit))
		return limit[1];
	text_init(&t, path, sizeof(path));
	text_add(&t, "%d/limits", tid);
	fd = sys_openat(s->context.proc, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	r = sys_read((int)fd, text, sizeof(text) - 1);
	sys_close((int)fd);
	text[r > 0 ? r : 0] = '\0';
	line = follow_status_line(text, "Max file locks");
	return line ? follow_number(&line) : 0;
}

/* Which mark TID carries, as an index; -1 if none. */
static int read_mark(const struct supervisor *s, int tid)
{
	uint64_t below = s->marks ? (uint64_t)FOLLOW_MARK - read_limit(s, tid) : 0;

	return below - 1 < s->marks ? (int)below - 1 : -1;
}

void follow_add_mark(const struct supervisor *s, struct slot *slot)
{
	int mark = read_mark(s, slot->tid);

	if (mark >= 0)
		add(&slot->edit, &s->mark[mark]);
}

static bool is_ours(const struct seccomp_data *data)
{
	return data->arch == FILTER_AUDIT_ARCH && data->nr == SYS_execve;
}

bool follow_add_note(struct slot *slot)
{
	const struct seccomp_data *data = &slot->notif.data;
	struct trace_edit edit = { .by_name = false };
	struct follow_note note = { 0 };

	if (!is_ours(data) || data->args[3] != FOLLOW_NOTE)
		return true;
	if (edit_read(slot->tid, data->args[4], &note, sizeof(note)) != (long)sizeof(note) ||
	    note.magic != FOLLOW_NOTE)
		return false;
	edit.hide = note.hide;
	edit.by_name = note.flags & FOLLOW_BY_NAME;
	edit.no_vdso = note.flags & FOLLOW_NO_VDSO;
	add(&slot->edit, &edit);
	return true;
}

bool follow_is_question(const struct seccomp_data *data)
{
	return is_ours(data) && !data->args[0] &&
	       (data->args[3] == FOLLOW_QUERY ||
		(data->args[3] & ~(uint64_t)FOLLOW_FLAGS) == FOLLOW_JOIN);
}

static bool same_edit(const struct trace_edit *a, const struct trace_edit *b)
{
	return !memcmp(&a->hide, &b->hide, sizeof(a->hide)) && a->by_name == b->by_name &&
	       a->no_vdso == b->no_vdso && a->cgroup == b->cgroup;
}

/*
 * Marks only go down: so they can be set without any privilege, and not be
 * taken back without CAP_SYS_RESOURCE.
 */
long follow_reply(struct supervisor *s, const struct seccomp_notif *n)
{
	const __u64 *args = n->data.args;
	struct trace_edit edit = {
		.hide = { { args[1], args[2], args[4], args[5] } },
		.by_name = args[3] & FOLLOW_BY_NAME,
		.no_vdso = args[3] & FOLLOW_NO_VDSO,
		.cgroup = args[3] & FOLLOW_CGROUP_FLAGS,
	};
	int mark;

	if (args[3] == FOLLOW_QUERY)
		return 1;
	mark = read_mark(s, (int)n->pid);
	if (mark >= 0)
		add(&edit, &s->mark[mark]);
	for (unsigned int i = (unsigned int)(mark + 1); i < s->marks; i++)
		if (same_edit(&s->mark[i], &edit))
			return FOLLOW_MARK - 1 - (long)i;
	if (s->marks == MARKS)
		return -ENOSPC;
	s->mark[s->marks++] = edit;
	return FOLLOW_MARK - (long)s->marks;
}

/* ---- what is about to be executed ------------------------------------------ */

/* Where the path of the call starts from, in /proc; false: unknown. */
static bool write_base(struct text *t, const struct slot *slot, bool at, const char *path)
{
	const int dir = (int)slot->notif.data.args[0];

	if (*path == '/')
		text_add(t, "%d/root", slot->tid);
	else if (at && !*path && (slot->notif.data.args[4] & AT_EMPTY_PATH))
		text_add(t, "%d/fd/%d", slot->tid, dir);
	else if (at && dir != AT_FDCWD)
		text_add(t, "%d/fd/%d/", slot->tid, dir);
	else
		text_add(t, "%d/cwd/", slot->tid);
	text_add_raw(t, path);
	return t->length + 1 < t->size;
}

/* Read what PATH starts with. 0, or what opening it ended with. */
static long read_head(const struct supervisor *s, const char *path, char head[HEAD_SIZE])
{
	struct statx st;
	long fd, r = sys_statx(s->context.proc, path, 0, STATX_TYPE, &st);

	if (r)
		return r;
	/* Opening anything else might do something. */
	if ((st.stx_mode & S_IFMT) != S_IFREG)
		return -EINVAL;
	fd = sys_openat(s->context.proc, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	memset(head, 0, HEAD_SIZE);
	r = sys_pread((int)fd, head, HEAD_SIZE, 0);
	sys_close((int)fd);
	return r < 0 ? r : 0;
}

static const char *check_head(const struct supervisor *s, const struct slot *slot, const char *path,
			      char head[HEAD_SIZE])
{
	const unsigned char *ident = (const unsigned char *)head;
	long r = read_head(s, path, head);

	if (r == -EACCES && !sys_faccessat2(s->context.proc, path, 1 /* X_OK */, 0))
		return edit_text(EDIT_UNREADABLE);
	if (r)
		return NULL; /* it fails, or what comes of it is seen */
	if (slot->edit.by_name && elf_has_magic(ident) && ident[EI_CLASS] == ELFCLASS32)
		return edit_text(EDIT_NARROW);
	return NULL;
}

/* The path that the call names, as it is in its memory. */
static bool read_path(const struct slot *slot, bool *at, char name[PATH_SIZE])
{
	long r;

	*at = false;
	follow_is_exec(&slot->notif.data, at);
	r = edit_read(slot->tid, slot->notif.data.args[*at], name, PATH_SIZE);
	return r > 0 && memchr(name, '\0', (size_t)r);
}

int follow_is_missing(const struct supervisor *s, const struct slot *slot)
{
	char path[PATH_SIZE + 32], name[PATH_SIZE];
	struct statx st;
	struct text t;
	bool at;
	long r;

	text_init(&t, path, sizeof(path));
	if (!read_path(slot, &at, name) || !write_base(&t, slot, at, name))
		return 0;
	r = sys_statx(s->context.proc, path, 0, STATX_TYPE, &st);
	return r == -ENOENT || r == -ENOTDIR ? (int)-r : 0;
}

/*
 * To refuse the call before its point of no return. That what is executed is
 * what was looked at nobody guarantees: the edit checks again, and kills.
 */
const char *follow_check(const struct supervisor *s, const struct slot *slot)
{
	char path[PATH_SIZE + 32], name[PATH_SIZE], head[HEAD_SIZE];
	struct script script = { .interpreter = name };
	const char *why;
	bool at;

	if ((!slot->edit.by_name && s->may_trace_all) || !read_path(slot, &at, name))
		return NULL;
	for (unsigned int level = 0; level <= SCRIPT_LEVELS; level++) {
		struct text t;

		text_init(&t, path, sizeof(path));
		if (!write_base(&t, slot, at && !level, script.interpreter))
			return NULL;
		why = check_head(s, slot, path, head);
		if (why || !is_script(head, HEAD_SIZE) || script_parse(head, &script))
			return why;
		if (strlen(script.interpreter) >= sizeof(name))
			return NULL;
		script.interpreter = strcpy(name, script.interpreter);
	}
	return NULL;
}
