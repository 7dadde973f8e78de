#include "ctl_binfmt.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ctl.h"

enum {
	BINFMTFS = 0x42494e4d, /* include/uapi/linux/magic.h: BINFMTFS_MAGIC */
	MARKER_BIT = 0x80,
};

/* ---- the text of a rule ---------------------------------------------------- */

/*
 * Class, byte order, machine and type: ET_EXEC or ET_DYN, 2 or 3. What the
 * kernel's own loader does not look at (fs/binfmt_elf.c), version and OSABI
 * say, is left out; of EI_ABIVERSION all but the marker of our programs, which
 * must not be set.
 */
static void make_pattern(const unsigned char *head, unsigned char *magic, unsigned char *mask)
{
	const int type = head[EI_DATA] == ELFDATA2MSB ? 17 : 16;

	memset(magic, 0, BINFMT_HEAD);
	memset(mask, 0, BINFMT_HEAD);
	memset(mask, 0xff, EI_DATA + 1);
	memcpy(magic, head, EI_DATA + 1);
	mask[EI_ABIVERSION] = MARKER_BIT;
	memset(mask + 16, 0xff, 4);
	memcpy(magic + 18, head + 18, 2);
	magic[type] = ET_EXEC;
	mask[type] = (unsigned char)~(ET_EXEC ^ ET_DYN);
}

static void add_bytes(char *to, const unsigned char *bytes)
{
	for (int i = 0; i < BINFMT_HEAD; i++)
		to += sprintf(to, "\\x%02x", bytes[i]);
}

struct pattern_text {
	char magic[4 * BINFMT_HEAD + 1], mask[4 * BINFMT_HEAD + 1];
};

static void print_pattern(const struct binfmt_rule *rule, struct pattern_text *text)
{
	unsigned char magic[BINFMT_HEAD], mask[BINFMT_HEAD];

	make_pattern(rule->head, magic, mask);
	add_bytes(text->magic, magic);
	add_bytes(text->mask, mask);
}

int binfmt_rule_line(const struct binfmt_rule *rule, char *line, size_t size)
{
	struct pattern_text text;

	print_pattern(rule, &text);
	return snprintf(line, size, ":%s:M::%s:%s:%s:PO%sF", rule->name, text.magic, text.mask,
			rule->interpreter, rule->credentials ? "C" : "") < (int)size ?
		       0 :
		       -1;
}

void binfmt_rule_update_binfmts(const struct binfmt_rule *rule)
{
	struct pattern_text text;

	print_pattern(rule, &text);
	printf("package %s\ninterpreter %s\nmagic %s\nmask %s\noffset 0\n"
	       "credentials %s\npreserve yes\nfix_binary yes\n",
	       rule->name, rule->interpreter, text.magic, text.mask,
	       rule->credentials ? "yes" : "no");
}

/* ---- an instance ------------------------------------------------------------ */

/* A short text of a file in the instance; length or -1. */
static ssize_t read_file(const struct binfmt_instance *b, const char *name, char *text, size_t size)
{
	int fd = openat(b->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t r;

	if (fd < 0)
		return -1;
	r = read(fd, text, size - 1);
	text[r > 0 ? r : 0] = '\0';
	close(fd);
	return r;
}

/* 0 or an errno. */
static int write_file(const struct binfmt_instance *b, const char *name, const char *text)
{
	int fd = openat(b->dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), error = 0;
	ssize_t r;

	if (fd < 0)
		return errno;
	r = write(fd, text, strlen(text));
	if (r != (ssize_t)strlen(text))
		error = r < 0 ? errno : EIO;
	close(fd);
	return error;
}

int binfmt_instance_open(const char *path, struct binfmt_instance *b)
{
	char text[16];
	struct statfs fs;
	int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	*b = (struct binfmt_instance){ .path = path, .dir = dir };
	if (dir < 0)
		return ctl_fail(CTL_FAILED, "unable to open %.512s: %s", path, strerror(errno));
	/* Walking in has an automount mounted, opening with O_PATH has not. */
	if (faccessat(dir, "register", F_OK, 0) == 0) {
		close(dir);
		b->dir = dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (dir >= 0 && !fstatfs(dir, &fs) && (uint32_t)fs.f_type == BINFMTFS &&
	    read_file(b, "status", text, sizeof(text)) > 0) {
		b->enabled = !strncmp(text, "enabled", strlen("enabled"));
		return CTL_OK;
	}
	binfmt_instance_close(b);
	return ctl_fail(CTL_FAILED,
			"%.512s is no binfmt_misc file system; mount one: "
			"mount -t binfmt_misc binfmt_misc %.512s",
			path, path);
}

void binfmt_instance_close(struct binfmt_instance *b)
{
	if (b->dir >= 0)
		close(b->dir);
	b->dir = -1;
}

/* The initial user namespace maps everything to itself. */
static bool is_initial_namespace(void)
{
	static const char all[] = "0 0 4294967295";
	char map[128], *to = map;
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	ssize_t r = fd < 0 ? -1 : read(fd, map, sizeof(map) - 1);

	if (fd >= 0)
		close(fd);
	if (r <= 0)
		return false;
	/* Columns are padded with blanks. */
	map[r] = '\0';
	for (const char *from = map; *from; from++)
		if (*from != ' ' || (to > map && to[-1] != ' '))
			*to++ = *from;
	*to = '\0';
	return !strncmp(map, all, strlen(all));
}

/*
 * An instance belongs to the user namespace that mounted it. One that was
 * there when the mount namespace was made is locked in it, and that comes
 * before all else that can keep it from expiring (fs/namespace.c:can_umount());
 * our open descriptor sees to it that it does not.
 */
enum binfmt_owner binfmt_instance_owner(const struct binfmt_instance *b)
{
	if (is_initial_namespace())
		return BINFMT_INITIAL;
	if (!umount2(b->path, MNT_EXPIRE))
		return BINFMT_UNKNOWN;
	switch (errno) {
	case EBUSY:
	case EAGAIN: return BINFMT_OWN;
	case EINVAL: return BINFMT_FOREIGN;
	default: return BINFMT_UNKNOWN;
	}
}

/* ---- rules in it ------------------------------------------------------------ */

static void take_line(struct binfmt_entry *e, const char *line)
{
	if (!strcmp(line, "enabled"))
		e->enabled = true;
	else if (!strncmp(line, "interpreter ", 12))
		snprintf(e->interpreter, sizeof(e->interpreter), "%s", line + 12);
	else if (!strncmp(line, "flags: ", 7))
		snprintf(e->flags, sizeof(e->flags), "%s", line + 7);
}

int binfmt_entry_read(const struct binfmt_instance *b, const char *name, struct binfmt_entry *e)
{
	char text[PATH_MAX + 2048], *next = text, *line;

	*e = (struct binfmt_entry){ .enabled = false };
	if (read_file(b, name, text, sizeof(text)) < 0) {
		if (errno == ENOENT)
			return 0;
		ctl_fail(CTL_FAILED, "unable to read %.512s/%s: %s", b->path, name,
			 strerror(errno));
		return -1;
	}
	while ((line = strsep(&next, "\n")))
		take_line(e, line);
	return 1;
}

int binfmt_add(const struct binfmt_instance *b, const struct binfmt_rule *rule)
{
	char line[BINFMT_LINE_MAX + 1];

	if (binfmt_rule_line(rule, line, sizeof(line)))
		return ENAMETOOLONG;
	return write_file(b, "register", line);
}

int binfmt_remove(const struct binfmt_instance *b, const char *name)
{
	return write_file(b, name, "-1");
}

int binfmt_try_undo(const struct binfmt_instance *b)
{
	char name[48], line[160];
	int error;

	snprintf(name, sizeof(name), "hwcap-exec-try-%d", (int)getpid());
	snprintf(line, sizeof(line), ":%s:E::%s::/nonexistent:", name, name);
	error = write_file(b, "register", line);
	if (error)
		return ctl_fail(CTL_FAILED, "unable to register in %.512s: %s", b->path,
				strerror(error));
	error = binfmt_remove(b, name);
	if (!error && !faccessat(b->dir, name, F_OK, 0))
		error = EEXIST;
	if (!error)
		return CTL_OK;
	return ctl_fail(CTL_FAILED,
			"what is registered in %.512s could not be undone: removing %s, which "
			"matches nothing, failed: %s",
			b->path, name, strerror(error));
}

/* ---- the other rules -------------------------------------------------------- */

/* Would the program in PATH run under our rule? As far as one can tell. */
static bool is_unmarked(const char *path, const unsigned char *head)
{
	unsigned char found[BINFMT_HEAD];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool unmarked = false;

	if (fd < 0)
		return false;
	if (read(fd, found, sizeof(found)) == sizeof(found))
		unmarked = !memcmp(found, head, EI_DATA + 1) && !memcmp(found + 18, head + 18, 2) &&
			   !(found[EI_ABIVERSION] & MARKER_BIT);
	close(fd);
	return unmarked;
}

static void warn_of(const struct binfmt_instance *b, const char *name, const unsigned char *head)
{
	struct binfmt_entry e;

	if (strlen(name) >= 256 || name[0] == '.' || !strcmp(name, "register") ||
	    !strcmp(name, "status") || binfmt_entry_read(b, name, &e) <= 0 ||
	    !is_unmarked(e.interpreter, head))
		return;
	ctl_fail(CTL_OK,
		 "note: rule %s: its interpreter %.512s would run under this rule itself, which "
		 "the kernel or the interpreter may not cope with; see hwcapctl(1), binfmt",
		 name, e.interpreter);
}

void binfmt_warn_of_others(const struct binfmt_instance *b, const unsigned char *head)
{
	int fd = openat(b->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(list)))
		warn_of(b, entry->d_name, head);
	closedir(list);
}
