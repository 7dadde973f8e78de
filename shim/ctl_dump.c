#include "ctl_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch_cache.h"
#include "cgroup.h"
#include "spec.h"

/* Entries that tell of the CPU (include/uapi/linux/auxvec.h). */
static const struct {
	unsigned long type;
	char name[22];
	bool text;
} entries[] = {
	{ 15, "AT_PLATFORM", true },           { 24, "AT_BASE_PLATFORM", true },
	{ 51, "AT_MINSIGSTKSZ", false },       { 6, "AT_PAGESZ", false },
	{ 19, "AT_DCACHEBSIZE", false },       { 20, "AT_ICACHEBSIZE", false },
	{ 21, "AT_UCACHEBSIZE", false },       { 41, "AT_L1I_CACHEGEOMETRY", false },
	{ 43, "AT_L1D_CACHEGEOMETRY", false }, { 45, "AT_L2_CACHEGEOMETRY", false },
	{ 47, "AT_L3_CACHEGEOMETRY", false },
};

static void add(struct dump *d, const char *name, const char *value)
{
	if (d->others == DUMP_OTHERS || !*value)
		return;
	snprintf(d->other[d->others].name, sizeof(d->other[0].name), "%s", name);
	snprintf(d->other[d->others].value, sizeof(d->other[0].value), "%s", value);
	d->others++;
}

static void add_number(struct dump *d, const char *name, long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", value);
	add(d, name, text);
}

static void add_entries(const struct ctl *ctl, struct dump *d)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const unsigned long *a = ctl->auxv;

		while (a[0] && a[0] != entries[i].type)
			a += 2;
		if (!a[0])
			continue;
		if (entries[i].text)
			add(d, entries[i].name, (const char *)a[1]);
		else
			add_number(d, entries[i].name, (long long)a[1]);
	}
}

static void add_cache_line(struct dump *d)
{
	FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "re");
	char line[32];

	if (!f)
		return;
	if (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		add(d, "cache-line", line);
	}
	fclose(f);
}

static void add_cache_facts(struct dump *d)
{
	unsigned long value;
	const char *name;

	for (unsigned int i = 0; arch_cache_fact(i, &name, &value); i++)
		add_number(d, name, (long long)value);
}

/* arm64, include/uapi/linux/prctl.h: PR_SVE_GET_VL, PR_SME_GET_VL; bytes. */
static void add_vector_lengths(struct dump *d)
{
	int sve = prctl(51, 0, 0, 0, 0), sme = prctl(64, 0, 0, 0, 0);

	if (sve > 0)
		add_number(d, "sve-vector-length", sve & 0xffff);
	if (sme > 0)
		add_number(d, "sme-vector-length", sme & 0xffff);
}

/* riscv, arch/riscv/include/uapi/asm/hwprobe.h: keys as of Linux 6.12. */
static void add_hwprobe(struct dump *d)
{
	struct {
		int64_t key;
		uint64_t value;
	} pair[10];

	for (int i = 0; i < 10; i++) {
		pair[i].key = i;
		pair[i].value = 0;
	}
	if (syscall(258, pair, 10, 0, NULL, 0))
		return;
	for (int i = 0; i < 10; i++) {
		char name[24], value[24];

		snprintf(name, sizeof(name), "hwprobe-%d", i);
		snprintf(value, sizeof(value), "0x%lx", (unsigned long)pair[i].value);
		if (pair[i].key == i)
			add(d, name, value);
	}
}

void dump_own(const struct ctl *ctl, struct dump *d)
{
	struct hwcap_table t;

	memset(d, 0, sizeof(*d));
	ctl_table_of(NULL, &t);
	snprintf(d->arch, sizeof(d->arch), "%s", t.arch);
	ctl_own_vector(ctl, &d->vector);
	add_entries(ctl, d);
	add_cache_line(d);
	add_cache_facts(d);
	if (!strcmp(t.arch, "arm64"))
		add_vector_lengths(d);
	if (!strcmp(t.arch, "riscv"))
		add_hwprobe(d);
}

const char *dump_other(const struct dump *d, const char *name)
{
	for (unsigned int i = 0; i < d->others; i++)
		if (!strcmp(d->other[i].name, name))
			return d->other[i].value;
	return NULL;
}

void dump_print_names(const struct hwcap_table *t, int i, uint64_t bits)
{
	const char *comma = "";

	for (size_t n = 0; n < t->count; n++) {
		const struct hwcap_feature *f = &t->features[n];

		if (f->entry != i || !(bits >> f->bit & 1))
			continue;
		printf("%s%s", comma, f->name);
		bits &= ~(1UL << f->bit);
		comma = ",";
	}
	if (bits)
		printf("%s%s=0x%lx", comma, spec_entry_name(i), (unsigned long)bits);
}

void dump_print(const struct dump *d)
{
	struct hwcap_table t;

	ctl_table_of(d->arch, &t);
	printf("hwcap-exec dump 1\narch %s\n", d->arch);
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		uint64_t value = d->vector.value.word[i];

		if (!d->vector.has[i])
			continue;
		printf("%s 0x%lx\n", spec_entry_name(i), (unsigned long)value);
		if (!value)
			continue;
		fputs("features ", stdout);
		dump_print_names(&t, i, value);
		putchar('\n');
	}
	for (unsigned int i = 0; i < d->others; i++)
		printf("other %s %s\n", d->other[i].name, d->other[i].value);
	puts("end");
}

/* ---- reading -------------------------------------------------------------- */

static const char *take_entry(struct dump *d, const char *line)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		const char *name = spec_entry_name(i);
		size_t n = strlen(name);
		char *end;

		if (strncmp(line, name, n) || line[n] != ' ')
			continue;
		if (d->vector.has[i])
			return "entry named twice";
		errno = 0;
		d->vector.value.word[i] = strtoul(line + n + 1, &end, 16);
		if (strncmp(line + n + 1, "0x", 2) || errno || *end || end == line + n + 3)
			return "no number of 64 bits";
		d->vector.has[i] = true;
		return NULL;
	}
	return "unknown line";
}

/* What is wrong with LINE, NULL if nothing is. */
static const char *take_line(struct dump *d, const char *line, unsigned int number)
{
	struct hwcap_table t;
	const char *value;
	char name[32];

	if (number == 1)
		return strcmp(line, "hwcap-exec dump 1") ? "no dump of version 1" : NULL;
	if (number == 2) {
		if (strncmp(line, "arch ", 5) || !ctl_table_of(line + 5, &t))
			return "no known architecture";
		snprintf(d->arch, sizeof(d->arch), "%s", t.arch);
		return NULL;
	}
	if (!strncmp(line, "features ", 9))
		return NULL;
	if (strncmp(line, "other ", 6))
		return take_entry(d, line);
	value = strchr(line + 6, ' ');
	if (!value || value - line - 6 >= (ptrdiff_t)sizeof(name) || strlen(value + 1) > 63)
		return "no name and value";
	snprintf(name, sizeof(name), "%.*s", (int)(value - line - 6), line + 6);
	add(d, name, value + 1);
	return NULL;
}

/* All features of an architecture fit into a line. */
enum { LINE_SIZE = 16384 };

static int read_lines(const char *file, FILE *f, struct dump *d)
{
	unsigned int number = 0;
	const char *why = NULL;
	bool ended = false;
	char line[LINE_SIZE];

	while (!why && fgets(line, sizeof(line), f)) {
		size_t length = strcspn(line, "\n");
		bool cut = !line[length] && !feof(f);

		number++;
		line[length] = '\0';
		if (cut)
			why = "too long, or not text";
		else if (ended)
			why = "more after the end";
		else if (!strcmp(line, "end") && number > 2)
			ended = true;
		else
			why = take_line(d, line, number);
	}
	if (why)
		return ctl_fail(CTL_FAILED, "%s: line %u: %s", file, number, why);
	if (ferror(f))
		return ctl_fail(CTL_FAILED, "unable to read %s: %s", file, strerror(errno));
	return ended ? CTL_OK : ctl_fail(CTL_FAILED, "%s: cut off: it does not end in 'end'", file);
}

int dump_read(const char *file, struct dump *d)
{
	FILE *f = fopen(file, "re");
	int status;

	memset(d, 0, sizeof(*d));
	if (!f)
		return ctl_fail(CTL_FAILED, "unable to open %s: %s", file, strerror(errno));
	status = read_lines(file, f, d);
	fclose(f);
	return status;
}

/* ---- is our own vector the machine's? --------------------------------------- */

/* Is there a feature that the CPU has and the vector hides? NAME is its name. */
static bool hides_feature(const struct dump *d, char name[24])
{
	char *cpu = ctl_cpu_features();
	struct hwcap_table t;
	bool found = false;

	ctl_table_of(NULL, &t);
	for (size_t i = 0; cpu && i < t.count && !found; i++) {
		const struct hwcap_feature *f = &t.features[i];

		found = d->vector.has[f->entry] &&
			!ctl_has_bit(&d->vector.value, f->entry, f->bit) &&
			ctl_has_word(cpu, f->name);
		if (found)
			snprintf(name, 24, "%s", f->name);
	}
	free(cpu);
	return found;
}

/* Has process 1, which no mask was put on since the boot, bits that we have not? */
static bool first_has_more(const struct dump *d)
{
	struct ctl_vector first;
	int fd = open("/proc/1/auxv", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	if (ctl_process_vector("1", &first) || first.narrow)
		return false;
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (first.value.word[i] & ~d->vector.value.word[i])
			return true;
	return false;
}

static int refuse_masked(const struct dump *d)
{
	struct cgroup_request q = { .secure = true };
	struct cgroup_mask mask = { 0 };
	char feature[24];
	struct diag diag;

	if (!cgroup_mask(&diag, &q, &mask) && hwcaps_any(&mask.kernel))
		return ctl_fail(CTL_FAILED, "the kernel masks this cgroup; dump in one without a "
					    "mask (--force prints all the same)");
	if (!d->vector.value.word[0])
		return ctl_fail(CTL_FAILED, "AT_HWCAP is 0 here, which looks like a mask "
					    "(--force prints all the same)");
	if (hides_feature(d, feature))
		return ctl_fail(CTL_FAILED,
				"the CPU has %s, but the vector hides it: run dump without a mask "
				"(--force prints all the same)",
				feature);
	if (first_has_more(d))
		return ctl_fail(CTL_FAILED,
				"the vector of process 1 has more than our own: run dump "
				"without a mask (--force prints all the same)");
	return CTL_OK;
}

int ctl_dump(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "force", no_argument, NULL, CTL_OPTION_FORCE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	bool force = false;
	struct dump d;
	int option;

	while ((option = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		if (option != CTL_OPTION_FORCE)
			return ctl_common_option(self, option);
		force = true;
	}
	if (optind < argc)
		return ctl_misuse(self, "dump takes no argument");
	dump_own(ctl, &d);
	if (!force && refuse_masked(&d))
		return CTL_FAILED;
	dump_print(&d);
	return CTL_OK;
}
