/*
 * misc-mask.c - write to a misc.mask what the table says, and compare
 *
 *	misc-mask TABLE CGROUP HWCAPCTL
 *
 * TABLE is fixtures/misc-mask.tsv. Every write is one write(2); its result and
 * the file's text must be the table's, and `hwcapctl cgroup get` must print
 * that text. Then what no table holds: several writes by one descriptor, other
 * offsets and flags. Prints "@@ ok" or "@@ not ok" lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char file[256], cgroup[256];
static const char *hwcapctl;
static int bad;

static int put(const char *text, size_t size)
{
	int fd = open(file, O_WRONLY), r;

	if (fd < 0)
		return -errno;
	r = (int)write(fd, text, size);
	r = r < 0 ? -errno : r;
	close(fd);
	return r;
}

static void reset(void)
{
	put("AT_HWCAP 0xaa", 13);
	put("AT_HWCAP2 0xbb", 14);
}

static void slurp(int fd, char *to, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size - 1 && (n = read(fd, to + used, size - 1 - used)) > 0)
		used += (size_t)n;
	to[used] = '\0';
	close(fd);
}

static void by_hwcapctl(char *to, size_t size)
{
	int ends[2];

	if (pipe(ends))
		exit(2);
	if (!fork()) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execl(hwcapctl, hwcapctl, "cgroup", "get", cgroup, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	slurp(ends[0], to, size);
	while (wait(NULL) > 0)
		;
}

/* Is the file's text that of the two numbers, and what hwcapctl prints? */
static bool holds(const char *one, const char *two, char *got, size_t size)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "AT_HWCAP\t%s\t%s\nAT_HWCAP2\t%s\t%s\n", one, one, two,
		 two);
	slurp(open(file, O_RDONLY), got, size);
	if (strcmp(got, wanted))
		return false;
	by_hwcapctl(got, size);
	return !strcmp(got, wanted);
}

/* The bytes that TEXT stands for. */
static size_t unescape(const char *text, char *to)
{
	size_t n = 0;

	while (*text) {
		char c = *text++;
		int times;

		if (c == '|' && text[1] == '{') {
			times = atoi(text + 2);
			memset(to + n, *text, (size_t)times);
			n += (size_t)times;
			text = strchr(text, '}') + 2;
			continue;
		}
		if (c == '\\') {
			char hex[3] = { text[1], text[1] ? text[2] : '\0', '\0' };

			c = *text == 'n' ? '\n' : *text == 't' ? '\t' : *text == 'r' ? '\r' : *text;
			if (*text == 'x') {
				c = (char)strtol(hex, NULL, 16);
				text += 2;
			}
			text++;
		}
		to[n++] = c;
	}
	return n;
}

static int result_of(const char *word)
{
	if (!strcmp(word, "EINVAL"))
		return -EINVAL;
	if (!strcmp(word, "ERANGE"))
		return -ERANGE;
	if (!strcmp(word, "E2BIG"))
		return -E2BIG;
	return atoi(word);
}

static void one(char *line)
{
	static char bytes[16384];
	char got[512], *result = strchr(line, '\t'), *a, *b;
	int r;

	*result++ = '\0';
	a = strchr(result, '\t');
	*a++ = '\0';
	b = strchr(a, '\t');
	*b++ = '\0';
	reset();
	r = put(bytes, unescape(line, bytes));
	if (r == result_of(result) && holds(a, b, got, sizeof(got)))
		return;
	bad++;
	printf("@@ not ok write '%.60s'\n@@ # result %d, wanted %s; text or get: %s", line, r,
	       result, got);
}

static void table(const char *name)
{
	char line[1024];
	FILE *f = fopen(name, "r");
	int count = 0;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#')
			continue;
		one(line);
		count++;
	}
	printf("@@ %s %d writes: as the table says, and get prints the file\n",
	       bad || count < 100 ? "not ok" : "ok", count);
}

static void check(const char *name, bool good, const char *one_value, const char *two)
{
	char got[512];

	good = holds(one_value, two, got, sizeof(got)) && good;
	printf("@@ %s %s\n", good ? "ok" : "not ok", name);
	reset();
}

static void others(void)
{
	int fd = open(file, O_WRONLY);
	bool good = write(fd, "AT_HWCAP 0x1\n", 13) == 13 && write(fd, "AT_HWCAP2 0x2\n", 14) == 14;

	close(fd);
	check("two writes by one descriptor", good, "0x00000000000001", "0x00000000000002");
	fd = open(file, O_WRONLY);
	good = write(fd, "AT_HWCAP", 8) < 0 && errno == EINVAL;
	good = write(fd, " 0x2", 4) < 0 && errno == EINVAL && good;
	close(fd);
	check("a write in two halves: EINVAL", good, "0x000000000000aa", "0x000000000000bb");
	fd = open(file, O_WRONLY);
	good = pwrite(fd, "AT_HWCAP 0x3", 12, 100) == 12;
	close(fd);
	check("at another offset", good, "0x00000000000003", "0x000000000000bb");
	fd = open(file, O_WRONLY | O_TRUNC | O_CREAT, 0644);
	good = write(fd, "AT_HWCAP 0x4", 12) == 12;
	close(fd);
	check("O_TRUNC and O_CREAT", good, "0x00000000000004", "0x000000000000bb");
	fd = open(file, O_WRONLY | O_APPEND);
	good = write(fd, "AT_HWCAP 0x5", 12) == 12;
	close(fd);
	check("O_APPEND", good, "0x00000000000005", "0x000000000000bb");
	fd = open(file, O_RDONLY);
	good = write(fd, "AT_HWCAP 0x6", 12) < 0 && errno == EBADF;
	close(fd);
	good = !truncate(file, 0) && good;
	check("read-only: EBADF; truncate does nothing", good, "0x000000000000aa",
	      "0x000000000000bb");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	snprintf(file, sizeof(file), "/sys/fs/cgroup%s/misc.mask", argv[2]);
	snprintf(cgroup, sizeof(cgroup), "%s", argv[2]);
	hwcapctl = argv[3];
	reset();
	table(argv[1]);
	others();
	return 0;
}
