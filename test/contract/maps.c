/* maps.c - the memory map, and names for addresses in it */
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

const char *probe_zone_of(unsigned long a)
{
	unsigned i = 0;

	while (a >= probe_zone[i].end && probe_zone[i].end != ~0UL)
		i++;
	return probe_zone[i].name;
}

/*
 * Gaps inside one zone are the kernel's choice and the same in every run;
 * those before the heap and the stack, and between zones, are random.
 */
static void out_gap(const struct probe *p, const struct region *before, const struct region *r)
{
	unsigned long gap = r->start - before->end;
	/* Files are laid out for larger pages than this: gaps of all kinds vary. */
	int other = !same(before->name, r->name) || (p->coarse && (!*r->name || !*before->name));

	if (!gap && !(other && p->coarse))
		out_text("adjacent");
	else if (same(r->name, "[heap]") || same(r->name, "[stack]") ||
		 same(before->name, "[stack]") || /* Linux 6.1's vDSO on x86 */
		 !same(probe_zone_of(before->start), probe_zone_of(r->start)) ||
		 (other && p->coarse))
		out_text(p->fixed ? "zone" : "random");
	else
		out_hex(gap);
}

void report_maps(struct probe *p)
{
	for (unsigned long i = 0; i < p->maps; i++) {
		const struct region *r = &p->map[i];

		key_n(8, "map", i);
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
		key_n(8, "vmflags", i);
		out_bytes(r->flags, length(r->flags));
		end();
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
