/*
 * ELF headers to plan, against a model of fs/binfmt_elf.c (Linux 6.12 and up)
 *
 * The model is written after the kernel's text and works as the kernel does:
 * it carries out each mmap, padzero and brk of elf_load() on a page table.
 * The plan is carried out on another one; both must end up the same.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

#include "arch.h"
#include "elf_plan.h"
#include "unit.h"

static const uint64_t page_sizes[] = { 4096, 16384, 65536 };

/* TASK_SIZE of x86_64, and of arm64 with larger pages. */
static uint64_t task_size(uint64_t page_size)
{
	return page_size == 4096 ? 0x7ffffffff000UL : 1UL << 48;
}

/* ---- the kernel's loader, on a page table of WINDOW pages ---------------- */

enum { WINDOW = 160, LOADS_MAX = 12 };

struct page {
	enum { NOTHING, FILE_PAGE, ANONYMOUS } kind;
	int prot;
	uint64_t offset;    /* in the file */
	uint64_t zero_from; /* first byte cleared after mapping; page size: none */
};

struct space {
	uint64_t page_size;
	uint64_t limit; /* no segment may end above */
	bool outside;   /* something was mapped that the table does not hold */
	struct page page[WINDOW];
};

struct model {
	bool dies;
	struct space space;
	uint64_t start_code, end_code, start_data, end_data, brk, phdr;
	uint64_t min, max, align;
	bool loads;
};

static uint64_t down(const struct space *s, uint64_t at)
{
	return at / s->page_size * s->page_size;
}

static uint64_t up(const struct space *s, uint64_t at)
{
	return down(s, at + s->page_size - 1);
}

static bool outside_task(const struct space *s, uint64_t at, uint64_t size)
{
	return size > task_size(s->page_size) || at > s->limit - size;
}

static void set_pages(struct space *s, uint64_t at, uint64_t size, int kind, int prot,
		      uint64_t offset)
{
	uint64_t first = at / s->page_size, count = size / s->page_size;

	if (first + count > WINDOW) {
		s->outside = true;
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		s->page[first + i] = (struct page){
			.kind = kind,
			.prot = prot,
			.offset = kind == FILE_PAGE ? offset + i * s->page_size : 0,
			.zero_from = s->page_size,
		};
}

/* vm_mmap() with a fixed address, file_mmap_ok() for s_maxbytes 2^63 - 1. */
static bool model_mmap(struct space *s, uint64_t at, uint64_t size, int prot, uint64_t offset)
{
	if (offset % s->page_size || offset + size < offset)
		return false;
	if (outside_task(s, at, size))
		return false;
	if (size > INT64_MAX || offset > INT64_MAX - size)
		return false;
	set_pages(s, at, size, FILE_PAGE, prot, offset);
	return true;
}

/* padzero(): false where clear_user() would fault. */
static bool model_padzero(struct space *s, const struct elf_file *f, uint64_t at, uint64_t offset,
			  int prot)
{
	if (at % s->page_size == 0)
		return true;
	if (!(prot & PROT_WRITE) || down(s, offset) >= f->size)
		return false;
	if (at / s->page_size < WINDOW)
		s->page[at / s->page_size].zero_from = at % s->page_size;
	return true;
}

static bool model_brk(struct space *s, uint64_t from, uint64_t to, int prot)
{
	uint64_t at = up(s, from), size = up(s, to) - at;

	if (!size)
		return true;
	if (outside_task(s, at, size))
		return false;
	set_pages(s, at, size, ANONYMOUS, PROT_READ | PROT_WRITE | (prot & PROT_EXEC), 0);
	return true;
}

static bool model_elf_load(struct space *s, const struct elf_file *f, const Elf64_Phdr *ph)
{
	uint64_t at = down(s, ph->p_vaddr), in_page = ph->p_vaddr - at;
	uint64_t zero_start = at, zero_end = ph->p_vaddr + ph->p_memsz;
	int prot = (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
		   (ph->p_flags & PF_X ? PROT_EXEC : 0);

	if (ph->p_filesz) {
		uint64_t size = up(s, ph->p_filesz + in_page);

		if (size && !model_mmap(s, at, size, prot, ph->p_offset - in_page))
			return false;
		zero_start = ph->p_vaddr + ph->p_filesz;
		if (ph->p_memsz > ph->p_filesz &&
		    !model_padzero(s, f, zero_start, ph->p_offset + ph->p_filesz, prot) &&
		    (prot & PROT_WRITE))
			return false;
	}
	if (ph->p_memsz > ph->p_filesz)
		return model_brk(s, zero_start, zero_end, prot);
	return true;
}

/* The check that follows elf_load(): "set_brk can never work". */
static bool model_bounds(const struct space *s, const Elf64_Phdr *ph)
{
	return ph->p_vaddr < s->limit && ph->p_filesz <= ph->p_memsz &&
	       ph->p_memsz <= task_size(s->page_size) - ph->p_vaddr % s->page_size &&
	       s->limit - ph->p_memsz >= ph->p_vaddr;
}

static void model_extents(struct model *m, const struct elf_file *f, const Elf64_Phdr *ph)
{
	uint64_t k = ph->p_vaddr, phoff = f->header.e_phoff;

	if (ph->p_offset <= phoff && phoff < ph->p_offset + ph->p_filesz)
		m->phdr = phoff - ph->p_offset + ph->p_vaddr;
	if ((ph->p_flags & PF_X) && k < m->start_code)
		m->start_code = k;
	if (m->start_data < k)
		m->start_data = k;
	k = ph->p_vaddr + ph->p_filesz;
	if ((ph->p_flags & PF_X) && m->end_code < k)
		m->end_code = k;
	if (m->end_data < k)
		m->end_data = k;
	k = ph->p_vaddr + ph->p_memsz;
	if (k > m->brk)
		m->brk = k;
}

/* total_mapping_size() and maximum_alignment(). */
static void model_totals(struct model *m, const struct elf_file *f)
{
	for (unsigned int i = 0; i < f->header.e_phnum; i++) {
		const Elf64_Phdr *ph = &f->phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		m->loads = true;
		if (down(&m->space, ph->p_vaddr) < m->min)
			m->min = down(&m->space, ph->p_vaddr);
		if (ph->p_vaddr + ph->p_memsz > m->max)
			m->max = ph->p_vaddr + ph->p_memsz;
		if (__builtin_popcountll(ph->p_align) == 1 && ph->p_align > m->align)
			m->align = ph->p_align;
	}
	m->align = up(&m->space, m->align);
}

/* elf_map() maps the whole span from the first segment's offset on. */
static bool model_reserve(const struct model *m, const struct elf_file *f)
{
	uint64_t size = up(&m->space, m->max - m->min);

	if (size > task_size(m->space.page_size))
		return false;
	for (unsigned int i = 0; i < f->header.e_phnum; i++) {
		const Elf64_Phdr *ph = &f->phdr[i];

		if (ph->p_type == PT_LOAD)
			return !ph->p_filesz || down(&m->space, ph->p_offset) <= INT64_MAX - size;
	}
	return true;
}

static void model_run(struct model *m, const struct elf_file *f, enum elf_role role,
		      uint64_t page_size)
{
	*m = (struct model){ .space.page_size = page_size,
			     .start_code = UINT64_MAX,
			     .min = UINT64_MAX };
	/* load_elf_interp() checks the biased address, which is at least what
	 * p_vaddr has within its page. (The plan refuses the very last page.)
	 */
	m->space.limit = role == ELF_INTERP && f->header.e_type == ET_DYN ? -page_size :
									    task_size(page_size);
	model_totals(m, f);
	if ((f->header.e_type == ET_DYN || role == ELF_INTERP) &&
	    (m->max == m->min || !model_reserve(m, f)))
		m->dies = true;
	for (unsigned int i = 0; i < f->header.e_phnum && !m->dies; i++) {
		const Elf64_Phdr *ph = &f->phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (!model_elf_load(&m->space, f, ph) || !model_bounds(&m->space, ph))
			m->dies = true;
		else
			model_extents(m, f, ph);
	}
	if (!m->loads)
		m->dies = true;
}

/* ---- the plan, on another page table ------------------------------------- */

/* Also checks what elf_segment() promises of its parts. */
static void apply_segment(struct space *s, const Elf64_Phdr *ph)
{
	struct elf_segment seg;
	uint64_t file_end, clear_end;

	elf_segment(ph, s->page_size, &seg);
	assert_int_equal(seg.at % s->page_size, 0);
	assert_int_equal(seg.size % s->page_size, 0);
	assert_int_equal(seg.anon_size % s->page_size, 0);
	if (seg.size) {
		assert_int_equal(seg.offset % s->page_size, 0);
		set_pages(s, seg.at, seg.size, FILE_PAGE, seg.prot, seg.offset);
	}
	file_end = seg.at + seg.size;
	clear_end = seg.clear_at + seg.clear_size;
	if (seg.clear_size) {
		assert_int_equal(clear_end, file_end);
		assert_true(seg.clear_size < s->page_size);
		if (seg.clear_at / s->page_size < WINDOW)
			s->page[seg.clear_at / s->page_size].zero_from =
				seg.clear_at % s->page_size;
	}
	if (seg.anon_size) {
		assert_int_equal(seg.anon_at, file_end);
		set_pages(s, seg.anon_at, seg.anon_size, ANONYMOUS, seg.anon_prot, 0);
	}
}

static void print_headers(const struct elf_file *f, uint64_t page_size)
{
	fprintf(stderr, "page size %lu, file size %#lx, e_phoff %#lx, e_type %d\n",
		(unsigned long)page_size, (unsigned long)f->size, (unsigned long)f->header.e_phoff,
		f->header.e_type);
	for (unsigned int i = 0; i < f->header.e_phnum; i++)
		fprintf(stderr,
			"type %#x flags %u offset %#lx vaddr %#lx filesz %#lx memsz %#lx align %#lx\n",
			f->phdr[i].p_type, f->phdr[i].p_flags, (unsigned long)f->phdr[i].p_offset,
			(unsigned long)f->phdr[i].p_vaddr, (unsigned long)f->phdr[i].p_filesz,
			(unsigned long)f->phdr[i].p_memsz, (unsigned long)f->phdr[i].p_align);
}

/* No page in [from, to) outside of what SPACE holds mapped. */
static bool has_hole(const struct space *s, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at += s->page_size)
		if (s->page[at / s->page_size].kind == NOTHING)
			return true;
	return false;
}

/* Pages that are mapped twice, counted per segment on a table of its own. */
static bool has_overlap(const struct elf_file *f, uint64_t page_size)
{
	bool used[WINDOW] = { false };

	for (unsigned int i = 0; i < f->header.e_phnum; i++) {
		struct space one = { .page_size = page_size };

		if (f->phdr[i].p_type != PT_LOAD)
			continue;
		apply_segment(&one, &f->phdr[i]);
		for (unsigned int n = 0; n < WINDOW; n++) {
			if (one.page[n].kind == NOTHING)
				continue;
			if (used[n])
				return true;
			used[n] = true;
		}
	}
	return false;
}

static void check_pages(const struct elf_file *f, const struct elf_plan *p, const struct model *m)
{
	struct space s = { .page_size = m->space.page_size };

	for (unsigned int i = 0; i < f->header.e_phnum; i++)
		if (f->phdr[i].p_type == PT_LOAD)
			apply_segment(&s, &f->phdr[i]);
	assert_int_equal(s.outside, m->space.outside);
	if (s.outside)
		return;
	for (unsigned int i = 0; i < WINDOW; i++) {
		const struct page *want = &m->space.page[i], *have = &s.page[i];
		uint64_t at = i * s.page_size;

		assert_int_equal(have->kind, want->kind);
		if (have->kind == NOTHING)
			continue;
		assert_int_equal(have->prot, want->prot);
		assert_int_equal(have->offset, want->offset);
		assert_int_equal(have->zero_from, want->zero_from);
		assert_true(at >= p->low && at < p->high);
	}
	if (p->first + p->span <= WINDOW * s.page_size &&
	    has_hole(&s, p->first, p->first + p->span))
		assert_true(p->holes);
	if (has_overlap(f, s.page_size))
		assert_true(p->overlaps);
}

/* Plan F and compare with the model; returns whether it was accepted. */
static bool check_against_model(const struct elf_file *f, enum elf_role role, uint64_t page_size)
{
	struct elf_plan p;
	struct model m;
	const char *why = NULL;
	int error = elf_plan(f, role, page_size, task_size(page_size), &p, &why);

	model_run(&m, f, role, page_size);
	if (m.dies != (error != 0)) {
		print_headers(f, page_size);
		fail_msg("execve %s, the plan says %s", m.dies ? "kills" : "runs",
			 error ? why : "yes");
	}
	assert_true(!error || why);
	if (error)
		return false;
	assert_int_equal(p.start_code, m.start_code);
	assert_int_equal(p.end_code, m.end_code);
	assert_int_equal(p.start_data, m.start_data);
	assert_int_equal(p.end_data, m.end_data);
	assert_int_equal(p.brk, m.brk);
	assert_int_equal(p.phdr, m.phdr);
	assert_int_equal(p.low, m.min);
	assert_int_equal(p.span, up(&m.space, m.max - m.min));
	assert_int_equal(p.align, m.align);
	assert_int_equal(p.entry, f->header.e_entry);
	assert_int_equal(p.fixed, f->header.e_type == ET_EXEC);
	check_pages(f, &p, &m);
	return true;
}

/* ---- random headers ------------------------------------------------------ */

static uint64_t edge(uint64_t *state, uint64_t page_size)
{
	const uint64_t task = task_size(page_size);
	const uint64_t edges[] = {
		0,
		1,
		page_size - 1,
		page_size,
		page_size + 1,
		task - 65536 - page_size,
		task - page_size,
		task - page_size + 1,
		task - 1,
		task,
		task + 1,
		1UL << 47,
		INT64_MAX - task,
		INT64_MAX - 65536 * 2 + 1,
		INT64_MAX - page_size + 1,
		INT64_MAX,
		1UL << 63,
		UINT64_MAX - page_size + 1,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	return edges[random_below(state, COUNT(edges))];
}

static uint64_t some_align(uint64_t *state, uint64_t page_size)
{
	const uint64_t aligns[] = { 0,       1,    3,         16,        4096,      page_size,
				    1 << 21, 6144, 1UL << 46, 1UL << 47, 1UL << 63, UINT64_MAX };

	return aligns[random_below(state, COUNT(aligns))];
}

static uint64_t some_size(uint64_t *state, uint64_t page_size)
{
	switch (random_below(state, 4)) {
	case 0: return 0;
	case 1: return random_below(state, 5) * page_size;
	case 2: return random_below(state, 100);
	default: return random_below(state, 4 * page_size);
	}
}

static void random_phdr(uint64_t *state, uint64_t page_size, Elf64_Phdr *ph)
{
	uint64_t in_page = one_in(state, 2) ? 0 : random_below(state, page_size);
	uint64_t *const fields[] = { &ph->p_vaddr, &ph->p_offset, &ph->p_filesz, &ph->p_memsz };

	*ph = (Elf64_Phdr){
		.p_type = one_in(state, 8) ? PT_NOTE : PT_LOAD,
		.p_flags = (uint32_t)random_below(state, 16),
		.p_vaddr = random_below(state, 40) * page_size + in_page,
		.p_offset = random_below(state, 8) * page_size + in_page,
		.p_filesz = some_size(state, page_size),
		.p_align = some_align(state, page_size),
	};
	ph->p_memsz = ph->p_filesz + some_size(state, page_size);
	for (unsigned int i = 0; i < COUNT(fields); i++)
		if (one_in(state, 60))
			*fields[i] = edge(state, page_size);
	/* Congruent edges are worth more than those that fall over that. */
	if (one_in(state, 2))
		ph->p_offset = (ph->p_offset & ~(page_size - 1)) | (ph->p_vaddr & (page_size - 1));
}

static void plans_match_the_kernel_on_random_headers(void **unused)
{
	uint64_t state = 20251203;
	unsigned int accepted = 0, rounds = 60000;

	(void)unused;
	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t page_size = page_sizes[i % COUNT(page_sizes)];
		Elf64_Phdr phdr[LOADS_MAX];
		struct elf_file f = { .phdr = phdr, .size = random_below(&state, 14 * page_size) };
		unsigned int n = 1 + (unsigned int)random_below(&state, LOADS_MAX);

		if (one_in(&state, 2))
			n = 1 + n / 4;
		f.header.e_type = one_in(&state, 2) ? ET_EXEC : ET_DYN;
		f.header.e_phnum = (Elf64_Half)n;
		f.header.e_phoff = random_below(&state, 2 * page_size);
		f.header.e_entry = next_random(&state);
		for (unsigned int k = 0; k < n; k++)
			random_phdr(&state, page_size, &phdr[k]);
		accepted += check_against_model(&f, one_in(&state, 4) ? ELF_INTERP : ELF_PROGRAM,
						page_size);
	}
	/* Neither outcome may be so rare that it goes untested. */
	assert_true(accepted > rounds / 8);
	assert_true(accepted < rounds - rounds / 8);
}

/* ---- single segments at their limits ------------------------------------- */

#define LOAD(flags, offset, vaddr, filesz, memsz, align)                   \
	{                                                                  \
		PT_LOAD, flags, offset, vaddr, vaddr, filesz, memsz, align \
	}

static bool accepts(const Elf64_Phdr *phdr, size_t count, unsigned int type, uint64_t file_size,
		    uint64_t page_size)
{
	struct elf_file f = { .phdr = phdr, .size = file_size };

	f.header.e_type = (Elf64_Half)type;
	f.header.e_phnum = (Elf64_Half)count;
	f.header.e_phoff = 64;
	return check_against_model(&f, ELF_PROGRAM, page_size);
}

static void segments_at_their_limits(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < COUNT(page_sizes); i++) {
		const uint64_t p = page_sizes[i], task = task_size(p);
		const struct {
			Elf64_Phdr phdr;
			bool runs;
		} cases[] = {
			{ LOAD(5, 0, p, p, p, p), true },
			{ LOAD(5, 0, p, p + 1, p, p), false }, /* filesz > memsz */
			{ LOAD(5, 0, p, 1, 0, p), false },
			{ LOAD(6, 0, p, 0, 5 * p, p), true }, /* all bss */
			{ LOAD(6, 5, p, 0, 5 * p, p), true }, /* its offset is void */
			{ LOAD(0, 0, p, p, p, p), true },     /* PROT_NONE */
			{ LOAD(1, 0, p, p, p, p), true },
			{ LOAD(6, 0, p, 100, 100, p), true },
			{ LOAD(6, 0, p, 100, 200, p), true }, /* bss in one page */
			{ LOAD(4, 0, p, 100, 3 * p, p), true },
			{ LOAD(6, 1, p, 100, 100, p), false }, /* not congruent */
			{ LOAD(6, 0, p + 1, 100, 100, p), false },
			{ LOAD(6, 1, p + 1, 100, 100, p), true },
			{ LOAD(6, p / 2, p + p / 2, p, p, p), true },
			{ LOAD(6, 1UL << 63, p, p, p, p), false },
			{ LOAD(6, UINT64_MAX - p + 1, p, p, p, p), false },
			{ LOAD(5, 1UL << 40, p, p, p, p), true }, /* beyond the end */
			{ LOAD(5, INT64_MAX - p + 1, p, p, p, p), false },
			{ LOAD(5, INT64_MAX - 2 * p + 1, p, p, p, p), true },
			{ LOAD(6, 1UL << 40, p, 100, 200, p), false },
			{ LOAD(4, 1UL << 40, p, 100, 200, p), true },
			{ LOAD(6, 16 * p, p, 100, 200, p), false }, /* the file ends there */
			{ LOAD(6, 15 * p, p, 100, 200, p), true },
			{ LOAD(6, 1UL << 40, p, p, 3 * p, p), true },
			{ LOAD(5, 0, task - p, p, p, p), true },
			{ LOAD(5, 0, task - p, p, p + 1, p), false },
			{ LOAD(5, 0, task, 0, 0, p), false },
			{ LOAD(5, 0, task - p, 0, 0, p), true },
			{ LOAD(5, 0, UINT64_MAX - p + 1, p, p, p), false },
			{ LOAD(5, 0, p, 0, task - p, p), true },
			{ LOAD(5, 0, p, 0, task, p), false },
			{ LOAD(5, 0, p, 0, UINT64_MAX, p), false },
			{ LOAD(5, 0, p, UINT64_MAX, UINT64_MAX, p), false },
			{ LOAD(5, 0, 0, p, p, p), true },
		};

		for (unsigned int k = 0; k < COUNT(cases); k++)
			if (accepts(&cases[k].phdr, 1, ET_EXEC, 16 * p, p) != cases[k].runs)
				fail_msg("page size %lu, case %u: should %s", (unsigned long)p, k,
					 cases[k].runs ? "run" : "be refused");
	}
}

static void segments_overlap_and_leave_gaps(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < COUNT(page_sizes); i++) {
		const uint64_t p = page_sizes[i];
		const Elf64_Phdr cases[][3] = {
			/* file over bss, bss over file, the same twice */
			{ LOAD(6, 0, 0, p, 4 * p, p), LOAD(5, 0, p, p, p, p),
			  LOAD(4, p, 2 * p, p, p, p) },
			{ LOAD(5, 0, 0, 4 * p, 4 * p, p), LOAD(6, 0, p, 0, p, p),
			  LOAD(6, 7, 2 * p + 7, 9, 3 * p, p) },
			{ LOAD(5, 0, 0, p, p, p), LOAD(5, 0, 0, p, p, p), LOAD(6, 0, 0, 1, 2, p) },
			/* ascending with gaps, descending, around the first */
			{ LOAD(5, 0, 0, p, p, p), LOAD(6, 0, 9 * p, p, p, p),
			  LOAD(4, 0, 30 * p, 1, 1, p) },
			{ LOAD(5, 0, 30 * p, p, p, p), LOAD(6, 0, 9 * p, p, p, p),
			  LOAD(4, 0, 0, 1, 1, p) },
			{ LOAD(5, 0, 9 * p, p, p, p), LOAD(6, 0, 8 * p, p, p, p),
			  LOAD(4, 0, 10 * p, 1, 1, p) },
			/* two segments that share a page, as 4K files at 64K do */
			{ LOAD(5, 0, 0, 0x1000, 0x1000, p),
			  LOAD(6, 0x1000, 0x1000, 0x800, 0x900, p),
			  LOAD(4, 0x1900 % p, 0x1900, 1, 1, p) },
			/* nothing mapped, but it counts for the extents */
			{ LOAD(5, 0, p, p, p, p), LOAD(6, 3, 3 * p, 0, 0, p),
			  LOAD(4, 0, 0, 0, 0, p) },
		};

		for (unsigned int k = 0; k < COUNT(cases); k++) {
			assert_true(accepts(cases[k], 3, ET_EXEC, 16 * p, p));
			assert_true(accepts(cases[k], 3, ET_DYN, 16 * p, p));
		}
	}
}

static void nothing_to_load(void **unused)
{
	const Elf64_Phdr note = { PT_NOTE, 4, 0, 0, 0, 0, 0, 0 };
	const Elf64_Phdr empty = LOAD(5, 0, 0x5000, 0, 0, 0x1000);
	struct elf_file f = { .phdr = &empty, .header.e_phnum = 1 };

	(void)unused;
	assert_false(accepts(&note, 1, ET_EXEC, 100, 4096));
	assert_false(accepts(&note, 1, ET_DYN, 100, 4096));
	/* total_mapping_size() is asked for of these only. */
	assert_true(accepts(&empty, 1, ET_EXEC, 100, 4096));
	assert_false(accepts(&empty, 1, ET_DYN, 100, 4096));
	f.header.e_type = ET_EXEC;
	assert_false(check_against_model(&f, ELF_INTERP, 4096));
}

/* An interp's addresses count relative to the first one only. */
static void interps_linked_anywhere(void **unused)
{
	const uint64_t at[] = { 0, 1UL << 47, 1UL << 63, 0xffffffff80000000 };

	(void)unused;
	for (unsigned int i = 0; i < COUNT(at); i++) {
		const Elf64_Phdr phdr[] = {
			LOAD(5, 0, at[i], 0x1000, 0x1000, 0x1000),
			LOAD(6, 0, at[i] + 0x3000, 0x800, 0x5000, 0x1000),
		};
		struct elf_file f = { .phdr = phdr, .size = 0x1000 };

		f.header.e_phnum = 2;
		f.header.e_type = ET_DYN;
		assert_true(check_against_model(&f, ELF_INTERP, 4096));
		assert_int_equal(check_against_model(&f, ELF_PROGRAM, 4096), !at[i]);
		f.header.e_type = ET_EXEC;
		assert_int_equal(check_against_model(&f, ELF_INTERP, 4096), !at[i]);
	}
}

/* ---- single fields of the plan ------------------------------------------- */

static int plan_of(const Elf64_Phdr *phdr, size_t count, unsigned int type, enum elf_role role,
		   struct elf_plan *p)
{
	struct elf_file f = { .phdr = phdr, .size = 0x10000 };
	const char *why = NULL;
	int error;

	f.header.e_type = (Elf64_Half)type;
	f.header.e_phnum = (Elf64_Half)count;
	f.header.e_phoff = 64;
	error = elf_plan(&f, role, 4096, task_size(4096), p, &why);
	assert_true(!error == !why);
	return error;
}

static void stack_flags(void **unused)
{
	const Elf64_Phdr load = LOAD(5, 0, 0, 4096, 4096, 4096);
	struct elf_plan p;

	(void)unused;
	assert_int_equal(plan_of(&load, 1, ET_DYN, ELF_PROGRAM, &p), 0);
	assert_false(p.exec_stack_set);
	for (uint32_t first = 0; first < 8; first++)
		for (uint32_t last = 0; last < 8; last++) {
			const Elf64_Phdr phdr[] = {
				{ PT_GNU_STACK, first, 1, 2, 3, 4, 5, 6 },
				LOAD(5, 0, 0, 4096, 4096, 4096),
				{ PT_GNU_STACK, last, UINT64_MAX, 0, 0, UINT64_MAX, 0, 0 },
			};

			assert_int_equal(plan_of(phdr, 3, ET_DYN, ELF_PROGRAM, &p), 0);
			assert_true(p.exec_stack_set);
			assert_int_equal(p.exec_stack, last & PF_X ? 1 : 0);
		}
}

static void interp_headers(void **unused)
{
	const struct {
		uint64_t offset, size;
		int error;
	} cases[] = {
		{ 0x200, 0, ENOEXEC },
		{ 0x200, 1, ENOEXEC },
		{ 0x200, 2, 0 },
		{ 0x200, PATH_MAX, 0 },
		{ 0x200, PATH_MAX + 1, ENOEXEC },
		{ 0x200, UINT64_MAX, ENOEXEC },
		{ 1UL << 63, 20, EINVAL },
		{ UINT64_MAX, 20, EINVAL },
		{ UINT64_MAX, 1, ENOEXEC },
		{ INT64_MAX, 20, 0 },
		{ 1UL << 40, 20, 0 },
	};
	struct elf_plan p;

	(void)unused;
	for (unsigned int i = 0; i < COUNT(cases); i++) {
		Elf64_Phdr phdr[] = {
			LOAD(5, 0, 0, 4096, 4096, 4096),
			{ PT_INTERP, 4, cases[i].offset, 0, 0, cases[i].size, 0, 1 },
			/* A second one is never looked at. */
			{ PT_INTERP, 4, UINT64_MAX, 0, 0, 0, 0, 1 },
		};

		assert_int_equal(plan_of(phdr, 3, ET_DYN, ELF_PROGRAM, &p), cases[i].error);
		if (!cases[i].error) {
			assert_true(p.has_interp);
			assert_int_equal(p.interp_at, cases[i].offset);
			assert_int_equal(p.interp_size, cases[i].size);
		}
		/* An interp's own is ignored, whatever it says. */
		assert_int_equal(plan_of(phdr, 3, ET_DYN, ELF_INTERP, &p), 0);
		assert_false(p.has_interp);
	}
}

static void interp_strings(void **unused)
{
	const char *why;

	(void)unused;
	for (size_t size = 2; size <= PATH_MAX; size += size < 64 ? 1 : 63) {
		char *path = malloc(size);

		assert_non_null(path);
		memset(path, 'x', size);
		assert_int_equal(elf_check_interp(path, size, &why), ENOEXEC);
		path[0] = '\0';
		assert_int_equal(elf_check_interp(path, size, &why), ENOEXEC);
		path[size - 1] = '\0';
		assert_int_equal(elf_check_interp(path, size, &why), 0);
		memset(path, 'x', size - 1);
		assert_int_equal(elf_check_interp(path, size, &why), 0);
		free(path);
	}
}

static void assert_same_extents(const struct elf_plan *a, const struct elf_plan *b)
{
	assert_int_equal(a->has_interp, b->has_interp);
	assert_int_equal(a->exec_stack_set, b->exec_stack_set);
	assert_int_equal(a->overlaps, b->overlaps);
	assert_int_equal(a->holes, b->holes);
	assert_int_equal(a->first, b->first);
	assert_int_equal(a->span, b->span);
	assert_int_equal(a->low, b->low);
	assert_int_equal(a->high, b->high);
	assert_int_equal(a->align, b->align);
	assert_int_equal(a->phdr, b->phdr);
	assert_int_equal(a->start_code, b->start_code);
	assert_int_equal(a->end_code, b->end_code);
	assert_int_equal(a->start_data, b->start_data);
	assert_int_equal(a->end_data, b->end_data);
	assert_int_equal(a->brk, b->brk);
}

/* TLS, NOTE, PROPERTY, RELRO and unknown types are not looked into. */
static void other_headers_are_not_validated(void **unused)
{
	const uint32_t types[] = { PT_NULL,         PT_DYNAMIC, PT_NOTE,         PT_SHLIB,
				   PT_PHDR,         PT_TLS,     PT_GNU_EH_FRAME, PT_GNU_RELRO,
				   PT_GNU_PROPERTY, 0x12345678, 0x7fffffff,      UINT32_MAX };
	const uint64_t values[] = { 0, 1, UINT64_MAX, 1UL << 63 };
	struct elf_plan p, plain;
	const Elf64_Phdr load = LOAD(5, 0, 0x1000, 4096, 4096, 4096);

	(void)unused;
	assert_int_equal(plan_of(&load, 1, ET_DYN, ELF_PROGRAM, &plain), 0);
	for (unsigned int i = 0; i < COUNT(types); i++)
		for (unsigned int k = 0; k < COUNT(values); k++) {
			const uint64_t v = values[k];
			const Elf64_Phdr phdr[] = {
				{ types[i], (uint32_t)v, v, v, v, v, v, v },
				load,
				{ types[i], (uint32_t)v, v, v, v, v, v, v },
			};

			assert_int_equal(plan_of(phdr, 3, ET_DYN, ELF_PROGRAM, &p), 0);
			/* The last property wins. */
			assert_ptr_equal(p.property, types[i] == PT_GNU_PROPERTY ? &phdr[2] : NULL);
			assert_same_extents(&p, &plain);
		}
}

static void program_header_address(void **unused)
{
	struct elf_plan p;
	Elf64_Phdr phdr[] = {
		LOAD(5, 0x1000, 0x1000, 0x1000, 0x1000, 4096),
		LOAD(5, 0, 0x8000, 65, 65, 4096),
		{ PT_PHDR, 4, 0x40, 0x12345, 0, 56, 56, 8 },
	};

	(void)unused;
	assert_int_equal(plan_of(phdr, 3, ET_EXEC, ELF_PROGRAM, &p), 0);
	assert_true(p.has_phdr);
	assert_int_equal(p.phdr, 0x8040);
	/* Bytes in memory that are not in the file do not count. */
	phdr[1].p_filesz = 64;
	assert_int_equal(plan_of(phdr, 3, ET_EXEC, ELF_PROGRAM, &p), 0);
	assert_false(p.has_phdr);
	assert_int_equal(p.phdr, 0);
	/* Of two that have them, the later. */
	phdr[1].p_filesz = 65;
	phdr[0].p_offset = 0;
	assert_int_equal(plan_of(phdr, 3, ET_EXEC, ELF_PROGRAM, &p), 0);
	assert_int_equal(p.phdr, 0x8040);
}

/* load_elf_binary(): load_bias &= ~(alignment - 1), then - vaddr, then down
 * to a page; elf_map() adds vaddr and goes down to a page again.
 */
static void place_follows_the_kernel(void **unused)
{
	uint64_t state = 42;

	(void)unused;
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t page = page_sizes[i % 3], bias, align, base, vaddr;
		Elf64_Phdr ph = LOAD(5, 0, 0, 0x800, 0x800, 0);
		struct elf_file f = { .phdr = &ph, .size = 0x10000 };
		struct elf_plan p;
		const char *why;

		vaddr = random_below(&state, 1UL << 46);
		if (one_in(&state, 2))
			vaddr &= ~(page - 1);
		ph.p_vaddr = vaddr;
		ph.p_offset = vaddr & (page - 1);
		ph.p_align = some_align(&state, page);
		f.header.e_type = ET_DYN;
		f.header.e_phnum = 1;
		assert_int_equal(elf_plan(&f, ELF_PROGRAM, page, task_size(page), &p, &why), 0);

		base = task_size(page) / 3 * 2 + random_below(&state, 1 << 28) * page;
		align = ph.p_align & (ph.p_align - 1) ? 0 : ph.p_align;
		align = (align + page - 1) & -page;
		bias = align ? base & -align : base;
		bias = (bias - vaddr) & -page;
		assert_int_equal(elf_place(&p, base, page), (bias + vaddr) & -page);
	}
}

/* ---- the file's header --------------------------------------------------- */

static Elf64_Ehdr good_header(void)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 } };

	h.e_type = ET_DYN;
	h.e_machine = ARCH_MACHINE;
	h.e_phentsize = sizeof(Elf64_Phdr);
	h.e_phnum = 1;
	h.e_phoff = 64;
	return h;
}

static int check_header(const Elf64_Ehdr *h, size_t size, uint64_t file_size, enum elf_role role)
{
	struct elf_file f;
	size_t table = 0;
	const char *why = NULL;
	void *bytes = exact_copy(h, size);
	int error = elf_check_header(bytes, size, file_size, role, &f, &table, &why);

	free(bytes);
	assert_true(!error == !why);
	if (!error) {
		assert_int_equal(table, f.header.e_phnum * sizeof(Elf64_Phdr));
		assert_int_equal(f.size, file_size);
	}
	return error;
}

static void expect_header(const Elf64_Ehdr *h, uint64_t file_size, bool good)
{
	assert_int_equal(check_header(h, 64, file_size, ELF_PROGRAM), good ? 0 : ENOEXEC);
	assert_int_equal(check_header(h, 64, file_size, ELF_INTERP), good ? 0 : ELIBBAD);
}

static void header_fields_that_count(void **unused)
{
	Elf64_Ehdr h;

	(void)unused;
	h = good_header();
	expect_header(&h, 4096, true);
	for (unsigned int i = 0; i < 4; i++) {
		h = good_header();
		h.e_ident[i] ^= 0x20;
		expect_header(&h, 4096, false);
	}
	for (unsigned int type = 0; type <= UINT16_MAX; type++) {
		h = good_header();
		h.e_type = (Elf64_Half)type;
		expect_header(&h, 4096, type == ET_EXEC || type == ET_DYN);
	}
	for (unsigned int machine = 0; machine <= UINT16_MAX; machine++) {
		h = good_header();
		h.e_machine = (Elf64_Half)machine;
		expect_header(&h, 4096, machine == ARCH_MACHINE);
	}
	for (unsigned int size = 0; size <= UINT16_MAX; size++) {
		h = good_header();
		h.e_phentsize = (Elf64_Half)size;
		expect_header(&h, 4096, size == 56);
	}
	for (unsigned int count = 0; count <= UINT16_MAX; count++) {
		h = good_header();
		h.e_phnum = (Elf64_Half)count;
		expect_header(&h, 1 << 30, count >= 1 && count <= 1170);
	}
}

static void header_fields_that_do_not(void **unused)
{
	uint64_t state = 7;

	(void)unused;
	for (unsigned int i = 0; i < 2000; i++) {
		Elf64_Ehdr h = good_header();

		for (unsigned int k = EI_CLASS; k < EI_NIDENT; k++)
			h.e_ident[k] = (unsigned char)next_random(&state);
		h.e_version = (Elf64_Word)next_random(&state);
		h.e_entry = next_random(&state);
		h.e_shoff = next_random(&state);
		h.e_flags = (Elf64_Word)next_random(&state);
		h.e_ehsize = (Elf64_Half)next_random(&state);
		h.e_shentsize = (Elf64_Half)next_random(&state);
		h.e_shnum = (Elf64_Half)next_random(&state);
		h.e_shstrndx = (Elf64_Half)next_random(&state);
		expect_header(&h, 4096, true);
	}
}

static void table_lies_in_the_file(void **unused)
{
	const uint64_t table = 3 * sizeof(Elf64_Phdr);
	const struct {
		uint64_t at, file_size;
		bool good;
	} cases[] = {
		{ 64, 64 + table, true },
		{ 64, 63 + table, false },
		{ 65, 65 + table, true },
		{ 0, 64 + table, true },
		{ 4096, 64, false },
		{ 1000, 1000, false },
		{ UINT64_MAX, 4096, false },
		{ UINT64_MAX - table + 1, 4096, false },
		{ 1UL << 63, UINT64_MAX, false },
		{ INT64_MAX, INT64_MAX, false },
		{ INT64_MAX - table, INT64_MAX, true },
		{ INT64_MAX - table + 1, INT64_MAX, false },
	};

	(void)unused;
	for (unsigned int i = 0; i < COUNT(cases); i++) {
		Elf64_Ehdr h = good_header();

		h.e_phnum = 3;
		h.e_phoff = cases[i].at;
		expect_header(&h, cases[i].file_size, cases[i].good);
	}
}

/* bprm->buf is filled with zeros; an interp's header is read in full. */
static void files_shorter_than_a_header(void **unused)
{
	Elf64_Ehdr h = good_header();

	(void)unused;
	h.e_phoff = 0;
	for (size_t size = 0; size < 64; size++) {
		Elf64_Ehdr cut = { .e_phnum = 0 };

		memcpy(&cut, &h, size);
		assert_int_equal(check_header(&h, size, size, ELF_INTERP), EIO);
		/* The last field that counts. */
		assert_int_equal(check_header(&h, size, size, ELF_PROGRAM),
				 cut.e_phnum ? 0 : ENOEXEC);
	}
}

static void machine_names(void **unused)
{
	(void)unused;
	assert_string_equal(elf_machine_name(ARCH_MACHINE), ARCH_NAME);
	assert_string_equal(elf_machine_name(EM_386), "i386");
	assert_string_equal(elf_machine_name(EM_AARCH64), "arm64");
	assert_string_equal(elf_machine_name(EM_PPC64), "ppc64");
	assert_null(elf_machine_name(0));
	assert_null(elf_machine_name(0xffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_fields_that_count),
		cmocka_unit_test(header_fields_that_do_not),
		cmocka_unit_test(table_lies_in_the_file),
		cmocka_unit_test(files_shorter_than_a_header),
		cmocka_unit_test(machine_names),
		cmocka_unit_test(segments_at_their_limits),
		cmocka_unit_test(segments_overlap_and_leave_gaps),
		cmocka_unit_test(nothing_to_load),
		cmocka_unit_test(interps_linked_anywhere),
		cmocka_unit_test(plans_match_the_kernel_on_random_headers),
		cmocka_unit_test(stack_flags),
		cmocka_unit_test(interp_headers),
		cmocka_unit_test(interp_strings),
		cmocka_unit_test(other_headers_are_not_validated),
		cmocka_unit_test(program_header_address),
		cmocka_unit_test(place_follows_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
