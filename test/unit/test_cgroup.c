/* cgroup_text.c: the texts of the kernel and of the records, right and wrong. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cgroup.h"
#include "lines.h"

/* In memory of exactly its size, so that sanitizers see a byte too much. */
static int parse(const char *text, size_t size, struct cgroup_record *r, struct cgroup_fault *f)
{
	char *copy = malloc(size ? size : 1);
	int result;

	assert_non_null(copy);
	memcpy(copy, text, size);
	result = cgroup_parse_record(copy, size, r, f);
	free(copy);
	return result;
}

static void record_as_the_kernel_prints_it(void **state)
{
	static const char text[] = "AT_HWCAP\t0x00000000000001\t0x000000000000ab\n"
				   "AT_HWCAP2\t0x100000000000000\t0xffffffffffffffff\n"
				   "AT_HWCAP3\t0x0\t0xA\n"
				   "AT_HWCAP4\t0x00000000000000\t0x00000000000000\n";
	struct cgroup_record r;
	struct cgroup_fault f;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &r, &f), 0);
	assert_int_equal(r.present, 15);
	assert_int_equal(r.local.word[0], 1);
	assert_int_equal(r.effective.word[0], 0xab);
	assert_int_equal(r.local.word[1], 0x100000000000000);
	assert_int_equal(r.effective.word[1], UINT64_MAX);
	assert_int_equal(r.effective.word[2], 10);
	assert_int_equal(r.effective.word[3], 0);
}

static void record_of_one_entry(void **state)
{
	static const char text[] = "AT_HWCAP2\t0x1\t0x3\n";
	struct cgroup_record r;
	struct cgroup_fault f;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &r, &f), 0);
	assert_int_equal(r.present, 2);
	assert_int_equal(r.effective.word[0], 0);
	assert_int_equal(r.effective.word[1], 3);
}

static void refused(const char *text, size_t size, unsigned int line, unsigned int column,
		    const char *why)
{
	struct cgroup_record r;
	struct cgroup_fault f = { 0, 0, NULL };

	if (!parse(text, size, &r, &f))
		fail_msg("accepted: %s", text);
	if (f.line != line || f.column != column || strcmp(f.why, why))
		fail_msg("%s: line %u byte %u %s, wanted %u %u %s", text, f.line, f.column, f.why,
			 line, column, why);
}

static void records_refused(void **state)
{
	static const struct {
		const char *text;
		unsigned int line, column;
		const char *why;
	} rows[] = {
		{ "", 1, 1, "empty" },
		{ "\n", 1, 1, "unknown entry" },
		{ "AT_HWCAP\t0x1\t0x1", 1, 17, "line not ended" },
		{ "AT_HWCAP", 1, 9, "no tab" },
		{ "AT_HWCAP\t0x1\n", 1, 13, "no tab" },
		{ "AT_HWCAP\t0x1\t\n", 1, 14, "no 0x" },
		{ "AT_HWCAP\t0x\t0x1\n", 1, 12, "no digit" },
		{ "AT_HWCAP\t1\t1\n", 1, 10, "no 0x" },
		{ "AT_HWCAP 0x1 0x1\n", 1, 9, "no tab" },
		{ "AT_HWCAP\t0x1 0x1\n", 1, 13, "no tab" },
		{ "AT_HWCAP\t 0x1\t0x1\n", 1, 10, "no 0x" },
		{ "AT_HWCAP\t0x1\t0x1 \n", 1, 17, "more than two numbers" },
		{ "AT_HWCAP\t0x1\t0x1\t0x1\n", 1, 17, "more than two numbers" },
		{ "AT_HWCAP\t0x1\t0x1\r\n", 1, 17, "more than two numbers" },
		{ "AT_HWCAP\t0x11112222333344445\t0x1\n", 1, 28, "more than 16 digits" },
		{ "AT_HWCAP\t0x1g\t0x1\n", 1, 13, "no tab" },
		{ "AT_HWCAP5\t0x1\t0x1\n", 1, 9, "no tab" },
		{ "AT_PLATFORM\t0x1\t0x1\n", 1, 1, "unknown entry" },
		{ " AT_HWCAP\t0x1\t0x1\n", 1, 1, "unknown entry" },
		{ "at_hwcap\t0x1\t0x1\n", 1, 1, "unknown entry" },
		{ "AT_HWCAP\t0x1\t0x1\n\n", 2, 1, "unknown entry" },
		{ "AT_HWCAP\t0x1\t0x1\nAT_HWCAP2\t0x1\t-1\n", 2, 15, "no 0x" },
		{ "AT_HWCAP\t0x1\t0x1\nAT_HWCAP\t0x1\t0x1\n", 2, 17, "entry named twice" },
		{ "\x7f"
		  "ELF\x02\x01\x01",
		  1, 1, "unknown entry" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(rows[i].text, strlen(rows[i].text), rows[i].line, rows[i].column,
			rows[i].why);
	refused("AT_HWCAP\t0x1\t0x1\0\n", 18, 1, 17, "more than two numbers");
	refused("AT_HWCAP\0", 9, 1, 9, "no tab");
}

/* Every prefix of a good text but whole lines of it is refused. */
static void truncated_records(void **state)
{
	static const char text[] = "AT_HWCAP\t0x00000000000001\t0x000000000000ab\n"
				   "AT_HWCAP2\t0x00000000000000\t0x00000000000002\n";
	struct cgroup_record r;
	struct cgroup_fault f;

	(void)state;
	for (size_t n = 0; n <= strlen(text); n++) {
		int wanted = n && text[n - 1] == '\n' ? 0 : -1;

		assert_int_equal(parse(text, n, &r, &f), wanted);
	}
}

static void long_garbage(void **state)
{
	char *text = malloc(65536);
	struct cgroup_record r;
	struct cgroup_fault f;

	(void)state;
	assert_non_null(text);
	memset(text, 'A', 65536);
	assert_int_equal(parse(text, 65536, &r, &f), -1);
	assert_int_equal(f.line, 1);
	memset(text, '\t', 65536);
	memcpy(text, "AT_HWCAP\t0x1\t0x1\n", 17);
	assert_int_equal(parse(text, 65536, &r, &f), -1);
	assert_int_equal(f.line, 2);
	free(text);
}

static void below_a_mount(void **state)
{
	static const struct {
		const char *root, *path, *below;
	} rows[] = {
		{ "/", "/", "" },          { "/", "/a/b", "a/b" }, { "/a", "/a", "" },
		{ "/a", "/a/b/c", "b/c" }, { "/a", "/ab", NULL },  { "/a/b", "/a", NULL },
		{ "/..", "/../x", "x" },   { "/..", "/..", "" },   { "/../..", "/../x", NULL },
		{ "/../..", "/", NULL },   { "/..", "/x", NULL },  { "/", "/../x", NULL },
		{ "/", "/..", NULL },      { "/", "/..x", "..x" }, { "/", "/...", "..." },
		{ "/", "//a", "a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = cgroup_below(rows[i].root, rows[i].path);

		if (!rows[i].below)
			assert_null(got);
		else
			assert_string_equal(got, rows[i].below);
	}
}

static void own_lines_refused(void **state)
{
	static const struct {
		const char *line;
		unsigned int column;
	} rows[] = {
		{ "", 1 },    { ":", 1 },   { "x::/", 1 }, { "0", 2 },        { "0:", 3 },
		{ "0:a", 4 }, { "0::", 4 }, { "0::a", 4 }, { "13:misc:", 9 }, { "0 ::/", 2 },
	};
	enum cgroup_version version;
	struct cgroup_fault f;
	const char *path;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(cgroup_parse_own(rows[i].line, strlen(rows[i].line), &version,
						  &path, &f),
				 -1);
		assert_int_equal(f.column, rows[i].column);
	}
}

static void own_lines(void **state)
{
	static const struct {
		const char *line;
		enum cgroup_version version;
	} rows[] = {
		{ "0::/", CGROUP_V2 },
		{ "0:misc:/", CGROUP_V1_MISC },
		{ "1::/", CGROUP_NO_VERSION },
		{ "10::/", CGROUP_NO_VERSION },
		{ "7:name=misc:/", CGROUP_NO_VERSION },
		{ "7:misc:/x:y", CGROUP_V1_MISC },
		{ "7:a,misc,b:/", CGROUP_V1_MISC },
		{ "7:a,miscb:/", CGROUP_NO_VERSION },
		{ "7:amisc:/", CGROUP_NO_VERSION },
	};
	enum cgroup_version version;
	struct cgroup_fault f;
	const char *path;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(cgroup_parse_own(rows[i].line, strlen(rows[i].line), &version,
						  &path, &f),
				 0);
		assert_int_equal(version, rows[i].version);
	}
}

static void mounts_refused(void **state)
{
	static const struct {
		const char *line;
		unsigned int column;
	} rows[] = {
		{ "", 1 },
		{ "1 2 0:1 / /x", 13 },
		{ "1 2 0:1 / /x rw", 16 },
		{ "1 2 0:1 / /x rw shared:1 cgroup2 none rw", 41 },
		{ "1 2 0:1 / /x rw -", 18 },
	};
	struct cgroup_mount m;
	struct cgroup_fault f;
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(line, rows[i].line);
		assert_int_equal(cgroup_parse_mount(line, strlen(line), &m, &f), -1);
		assert_int_equal(f.column, rows[i].column);
	}
}

/* ---- lines ---------------------------------------------------------------- */

/* SIZE bytes of A, then NEXT, as lines: how they come out. */
static void long_line(size_t size, const char *next)
{
	struct lines *l = malloc(sizeof(*l));
	size_t length;
	char *line;
	FILE *file = tmpfile();

	assert_non_null(l);
	assert_non_null(file);
	for (size_t i = 0; i < size; i++)
		putc('A', file);
	fprintf(file, "\n%s", next);
	fflush(file);
	rewind(file);
	l->fd = fileno(file);
	lines_init(l);
	assert_int_equal(lines_next(l, &line, &length), 1);
	assert_int_equal(l->cut, size >= LINES_SIZE);
	if (!l->cut)
		assert_int_equal(length, size);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(line[i], 'A');
	line[length] = '\0';
	assert_int_equal(lines_next(l, &line, &length), *next ? 1 : 0);
	if (*next) {
		assert_int_equal(length, strcspn(next, "\n"));
		assert_memory_equal(line, next, length);
		assert_false(l->cut);
		assert_int_equal(lines_next(l, &line, &length), 0);
	}
	fclose(file);
	free(l);
}

static void lines_of_any_length(void **state)
{
	static const size_t sizes[] = { 0,
					1,
					LINES_SIZE / 2,
					LINES_SIZE - 2,
					LINES_SIZE - 1,
					LINES_SIZE,
					LINES_SIZE + 1,
					5 * LINES_SIZE };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		long_line(sizes[i], "");
		long_line(sizes[i], "next\n");
		long_line(sizes[i], "not ended");
	}
}

/* ---- fixtures ------------------------------------------------------------- */

static char *slurp(const char *name, const char *suffix)
{
	const char *srcdir = getenv("srcdir");
	char path[512];
	char *text = calloc(1, 65536);
	FILE *file;

	snprintf(path, sizeof(path), "%s/test/fixtures/cgroup/%s%s", srcdir ? srcdir : ".", name,
		 suffix);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) < 65535);
	fclose(file);
	return text;
}

static void find_mount(char *mountinfo, enum cgroup_version version, const char *path, char *out)
{
	const char *tag = version == CGROUP_V2 ? "v2" : "v1";
	bool mounted = false;
	char *next;

	for (char *line = mountinfo; *line; line = next) {
		struct cgroup_mount m;
		struct cgroup_fault f;
		const char *below;

		next = strchr(line, '\n') + 1;
		assert_int_equal(cgroup_parse_mount(line, (size_t)(next - 1 - line), &m, &f), 0);
		if (m.version != version)
			continue;
		mounted = true;
		below = cgroup_below(m.root, path);
		if (!below)
			continue;
		sprintf(out + strlen(out), "%s%s %s %s", *out ? ", " : "", tag, m.point, below);
		return;
	}
	if (mounted)
		sprintf(out + strlen(out), "%s%s unknown", *out ? ", " : "", tag);
}

static void solve(const char *name, enum cgroup_version wanted, char *out)
{
	char *own = slurp(name, ".cgroup"), *next;

	for (char *line = own; *line; line = next) {
		enum cgroup_version version;
		struct cgroup_fault f;
		const char *path;
		char *mountinfo;

		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		assert_int_equal(cgroup_parse_own(line, strlen(line), &version, &path, &f), 0);
		if (version != wanted)
			continue;
		mountinfo = slurp(name, ".mountinfo");
		find_mount(mountinfo, version, path, out);
		free(mountinfo);
	}
	free(own);
}

static void fixtures(void **state)
{
	const char *srcdir = getenv("srcdir");
	char path[512];
	struct dirent *e;
	int count = 0;
	DIR *dir;

	(void)state;
	snprintf(path, sizeof(path), "%s/test/fixtures/cgroup", srcdir ? srcdir : ".");
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL) {
		char *dot = strstr(e->d_name, ".expected"), got[4096] = "";
		char *wanted;

		if (!dot)
			continue;
		*dot = '\0';
		wanted = slurp(e->d_name, ".expected");
		solve(e->d_name, CGROUP_V2, got);
		solve(e->d_name, CGROUP_V1_MISC, got);
		strcat(got, "\n");
		if (strcmp(got, wanted))
			fail_msg("%s: got %s, wanted %s", e->d_name, got, wanted);
		free(wanted);
		count++;
	}
	closedir(dir);
	assert_true(count > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_as_the_kernel_prints_it),
		cmocka_unit_test(record_of_one_entry),
		cmocka_unit_test(records_refused),
		cmocka_unit_test(truncated_records),
		cmocka_unit_test(long_garbage),
		cmocka_unit_test(below_a_mount),
		cmocka_unit_test(own_lines),
		cmocka_unit_test(own_lines_refused),
		cmocka_unit_test(mounts_refused),
		cmocka_unit_test(lines_of_any_length),
		cmocka_unit_test(fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
