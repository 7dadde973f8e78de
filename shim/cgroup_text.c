#include <string.h>

#include "cgroup.h"

static int fault_at(struct cgroup_fault *f, unsigned int line, size_t column, const char *why)
{
	f->line = line;
	f->column = (unsigned int)column + 1;
	f->why = why;
	return -1;
}

/* What is left of a line, and how much of it has been taken. */
struct cursor {
	const char *line;
	size_t length, at;
};

static bool take(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	if (c->length - c->at < n || memcmp(c->line + c->at, word, n))
		return false;
	c->at += n;
	return true;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A tab, 0x and 1 to 16 digits. Returns what is wrong at C->at, or NULL. */
static const char *take_number(struct cursor *c, uint64_t *value)
{
	unsigned int digits = 0;

	*value = 0;
	if (!take(c, "\t"))
		return "no tab";
	if (!take(c, "0x"))
		return "no 0x";
	for (; c->at < c->length; c->at++, digits++) {
		int v = digit(c->line[c->at]);

		if (v < 0)
			break;
		if (digits == 16)
			return "more than 16 digits";
		*value = *value << 4 | (uint64_t)v;
	}
	return digits ? NULL : "no digit";
}

/* The entry named at C->at, -1 if there is none. */
static int take_entry(struct cursor *c)
{
	unsigned int n;

	if (!take(c, "AT_HWCAP"))
		return -1;
	if (c->at == c->length || c->line[c->at] < '2' || c->line[c->at] > '4')
		return 0;
	n = (unsigned int)(c->line[c->at++] - '1');
	return (int)n;
}

static const char *parse_record_line(struct cursor *c, struct cgroup_record *r)
{
	int entry = take_entry(c);
	const char *why;

	if (entry < 0)
		return "unknown entry";
	why = take_number(c, &r->local.word[entry]);
	if (!why)
		why = take_number(c, &r->effective.word[entry]);
	if (why)
		return why;
	if (c->at != c->length)
		return "more than two numbers";
	if (r->present >> entry & 1)
		return "entry named twice";
	r->present |= 1U << entry;
	return NULL;
}

int cgroup_parse_record(const char *text, size_t size, struct cgroup_record *record,
			struct cgroup_fault *fault)
{
	unsigned int line = 1;

	memset(record, 0, sizeof(*record));
	if (!size)
		return fault_at(fault, 1, 0, "empty");
	for (size_t at = 0; at < size; line++) {
		const char *end = memchr(text + at, '\n', size - at);
		struct cursor c = { text + at, end ? (size_t)(end - text) - at : size - at, 0 };
		const char *why = parse_record_line(&c, record);

		if (!why && !end)
			why = "line not ended";
		if (why)
			return fault_at(fault, line, c.at, why);
		at += c.length + 1;
	}
	return 0;
}

/* Is WORD an item of the comma list LIST? */
static bool has_item(const char *list, size_t length, const char *word)
{
	size_t n = strlen(word);

	for (;;) {
		const char *comma = memchr(list, ',', length);
		size_t item = comma ? (size_t)(comma - list) : length;

		if (item == n && !memcmp(list, word, n))
			return true;
		if (!comma)
			return false;
		list += item + 1;
		length -= item + 1;
	}
}

int cgroup_parse_own(const char *line, size_t length, enum cgroup_version *version,
		     const char **path, struct cgroup_fault *fault)
{
	size_t at = 0, names;
	const char *colon;

	*version = CGROUP_NO_VERSION;
	while (at < length && line[at] >= '0' && line[at] <= '9')
		at++;
	if (!at)
		return fault_at(fault, 1, at, "no hierarchy number");
	if (at == length || line[at] != ':')
		return fault_at(fault, 1, at, "no colon");
	names = at + 1;
	colon = memchr(line + names, ':', length - names);
	if (!colon)
		return fault_at(fault, 1, length, "no second colon");
	*path = colon + 1;
	if (*path == line + length || **path != '/')
		return fault_at(fault, 1, (size_t)(*path - line), "no absolute path");
	if (at == 1 && line[0] == '0' && colon == line + names)
		*version = CGROUP_V2;
	else if (has_item(line + names, (size_t)(colon - line) - names, "misc"))
		*version = CGROUP_V1_MISC;
	return 0;
}

/* The next blank-separated field of C; *LENGTH 0 at the end. */
__attribute__((cold, noinline)) static char *take_field(char *line, struct cursor *c,
							size_t *length)
{
	char *field;

	while (c->at < c->length && line[c->at] == ' ')
		c->at++;
	field = line + c->at;
	while (c->at < c->length && line[c->at] != ' ')
		c->at++;
	*length = (size_t)(line + c->at - field);
	return field;
}

/* fs/seq_file.c:mangle_path() writes blank, tab, newline, '\\' and '#' octal. */
static void unescape(char *field, size_t length)
{
	size_t to = 0;

	for (size_t i = 0; i < length; i++) {
		const char *o = field + i;

		if (o[0] == '\\' && length - i > 3 && o[1] >= '0' && o[1] <= '3' && o[2] >= '0' &&
		    o[2] <= '7' && o[3] >= '0' && o[3] <= '7') {
			field[to++] = (char)((o[1] - '0') << 6 | (o[2] - '0') << 3 | (o[3] - '0'));
			i += 3;
		} else {
			field[to++] = *o;
		}
	}
	field[to] = '\0';
}

static bool field_is(const char *field, size_t length, const char *word)
{
	return length == strlen(word) && !memcmp(field, word, length);
}

__attribute__((cold)) int cgroup_parse_mount(char *line, size_t length, struct cgroup_mount *mount,
					     struct cgroup_fault *fault)
{
	struct cursor c = { line, length, 0 };
	char *root = NULL, *point = NULL, *field;
	size_t root_length = 0, point_length = 0, n;

	mount->version = CGROUP_NO_VERSION;
	for (int i = 1; i <= 6; i++) {
		field = take_field(line, &c, &n);
		if (!n)
			return fault_at(fault, 1, c.at, "fewer than six fields");
		if (i == 4) {
			root = field;
			root_length = n;
		} else if (i == 5) {
			point = field;
			point_length = n;
		}
	}
	do {
		field = take_field(line, &c, &n);
		if (!n)
			return fault_at(fault, 1, c.at, "no separator");
	} while (!field_is(field, n, "-"));
	field = take_field(line, &c, &n);
	if (!n)
		return fault_at(fault, 1, c.at, "no file system type");
	if (field_is(field, n, "cgroup2")) {
		mount->version = CGROUP_V2;
	} else if (field_is(field, n, "cgroup")) {
		take_field(line, &c, &n);
		field = take_field(line, &c, &n);
		if (has_item(field, n, "misc"))
			mount->version = CGROUP_V1_MISC;
	}
	unescape(root, root_length);
	unescape(point, point_length);
	mount->root = root;
	mount->point = point;
	return 0;
}

const char *cgroup_below(const char *root, const char *path)
{
	size_t n = strlen(root);

	while (n && root[n - 1] == '/')
		n--;
	if (strncmp(root, path, n) || (path[n] && path[n] != '/'))
		return NULL;
	path += n;
	while (*path == '/')
		path++;
	/* Above the mount, in a part of the tree that has no name here. */
	if (!strncmp(path, "..", 2) && (!path[2] || path[2] == '/'))
		return NULL;
	return path;
}
