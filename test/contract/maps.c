/* maps.c - the memory map, and names for addresses in it */
#include <elf.h>

#include "probe.h"

static char text[256 * 1024];

static void copy(char *to, size_t size, const char *from, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < size - 1; i++)
		to[i] = from[i];
	to[i] = 0;
}

static size_t until(const char *s, char stop)
{
	size_t n = 0;

	while (s[n] && s[n] != stop && s[n] != '\n')
		n++;
	return n;
}

/* "START-END PERMS OFFSET DEVICE INODE   NAME" */
static void parse_region(struct region *r, const char *s)
{
	const char *file;
	size_t n;

	r->start = number(&s, 16);
	s++;
	r->end = number(&s, 16);
	s++;
	copy(r->perms, sizeof(r->perms), s, 4);
	s += 5;
	r->offset = number(&s, 16);
	s++;
	file = s;
	s += until(s, ' ') + 1;
	s += until(s, ' ');
	copy(r->file, sizeof(r->file), file, (size_t)(s - file));
	while (*s == ' ')
		s++;
	n = until(s, '\n');
	copy(r->name, sizeof(r->name), s, n);
	r->flags[0] = 0;
}

static int is_region(const char *s)
{
	number(&s, 16);
	return *s == '-';
}

void maps_read(struct probe *p)
{
	long n = slurp("/proc/self/smaps", text, sizeof(text));
	struct region *r = NULL;
	const char *s = text;

	p->maps = 0;
	if (n < 0)
		return;
	while (*s) {
		size_t len = until(s, '\n');

		if (is_region(s) && p->maps < MAX_MAPS) {
			r = &p->map[p->maps++];
			parse_region(r, s);
		} else if (r && starts(s, "VmFlags: ")) {
			copy(r->flags, sizeof(r->flags), s + 9, len - 10);
		}
		s += len + (s[len] != 0);
	}
}

const struct region *region_of(const struct probe *p, unsigned long a)
{
	for (unsigned long i = 0; i < p->maps; i++)
		if (a >= p->map[i].start && a < p->map[i].end)
			return &p->map[i];
	return NULL;
}

/* A file is named by its lowest mapping: offsets from there do not vary. */
static unsigned long base_of(const struct probe *p, const struct region *r)
{
	if (r->name[0] == '/')
		for (unsigned long i = 0; i < p->maps; i++)
			if (same(p->map[i].name, r->name))
				return p->map[i].start;
	return r->start;
}

static int out_stack_name(const struct probe *p, unsigned long a)
{
	unsigned long i;

	for (i = 0; i < p->argc; i++) {
		if (a == (unsigned long)p->argv[i]) {
			out_text("argv.");
			out_dec((long)i);
			return 1;
		}
	}
	for (i = 0; i < p->envc; i++) {
		if (a == (unsigned long)p->envp[i]) {
			out_text("envp.");
			out_dec((long)i);
			return 1;
		}
	}
	if (a == probe_aux(p, 31)) {
		out_text("execfn");
		return 1;
	}
	if (a == (unsigned long)p->sp) {
		out_text("sp");
		return 1;
	}
	return 0;
}

void out_address(const struct probe *p, unsigned long a)
{
	const struct region *r = region_of(p, a);

	if (!r)
		r = region_of(p, a - 1);
	if (!r) {
		if (a < 4096 || p->fixed) {
			out_hex(a);
			return;
		}
		out_text("unmapped");
		if (a < 0x100000000) {
			out_char(':');
			out_hex(a);
		}
		return;
	}
	if (out_stack_name(p, a))
		return;
	out_bytes(r->name[0] ? r->name : "anonymous", length(r->name[0] ? r->name : "anonymous"));
	if (same(r->name, "[stack]") && !p->fixed) {
		out_text("+?");
		return;
	}
	out_char('+');
	out_hex(a - base_of(p, r));
}

/*
 * The stack's zone begins 6 MiB below the last page that its random part can
 * reach: room for the stack's first 132 KiB and for arguments, but not for
 * mmap_base, which RLIMIT_STACK (8 MiB) and the guard keep further down
 * (mm/util.c: mmap_base()). At the page itself, one run in some thousands would
 * be on the wrong side.
 */
const char *probe_zone_of(unsigned long a)
{
	unsigned i = 0;

	while (a >= probe_zone[i].end && probe_zone[i].end != ~0UL)
		i++;
	return probe_zone[i].name;
}

/* Is it a file laid out for larger pages than these, or does the architecture
 * align it to more (PROBE_VDSO_ALIGN)?
 */
static int is_aligned(const struct probe *p, const struct region *r)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)r->start;
	const Elf64_Phdr *ph;

	if (same(r->name, "[vdso]"))
		return PROBE_VDSO_ALIGN > p->page;
	if (r->name[0] != '/' || r->offset || r->perms[0] != 'r' ||
	    !starts((const char *)r->start, ELFMAG))
		return 0;
	ph = (const Elf64_Phdr *)(r->start + eh->e_phoff);
	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_align > p->page)
			return 1;
	return 0;
}

/*
 * Where something in the mmap zone is aligned, the random bits below that
 * alignment are a gap, and what comes later fills it if it fits: who is above
 * whom, and by how much, differs from one native run to the next.
 */
static int is_loose(const struct probe *p)
{
	const char *zone = probe_zone_of(probe_aux(p, 33));

	for (unsigned long i = 0; !p->fixed && i < p->maps; i++)
		if (same(probe_zone_of(p->map[i].start), zone) && is_aligned(p, &p->map[i]))
			return 1;
	return 0;
}

/*
 * Gaps inside one zone are the kernel's choice and the same in every run;
 * those before the heap and the stack, and between zones, are random.
 */
static void out_gap(const struct probe *p, const struct region *before, const struct region *r)
{
	unsigned long gap = r->start - before->end;

	/* Linux 6.1's vDSO on x86: 0 is as good as any. */
	if (!gap && !same(before->name, "[stack]"))
		out_text("adjacent");
	else if (same(r->name, "[heap]") || same(r->name, "[stack]") ||
		 same(before->name, "[stack]") ||
		 !same(probe_zone_of(before->start), probe_zone_of(r->start)))
		out_text(p->fixed ? "zone" : "random");
	else
		out_hex(gap);
}

static void report_region(unsigned long n, const struct region *r)
{
	key_n(8, "map", n);
	out_text(r->perms);
	out_char(' ');
	out_hex(r->offset);
	out_text(" size ");
	out_hex(r->end - r->start);
	out_char(' ');
	out_text(r->file);
	out_char(' ');
	out_bytes(r->name, length(r->name));
	end();
	key_n(8, "vmflags", n);
	out_bytes(r->flags, length(r->flags));
	end();
}

/* What moves together: a file, or the vDSO with its data. */
static const char *block_of(const struct region *r)
{
	return starts(r->name, "[vvar") ? "[vdso]" : r->name;
}

static int is_before(const struct region *a, const struct region *b)
{
	const char *x = block_of(a), *y = block_of(b);

	while (*x && *x == *y)
		x++, y++;
	return *x == *y ? a->start < b->start : *x < *y;
}

static int is_alike(const struct region *a, const struct region *b)
{
	return same(a->perms, b->perms) && same(a->flags, b->flags) &&
	       same(probe_zone_of(a->start), probe_zone_of(b->start));
}

/* Neighbours without a name are one or several: their sum is the same. */
static void report_anonymous(const struct region *r, const struct region *end_of_all,
			     unsigned long n)
{
	unsigned long size = 0;

	for (const struct region *other = r; other < end_of_all; other++)
		if (!*other->name && is_alike(r, other))
			size += other->end - other->start;
	key_n(8, "anonymous", n);
	out_text(r->perms);
	out_text(" size ");
	out_hex(size);
	out_char(' ');
	out_bytes(r->flags, length(r->flags));
	end();
	key_n(9, "anonymous", n);
	out_text(probe_zone_of(r->start));
	end();
}

/* Block by block, in the order of their names; the order of places and their
 * distances are for the test of many runs (report_layout()).
 */
static void report_loose(struct probe *p)
{
	const struct region *last = p->map + p->maps, *before = NULL;
	unsigned long n = 0, anonymous = 0;

	for (struct region *r = p->map + 1; r < last; r++) {
		const struct region moved = *r;
		struct region *to = r;

		for (; to > p->map && is_before(&moved, to - 1); to--)
			*to = to[-1];
		*to = moved;
	}
	for (const struct region *r = p->map; r < last; r++) {
		const struct region *first = p->map;

		if (*r->name) {
			report_region(n, r);
			key_n(9, "zone", n++);
			out_text(probe_zone_of(r->start));
			if (before && same(block_of(before), block_of(r))) {
				out_text(" after ");
				out_gap(p, before, r);
			}
			end();
			before = r;
			continue;
		}
		while (!is_alike(first, r) || *first->name)
			first++;
		if (first == r)
			report_anonymous(r, last, anonymous++);
	}
}

void report_maps(struct probe *p)
{
	if (is_loose(p)) {
		report_loose(p);
		maps_read(p);
		return;
	}
	for (unsigned long i = 0; i < p->maps; i++) {
		const struct region *r = &p->map[i];

		report_region(i, r);
		key_n(9, "zone", i);
		out_text(probe_zone_of(r->start));
		if (p->fixed) {
			out_char(' ');
			out_hex(r->start);
		}
		if (i) {
			out_text(" after ");
			out_gap(p, r - 1, r);
		}
		end();
	}
	line_dec(8, "maps", (long)p->maps);
}
