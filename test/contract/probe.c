/* probe.c - arguments, the initial stack, the vector and the registers */
#include <elf.h>

#include "probe.h"

enum {
	AUX_PHDR = 3,
	AUX_PHNUM = 5,
	AUX_PAGESZ = 6,
	AUX_BASE = 7,
	AUX_ENTRY = 9,
	AUX_PLATFORM = 15,
	AUX_BASE_PLATFORM = 24,
	AUX_RANDOM = 25,
	AUX_EXECFN = 31,
	AUX_SYSINFO_EHDR = 33,
	PR_AUXV = 0x41555856,
};

static struct probe probe;
static char buffer[160 * 1024];
static unsigned long words[2][128];

const char *probe_getenv(const struct probe *p, const char *name)
{
	for (unsigned long i = 0; i < p->envc; i++) {
		size_t n = length(name);

		if (starts(p->envp[i], name) && p->envp[i][n] == '=')
			return p->envp[i] + n + 1;
	}
	return NULL;
}

unsigned long probe_aux(const struct probe *p, unsigned long type)
{
	for (const unsigned long *a = p->aux; *a; a += 2)
		if (*a == type)
			return a[1];
	return 0;
}

static long env_number(const struct probe *p, const char *name)
{
	const char *s = probe_getenv(p, name);

	return s ? (long)number(&s, 10) : 0;
}

static void walk(struct probe *p, const unsigned long *sp)
{
	const unsigned long *w = sp;

	p->sp = sp;
	p->argc = *w++;
	p->argv = (char **)w;
	w += p->argc + 1;
	p->envp = (char **)w;
	while (*w++)
		p->envc++;
	p->aux = w;
	do
		p->aux_words += 2;
	while (w += 2, w[-2]);
	p->page = probe_aux(p, AUX_PAGESZ);
	p->personality = (unsigned long)SC(SYS_personality, 0xffffffff, 0, 0);
	p->fixed = (p->personality & 0x40000) != 0;
	p->pid = env_number(p, "PROBE_PID");
	p->ppid = env_number(p, "PROBE_PPID");
}

static void report_arguments(const struct probe *p)
{
	line_dec(4, "argc", (long)p->argc);
	for (unsigned long i = 0; i < p->argc; i++) {
		key_n(4, "argv", i);
		out_bytes(p->argv[i], length(p->argv[i]));
		end();
	}
	key(4, "argv.end");
	out_hex((unsigned long)p->argv[p->argc]);
	end();
	line_dec(4, "envc", (long)p->envc);
	for (unsigned long i = 0; i < p->envc; i++) {
		key_n(4, "envp", i);
		if (starts(p->envp[i], "PROBE_PID="))
			out_text("PROBE_PID=*");
		else
			out_bytes(p->envp[i], length(p->envp[i]));
		end();
	}
}

/* Are the bytes at /proc/self/NAME the strings of the stack, end to end? */
static void report_strings(const struct probe *p, const char *path, const char *name, char **v,
			   unsigned long n)
{
	long got = slurp(path, buffer, sizeof(buffer));
	long at = 0;

	(void)p;
	for (unsigned long i = 0; i < n; i++) {
		for (const char *s = v[i];; s++, at++) {
			if (at >= got || buffer[at] != *s) {
				key(7, name);
				out_text("differs: ");
				out_bytes(buffer, got > 0 ? (size_t)got : 0);
				end();
				return;
			}
			if (!*s)
				break;
		}
		at++;
	}
	line_text(7, name, at == got ? "as on the stack" : "longer than on the stack");
}

static void report_place(const char *name, unsigned long from, unsigned long to)
{
	key(5, name);
	if (to < from)
		out_text("backwards");
	else
		out_dec((long)(to - from));
	end();
}

/* fs/binfmt_elf.c, create_elf_tables(), and fs/exec.c: who sits above whom */
static void report_stack(const struct probe *p)
{
	unsigned long random = probe_aux(p, AUX_RANDOM);
	unsigned long platform = probe_aux(p, AUX_PLATFORM);
	unsigned long execfn = probe_aux(p, AUX_EXECFN);
	unsigned long vector_end = (unsigned long)(p->aux + p->aux_words);
	const struct region *r = region_of(p, (unsigned long)p->sp);
	unsigned long at;

	line_hex(5, "stack.alignment", (unsigned long)p->sp & 15);
	line_text(5, "stack.mapping", r ? r->name : "unmapped");
	report_place("stack.vector-to-random", vector_end, random);
	if (platform) {
		report_place("stack.random-to-platform", random, platform);
		line_dec(5, "stack.platform-alignment",
			 (long)((platform + length((char *)platform) + 1) & 15));
	} else { /* riscv has none */
		platform = random + 16;
		line_dec(5, "stack.platform-alignment", (long)(platform & 15));
	}
	at = p->argc ? (unsigned long)p->argv[0] : p->envc ? (unsigned long)p->envp[0] : execfn;
	/* arch_align_stack(): up to 8 KiB or a page, then down to 16 bytes */
	if (p->fixed)
		report_place("stack.platform-to-strings", platform, at);
	else
		line_text(5, "stack.platform-to-strings",
			  at - platform <= (p->page < 8192 ? 8192 : p->page) + 32 ?
				  "up to the limit" :
				  "more");
	for (unsigned long i = 0; i < p->argc + p->envc; i++) {
		const char *s = i < p->argc ? p->argv[i] : p->envp[i - p->argc];

		if ((unsigned long)s != at) {
			key(5, "stack.string-not-after-previous");
			out_dec((long)i);
			end();
			at = (unsigned long)s;
		}
		at += length(s) + 1;
	}
	report_place("stack.strings-to-execfn", at, execfn);
	at = execfn + length((char *)execfn) + 1;
	report_place("stack.execfn-to-end", at, r ? r->end : 0);
	for (; r && at < r->end; at++) {
		if (*(char *)at) {
			line_text(5, "stack.end", "not zero");
			break;
		}
	}
	if (p->bare)
		line_dec(8, "stack.left-below", (long)probe_entry.below);
}

static int is_address(unsigned long type)
{
	return type == AUX_PHDR || type == AUX_BASE || type == AUX_ENTRY || type == AUX_PLATFORM ||
	       type == AUX_BASE_PLATFORM || type == AUX_RANDOM || type == AUX_EXECFN ||
	       type == AUX_SYSINFO_EHDR;
}

static void report_vector(const struct probe *p, int row, const char *name, const unsigned long *v,
			  long bytes)
{
	long n = bytes / 16;

	if (bytes < 0) {
		line_dec(row, name, bytes);
		return;
	}
	for (long i = 0; i < n; i++) {
		key_n(row, name, (unsigned long)i);
		out_text("AT_");
		out_dec((long)v[2 * i]);
		out_char(' ');
		if (is_address(v[2 * i]) && v[2 * i + 1])
			out_address(p, v[2 * i + 1]);
		else
			out_hex(v[2 * i + 1]);
		end();
	}
}

static void report_vectors(const struct probe *p)
{
	const char *s;
	long n, m;

	report_vector(p, 5, "auxv", p->aux, (long)p->aux_words * 8);
	s = (const char *)probe_aux(p, AUX_PLATFORM);
	line_text(5, "auxv.platform", s ? s : "absent");
	s = (const char *)probe_aux(p, AUX_EXECFN);
	line_text(5, "auxv.execfn", s ? s : "absent");
	n = slurp("/proc/self/auxv", (char *)words[0], sizeof(words[0]));
	report_vector(p, 6, "auxv.proc", words[0], n);
	m = SC4(SYS_prctl, PR_AUXV, words[1], sizeof(words[1]), 0);
	line_dec(6, "auxv.prctl", m);
	for (long i = 0; i < (long)p->aux_words; i++) {
		if (i < n / 8 && words[0][i] != p->aux[i])
			key_n(6, "auxv.proc-differs", (unsigned long)i), end();
		if (i < m / 8 && words[1][i] != p->aux[i])
			key_n(6, "auxv.prctl-differs", (unsigned long)i), end();
	}
}

static void report_random(const struct probe *p)
{
	const unsigned long *r = (const unsigned long *)probe_aux(p, AUX_RANDOM);

	if (!r) {
		line_text(5, "random", "absent");
		return;
	}
	line_text(5, "random",
		  r[0] && r[1] && r[0] != r[1] && !region_of(p, r[0]) && !region_of(p, r[1]) ?
			  "random" :
			  "not random");
}

/* What ld.so leaves in registers is its own business: only rdx is an ABI. */
static void report_registers(const struct probe *p)
{
	int dynamic = !p->bare && probe_aux(p, AUX_BASE) != 0;

	for (unsigned i = 0; i < PROBE_REGISTERS; i++) {
		if (dynamic && !same(probe_register_name[i], "rdx"))
			continue;
		key(10, probe_register_name[i]);
		if (region_of(p, probe_entry.reg[i]))
			out_address(p, probe_entry.reg[i]);
		else
			out_hex(probe_entry.reg[i]);
		end();
	}
	if (dynamic)
		return;
	for (unsigned i = 0; i < 512; i += 8) {
		const unsigned long *w = (const unsigned long *)(const void *)(probe_entry.fx + i);

		if (*w || i < 32) {
			key_n(10, "fxsave", i);
			out_hex(*w);
			end();
		}
	}
}

/* One line of raw addresses, for the comparison of many runs. */
static void report_layout(const struct probe *p)
{
	unsigned long exe = 0, stack = 0, vdso = probe_aux(p, AUX_SYSINFO_EHDR);
	unsigned long map, brk = (unsigned long)SC(SYS_brk, 0, 0, 0), exe_end = 0;
	const struct region *r = region_of(p, (unsigned long)&probe);
	const unsigned long *random = (const unsigned long *)probe_aux(p, AUX_RANDOM);

	for (unsigned long i = 0; r && i < p->maps; i++) {
		if (!exe && region_of(p, (unsigned long)probe_main) &&
		    same(p->map[i].name, region_of(p, (unsigned long)probe_main)->name))
			exe = p->map[i].start;
		if (same(p->map[i].name, "[stack]"))
			stack = p->map[i].end;
	}
	exe_end = r ? r->end : 0;
	map = (unsigned long)sc6(SYS_mmap, 0, 4096, 1, 0x22, -1, 0);
	out_text("exe ");
	out_hex(exe);
	out_text(" interp ");
	out_hex(probe_aux(p, AUX_BASE));
	out_text(" stack ");
	out_hex(stack);
	out_text(" sp ");
	out_hex((unsigned long)p->sp);
	out_text(" spgap ");
	out_hex(stack - (unsigned long)p->sp);
	out_text(" brk ");
	out_hex(brk);
	out_text(" brkgap ");
	out_hex(brk - exe_end);
	out_text(" vdso ");
	out_hex(vdso);
	out_text(" mmap ");
	out_hex(map);
	out_text(" random ");
	out_hex(random ? random[0] : 0);
	end();
}

static int report_to(const struct probe *p)
{
	const char *path = probe_getenv(p, "PROBE_OUT");
	long fd = 1;

	if (path)
		fd = SC4(SYS_openat, -100, path, 01 | 0100 | 02000, 0666);
	return fd < 0 ? 3 : out_flush((int)fd) ? 4 : 0;
}

int probe_main(const unsigned long *sp)
{
	struct probe *p = &probe;

#ifdef PROBE_BARE
	p->bare = 1;
#endif
	walk(p, sp);
	maps_read(p);
	if (probe_getenv(p, "PROBE_LAYOUT")) {
		report_layout(p);
		return report_to(p);
	}
	report_arguments(p);
	report_stack(p);
	report_vectors(p);
	report_random(p);
	report_strings(p, "/proc/self/cmdline", "cmdline", p->argv, p->argc);
	report_strings(p, "/proc/self/environ", "environ", p->envp, p->envc);
	report_maps(p);
	report_registers(p);
	report_process(p);
	report_memory_use(p);
	return report_to(p);
}
