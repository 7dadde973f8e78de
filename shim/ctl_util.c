#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "hwcap_table.h"
#include "hwcap_table_arm64.h"
#include "hwcap_table_ppc64.h"
#include "hwcap_table_riscv.h"
#include "hwcap_table_x86_64.h"
#include "spec.h"
#include "text.h"

static void (*const tables[])(struct hwcap_table *) = {
	hwcap_table_x86_64,
	hwcap_table_arm64,
	hwcap_table_ppc64,
	hwcap_table_riscv,
};

bool ctl_table(unsigned int index, struct hwcap_table *t)
{
	if (index >= sizeof(tables) / sizeof(tables[0]))
		return false;
	tables[index](t);
	return true;
}

bool ctl_table_of(const char *arch, struct hwcap_table *t)
{
	const char *name;

	if (!arch) {
		hwcap_table_own(t);
		return true;
	}
	name = spec_arch(arch, strlen(arch));
	for (unsigned int i = 0; name && ctl_table(i, t); i++)
		if (!strcmp(t->arch, name))
			return true;
	return false;
}

static void add_entry(struct ctl_vector *v, unsigned long type, unsigned long value)
{
	int i = hwcap_index(type);

	if (i < 0)
		return;
	v->value.word[i] = value;
	v->has[i] = true;
}

void ctl_own_vector(const struct ctl *ctl, struct ctl_vector *v)
{
	memset(v, 0, sizeof(*v));
	for (const unsigned long *a = ctl->auxv; a[0]; a += 2)
		add_entry(v, a[0], a[1]);
}

/*
 * saved_auxv of a compat process holds 32-bit pairs (fs/compat_binfmt_elf.c
 * makes elf_addr_t 32 bits wide): read as 64-bit words, the first type would
 * be absurdly large.
 */
static void decode_vector(const void *bytes, size_t size, struct ctl_vector *v)
{
	uint64_t wide[2] = { 0, 0 };
	uint32_t narrow[2];

	memcpy(wide, bytes, size < sizeof(wide) ? size : sizeof(wide));
	v->narrow = wide[0] > UINT32_MAX;
	for (size_t at = 0;;) {
		size_t step = v->narrow ? sizeof(narrow) : sizeof(wide);

		if (at + step > size)
			return;
		if (v->narrow) {
			memcpy(narrow, (const char *)bytes + at, step);
			wide[0] = narrow[0];
			wide[1] = narrow[1];
		} else {
			memcpy(wide, (const char *)bytes + at, step);
		}
		if (!wide[0])
			return;
		add_entry(v, wide[0], wide[1]);
		at += step;
	}
}

int ctl_process_vector(const char *pid, struct ctl_vector *v)
{
	char path[48], bytes[4096];
	size_t size = 0;
	ssize_t n;
	int fd;

	memset(v, 0, sizeof(*v));
	snprintf(path, sizeof(path), "/proc/%s/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return ctl_fail(CTL_FAILED, "%s: no such process, or /proc is not mounted", pid);
	if (fd < 0)
		return ctl_fail(CTL_FAILED, "unable to open %s: %s", path, strerror(errno));
	while (size < sizeof(bytes)) {
		n = read(fd, bytes + size, sizeof(bytes) - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size += (size_t)n;
	}
	close(fd);
	if (n < 0)
		return ctl_fail(CTL_FAILED, "unable to read %s: %s", path, strerror(errno));
	if (!size)
		return ctl_fail(CTL_FAILED, "%s: has no vector (a kernel thread, or it has ended)",
				pid);
	decode_vector(bytes, size, v);
	return CTL_OK;
}

void ctl_print_name(FILE *f, const char *s)
{
	char visible[4 * PATH_MAX];
	struct text t;

	text_init(&t, visible, sizeof(visible));
	text_add(&t, "%s", s);
	fputs(visible, f);
}

/* Bytes beyond ASCII are not known to be UTF-8: U+FFFD stands for each. */
void ctl_json_string(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else if (c > 0x7f)
			fputs("\\ufffd", f);
		else
			putc(c, f);
	}
	putc('"', f);
}

void ctl_print_spec(FILE *f, const struct hwcaps *bits)
{
	const char *comma = "";

	if (!hwcaps_any(bits))
		fputs("none", f);
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		if (!bits->word[i])
			continue;
		fprintf(f, "%s%s=%#lx", comma, spec_entry_name(i), (unsigned long)bits->word[i]);
		comma = ",";
	}
}

/* Strings: jq and JavaScript keep 53 bits of a number. */
void ctl_json_words(FILE *f, const struct hwcaps *bits)
{
	putc('{', f);
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		fprintf(f, "%s\"%s\":\"0x%lx\"", i ? "," : "", spec_entry_name(i),
			(unsigned long)bits->word[i]);
	putc('}', f);
}
