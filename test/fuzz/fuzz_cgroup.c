/* What the kernel and others write of cgroups; the first byte says what. */
#include "cgroup.h"
#include "fuzz.h"

static void record(const char *text, size_t size)
{
	struct cgroup_record r;
	struct cgroup_fault fault = { 0 };

	memset(&r, 0, sizeof(r));
	if (cgroup_parse_record(text, size, &r, &fault))
		HOLDS(fault.why && fault.line && fault.column);
}

static void own(const char *line, size_t length)
{
	enum cgroup_version version;
	struct cgroup_fault fault = { 0 };
	const char *path = NULL;

	if (cgroup_parse_own(line, length, &version, &path, &fault)) {
		HOLDS(fault.why);
		return;
	}
	HOLDS(version == CGROUP_NO_VERSION || (path >= line && path <= line + length));
}

static void mount(char *line, size_t length)
{
	struct cgroup_mount m = { 0 };
	struct cgroup_fault fault = { 0 };

	if (cgroup_parse_mount(line, length, &m, &fault)) {
		HOLDS(fault.why);
		return;
	}
	if (m.version == CGROUP_NO_VERSION)
		return;
	HOLDS(m.root >= line && m.root + strlen(m.root) <= line + length);
	HOLDS(m.point >= line && m.point + strlen(m.point) <= line + length);
}

static void below(const char *text, size_t size)
{
	const char *path = memchr(text, 0, size), *rest;

	if (!path)
		return;
	rest = cgroup_below(text, path + 1);
	HOLDS(!rest || (rest >= path && rest <= path + 1 + strlen(path + 1)) || !*rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	/* The parser of mounts may write, and the others find, a terminator. */
	text = fuzz_copy(data + 1, size - 1, *data % 4 >= 2);
	switch (*data % 4) {
	case 0: record(text, size - 1); break;
	case 1: own(text, size - 1); break;
	case 2: mount(text, size - 1); break;
	default: below(text, size - 1); break;
	}
	free(text);
	return 0;
}
