#include <string.h>
#include <sys/mman.h>

#include "report.h"
#include "spec.h"
#include "sys.h"

enum { REPORT_SIZE = 8192 };

static const char help[] =
	"Usage: hwcap-exec [OPTION]... [--] PROGRAM [ARG]...\n"
	"Run PROGRAM with hardware capabilities (AT_HWCAP, AT_HWCAP2, AT_HWCAP3,\n"
	"AT_HWCAP4) hidden from it.\n"
	"\n"
	"  -m, --mask=SPEC      hide these; may be repeated, masks add up\n"
	"  -k, --keep=SPEC      hide everything but these\n"
	"  -c, --cgroup[=PATH]  insist on the mask of the cgroup (without this it is\n"
	"                       added if there is one)\n"
	"      --no-cgroup      leave it out\n"
	"      --cgroup-root=DIR\n"
	"                       the hierarchy, if it is not where it is mounted\n"
	"  -f, --follow[=try]   descendants stay masked, too; try: if possible\n"
	"  -a, --argv0=NAME     pass NAME as argv[0]\n"
	"  -e, --engine=ENGINE  auto (default), loader or trace\n"
	"      --no-vdso        do not tell PROGRAM where the vDSO is\n"
	"      --exact          hide or keep exactly SPEC, not what depends on it\n"
	"      --enforce        turn hidden features off, too (riscv: v)\n"
	"  -n, --dry-run        print what would be run, and run nothing\n"
	"  -v, --verbose        say which engine runs what\n"
	"  -h, --help           print this and exit\n"
	"  -V, --version        print the version and exit\n"
	"\n"
	"SPEC is a comma list of feature names, NAME=VALUE (AT_HWCAP2=0x2), @BASELINE,\n"
	"all or none; see `hwcapctl list`. HWCAP_EXEC_MASK=SPEC adds to the mask.\n"
	"\n"
	"Exit status: PROGRAM's; 125 if hwcap-exec failed, 126 if PROGRAM cannot be\n"
	"run, 127 if it was not found. Manual: hwcap-exec(1).\n";

/* To standard output; a pipe may take less at once. */
static int put(struct diag *d, const char *bytes, size_t size)
{
	char number[16];

	while (size) {
		long r = sys_write(1, bytes, size);

		if (r <= 0)
			return diag(d, EXIT_FAILED, (int)-r, "unable to write the result: %s",
				    errno_text((int)-r, number));
		bytes += r;
		size -= (size_t)r;
	}
	return 0;
}

int report_help(struct diag *d)
{
	return put(d, help, sizeof(help) - 1);
}

int report_version(struct diag *d)
{
	static const char version[] = "hwcap-exec " HWCAP_EXEC_VERSION "\n";

	return put(d, version, sizeof(version) - 1);
}

static void add_mask(struct text *t, const struct hwcaps *mask)
{
	const char *separator = "";

	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		if (!mask->word[i])
			continue;
		text_add(t, "%s%s=%#lx", separator, spec_entry_name(i), mask->word[i]);
		separator = ",";
	}
	if (!*separator)
		text_add(t, "none");
}

void report_choice(const struct program *program, const struct hwcaps *mask, const char *engine,
		   const char *why)
{
	char line[1024];
	struct text t;

	text_init(&t, line, sizeof(line));
	text_add(&t, "hwcap-exec: engine %s (%s): %.256s, mask ", engine, why, program->loaded);
	add_mask(&t, mask);
	text_add(&t, "\n");
	/* A program runs with standard error closed or full, too. */
	sys_write(2, line, t.length);
}

static void add_image(struct text *t, const char *what, const struct image *image, uint64_t page)
{
	text_add(t, "%s %s (%s, entry %#lx)\n", what, image->path,
		 image->plan.fixed ? "fixed" : "position-independent", image->plan.entry);
	for (unsigned int i = 0; i < image->elf.header.e_phnum; i++) {
		const Elf64_Phdr *ph = &image->elf.phdr[i];
		struct elf_segment s;

		if (ph->p_type != PT_LOAD || t->length > REPORT_SIZE / 2)
			continue;
		elf_segment(ph, page, &s);
		if (s.size)
			text_add(t, "  map  %#lx-%#lx %c%c%c file offset %#lx\n", s.at,
				 s.at + s.size, s.prot & PROT_READ ? 'r' : '-',
				 s.prot & PROT_WRITE ? 'w' : '-', s.prot & PROT_EXEC ? 'x' : '-',
				 s.offset);
		if (s.anon_size)
			text_add(t, "  zero %#lx-%#lx rw%c\n", s.anon_at, s.anon_at + s.anon_size,
				 s.anon_prot & PROT_EXEC ? 'x' : '-');
	}
}

static void add_vector(struct text *t, const struct load_request *r)
{
	for (const Elf64_auxv_t *av = r->start->auxv; av->a_type != AT_NULL; av++) {
		int i = hwcap_index(av->a_type);
		uint64_t value = av->a_un.a_val;

		if (i >= 0)
			text_add(t, "%s %#lx -> %#lx\n", spec_entry_name(i), value,
				 value & ~r->hide.word[i]);
	}
}

/* L: the loader's plan, or NULL. */
static int report_run(struct diag *d, const struct load_request *r, const char *engine,
		      const struct load *l)
{
	const struct program *p = r->program;
	const struct start *s = r->start;
	char text[REPORT_SIZE];
	struct text t;

	text_init(&t, text, sizeof(text));
	text_add(&t, "program %s\n", p->path);
	for (unsigned int i = 0; i < p->prefixes; i++)
		text_add(&t, "argv[%u] %.200s\n", i, p->prefix[i]);
	for (unsigned long i = r->skip; i < s->argc && t.length < REPORT_SIZE / 4; i++)
		text_add(&t, "argv[%lu] %.200s\n", i - r->skip + p->prefixes, s->argv[i]);
	text_add(&t, "engine %s\n", engine);
	if (l)
		add_image(&t, "load", &l->program, s->page_size);
	if (l && l->has_interp)
		add_image(&t, "interp", l->interp, s->page_size);
	text_add(&t, "mask ");
	add_mask(&t, &r->hide);
	text_add(&t, "\n");
	add_vector(&t, r);
	return put(d, text, t.length);
}

int report_plan(struct diag *d, const struct load *l, void *to)
{
	return report_run(d, l->request, to, l);
}

int report_trace(struct diag *d, const struct load_request *r)
{
	return report_run(d, r, "trace", NULL);
}
