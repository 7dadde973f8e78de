#include <errno.h>
#include <string.h>

#include "arch.h"
#include "map.h"
#include "sys.h"

#ifndef GRND_INSECURE
#define GRND_INSECURE 4
#endif

/* From this size on file systems align mappings for huge pages
 * (thp_get_unmapped_area()), so the kernel has to be asked.
 */
enum { ASK_SIZE = 2 << 20 };

/* No frame of ours is that far below the one that maps. */
enum { STACK_IN_USE = 1 << 20 };

/* Between our image and the parked vDSO: the page that we leave by. */
enum { PARK_DISTANCE = 1 << 20 };

/* From our image to that of another one of us. */
enum { OWN_SHIFT = 16 << 20 };

extern const char image_start[] __attribute__((visibility("hidden")));
extern const char image_end[] __attribute__((visibility("hidden")));

void zones_read(const struct start *s, const struct arch_space *space, uint64_t stack_end,
		struct zones *z)
{
	uint64_t moved_brk = page_up(space->dyn_base, s->page_size), floor;

	z->page = s->page_size;
	z->space = *space;
	z->brk = (uint64_t)sys_brk(0);
	floor = arch_brk_floor(z->brk);
	if (moved_brk < floor)
		moved_brk = floor;
	/* We are a static PIE: a kernel that moves brk for those has done so
	 * for us (load_elf_binary(), "brk" handling).
	 */
	z->brk_moved = z->brk >= moved_brk && z->brk <= moved_brk + ARCH_BRK_RANGE;
	z->brk_gap = z->brk_moved ? z->brk - moved_brk : 0;
	z->randomised = stack_end != space->stack_top || z->brk_gap;
	z->image = (uint64_t)image_start;
	z->image_size = page_up((uint64_t)image_end, z->page) - z->image;
	z->stack_end = stack_end;
	z->vdso = (struct vdso){ .text = s->vdso };
}

static int map_failed(struct diag *d, const struct image *image, long r)
{
	char number[16];
	int error = (int)-r;

	if (error == EEXIST)
		return diag(d, EXIT_CANNOT_RUN, error,
			    "%s: an address it must be loaded at is in use", image->path);
	if (error == EPERM || error == EACCES)
		return diag(d, EXIT_CANNOT_RUN, EACCES,
			    "%s: unable to map: %s (mounted noexec, or below "
			    "vm.mmap_min_addr?)",
			    image->path, errno_text(EACCES, number));
	return diag(d, EXIT_CANNOT_RUN, error, "%s: unable to map: %s", image->path,
		    errno_text(error, number));
}

static bool meets(uint64_t at, uint64_t size, uint64_t other, uint64_t other_size)
{
	return at < other + other_size && other < at + size;
}

/*
 * Later segments replace earlier ones, and those of an ET_EXEC interp what is
 * of the program, but nothing of ours.
 */
static bool may_replace(const struct zones *z, uint64_t at, uint64_t size)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	const struct vdso *v = &z->vdso;
	/* As far as it is known; else it is no larger than a megabyte. */
	uint64_t block = v->size ? v->block : v->text - (1 << 19);
	uint64_t block_size = v->size ? v->size : 1 << 20;

	return !meets(at, size, z->image, z->image_size) && !meets(at, size, block, block_size) &&
	       at + size <= here - STACK_IN_USE;
}

static long map_part(const struct zones *z, const struct image *image, uint64_t at, uint64_t size,
		     int prot, int fd, uint64_t offset)
{
	int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);

	if (!image->plan.overlaps)
		flags |= MAP_FIXED_NOREPLACE;
	else if (may_replace(z, at, size))
		flags |= MAP_FIXED;
	else
		return -EEXIST;
	return sys_mmap(at, size, prot, flags, fd, offset);
}

static int map_segment(struct diag *d, const struct zones *z, const struct image *image,
		       const Elf64_Phdr *ph)
{
	struct elf_segment s;
	long r = 0;

	elf_segment(ph, z->page, &s);
	if (s.prot & PROT_EXEC)
		s.prot |= image->exec_prot;
	if (s.size)
		r = map_part(z, image, s.at + image->bias, s.size, s.prot, image->fd, s.offset);
	if (sys_failed(r))
		return map_failed(d, image, r);
	if (s.clear_size)
		memset((void *)(s.clear_at + image->bias), 0, s.clear_size);
	if (s.anon_size)
		r = map_part(z, image, s.anon_at + image->bias, s.anon_size, s.anon_prot, -1, 0);
	if (sys_failed(r))
		return map_failed(d, image, r);
	return 0;
}

/* Map everything with the page of the first segment at address AT. */
static int map_at(struct diag *d, const struct zones *z, struct image *image, uint64_t at)
{
	const struct elf_plan *p = &image->plan;

	image->bias = at - p->first;
	/* Biased addresses may wrap; what counts is where they end up. */
	if (p->empty)
		return 0;
	if (p->low + image->bias > z->space.task || p->high + image->bias > z->space.task ||
	    p->low + image->bias > p->high + image->bias)
		return diag(d, EXIT_CANNOT_RUN, ENOEXEC, "%s: does not fit into the address space",
			    image->path);
	for (unsigned int i = 0; i < image->elf.header.e_phnum; i++) {
		const Elf64_Phdr *ph = &image->elf.phdr[i];

		if (ph->p_type == PT_LOAD && map_segment(d, z, image, ph))
			return -1;
	}
	return 0;
}

/* Does the mmap zone grow down from the stack's? Not with an unlimited
 * RLIMIT_STACK (mmap_is_legacy()), nor in effect with a huge one.
 */
static bool is_top_down(const struct zones *z)
{
	return z->vdso.text > z->space.stack_top / 4 * 3 && z->vdso.text < z->stack_end;
}

/*
 * vm.mmap_rnd_bits is readable by root only; but where the mmap zone starts
 * farther off than the default number of bits can put it, more are in use.
 */
static uint64_t random_bits(const struct zones *z)
{
	uint64_t gap = (z->stack_end - z->vdso.text) / z->page;
	unsigned int bits = arch_random_bits(z->page);

	if (is_top_down(z) && gap >> (bits + ARCH_RANDOM_SLACK))
		bits = arch_random_bits_max(z->page);
	return (1UL << bits) - 1;
}

/* Where the kernel would map SIZE bytes, 0 on failure. */
static uint64_t ask(uint64_t hint, uint64_t size)
{
	long r = sys_mmap(hint, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(r))
		return 0;
	sys_munmap((uint64_t)r, size);
	return (uint64_t)r;
}

/*
 * The same for the span of IMAGE, as elf_map() reserves it: with the first
 * segment's protection, so that limits count as they do for execve. *AT: the
 * hint (or the place, by what is in FLAGS), then the place.
 */
static int reserve(struct diag *d, const struct image *image, int flags, uint64_t *at)
{
	const struct elf_plan *p = &image->plan;
	long r = sys_mmap(*at, p->span, p->first_prot, MAP_PRIVATE | flags, image->fd,
			  p->first_offset);

	if (sys_failed(r))
		return map_failed(d, image, r);
	*at = (uint64_t)r;
	sys_munmap(*at, p->span);
	return 0;
}

/* ELF_ET_DYN_BASE + arch_mmap_rnd(), aligned as the file asks. */
static int map_pie(struct diag *d, struct zones *z, struct image *image)
{
	uint64_t at = z->space.dyn_base, random = 0;

	if (z->randomised) {
		long r = sys_getrandom(&random, sizeof(random), GRND_INSECURE);

		if (r != sizeof(random))
			return diag(d, EXIT_FAILED, (int)-r, "unable to get random bytes");
		at += (random & random_bits(z)) * z->page;
	}
	at = elf_place(&image->plan, at, z->page);
	/* Without holes all of it is mapped anyway. */
	if (image->plan.holes && image->plan.span && !image->plan.reserve_low &&
	    reserve(d, image, MAP_FIXED_NOREPLACE, &at))
		return -1;
	return map_at(d, z, image, at);
}

/* Only an alignment of more than a page moves a static PIE. */
static uint64_t aligned_down(const struct zones *z, const struct image *image, bool program,
			     uint64_t at)
{
	if (!program || image->plan.align <= z->page)
		return at;
	return elf_place(&image->plan, at, z->page);
}

/*
 * The common case, by arithmetic: the vDSO is the highest mapping of a
 * top-down mmap zone; the image takes its place and the vDSO goes below, or
 * stays, if the image's alignment leaves room for it above.
 */
static bool swap_with_vdso(struct zones *z, struct image *image, bool program, uint64_t *at)
{
	struct vdso *v = &z->vdso;
	const struct elf_plan *p = &image->plan;
	uint64_t end = v->block + v->size, below;

	*at = aligned_down(z, image, program, end - p->span);
	if (end - (*at + p->span) >= v->size)
		return true;
	below = *at - (p->first - p->low) - v->size;
	if (meets(below, v->size, v->block, v->size) && !vdso_move(v, below - 2 * v->size, z->page))
		return false;
	return vdso_move(v, below, z->page);
}

/* Bytes by which the vDSO may have to move up to be aligned. */
static uint64_t vdso_slack(const struct zones *z)
{
	return arch_vdso_align(z->page) - z->page;
}

static uint64_t aligned_vdso(const struct zones *z, uint64_t at)
{
	return page_up(at, arch_vdso_align(z->page));
}

/*
 * Out of the way, next to our own image: a span that reaches down to there
 * has that in its way in any case.
 */
static bool park_vdso(struct zones *z)
{
	struct vdso *v = &z->vdso;
	uint64_t at;

	if (!v->size)
		return false;
	at = ask(z->image + z->image_size + PARK_DISTANCE, v->size);
	return at && vdso_move(v, at, z->page);
}

/* All other cases: move the vDSO out of the way, ask for a place for the
 * image, map it, then ask for one for the vDSO.
 */
static int map_asking(struct diag *d, struct zones *z, struct image *image, bool program,
		      uint64_t hint)
{
	struct vdso *v = &z->vdso;
	bool moved = park_vdso(z);
	uint64_t at = hint;

	if (reserve(d, image, 0, &at) || map_at(d, z, image, aligned_down(z, image, program, at)))
		return -1;
	if (!moved)
		return 0;
	at = ask(0, v->size + vdso_slack(z));
	if (!at || !vdso_move(v, aligned_vdso(z, at), z->page))
		sys_die();
	return 0;
}

/*
 * A program of ours, run by itself, is linked where we are. It has no relocations: any bias will do.
 */
static uint64_t own_shift(const struct zones *z, const struct image *image)
{
	return elf_is_ours(&image->elf) && z->image < image->plan.high ? OWN_SHIFT : 0;
}

static int map_high(struct diag *d, struct zones *z, struct image *image, bool program,
		    uint64_t hint)
{
	const struct elf_plan *p = &image->plan;
	uint64_t at;

	/* No bytes in the first segment: execve reserves nothing and takes the
	 * hint, which is mostly 0: mmap_min_addr forbids that to all but root.
	 */
	if (p->reserve_low)
		return map_at(d, z, image,
			      (program ? elf_place(p, hint, z->page) : hint) + own_shift(z, image));
	if (program)
		vdso_find(&z->vdso, z->stack_end, z->page);
	if (z->vdso.size && p->span < ASK_SIZE && !hint && !p->holes && !vdso_slack(z) &&
	    is_top_down(z) && swap_with_vdso(z, image, program, &at))
		return map_at(d, z, image, at);
	return map_asking(d, z, image, program, hint);
}

/* load_elf_interp(): the span of an ET_EXEC is taken with MAP_FIXED, then
 * unmapped, whatever of the program is there.
 */
static int map_over(struct diag *d, const struct zones *z, struct image *interp)
{
	struct elf_plan *p = &interp->plan;
	uint64_t at = p->first;

	if (!may_replace(z, at, p->span))
		return map_failed(d, interp, -EEXIST);
	if (!p->reserve_low && reserve(d, interp, MAP_FIXED, &at))
		return -1;
	p->overlaps = true;
	return map_at(d, z, interp, p->first);
}

int map_program(struct diag *d, struct zones *z, struct image *program)
{
	const struct elf_plan *p = &program->plan;

	/* While nothing of the program's can be next to it. */
	if (p->has_interp)
		vdso_find(&z->vdso, z->stack_end, z->page);
	if (p->fixed)
		return map_at(d, z, program, p->first);
	if (p->empty)
		return map_at(d, z, program, 0);
	if (p->has_interp)
		return map_pie(d, z, program);
	return map_high(d, z, program, true, 0);
}

int map_interp(struct diag *d, struct zones *z, struct image *interp, bool unbiased_program)
{
	const struct elf_plan *p = &interp->plan;

	if (p->fixed)
		return map_over(d, z, interp);
	return map_high(d, z, interp, false, unbiased_program ? p->first : 0);
}

uint64_t map_brk(const struct zones *z, const struct image *program)
{
	const struct elf_plan *p = &program->plan;
	uint64_t brk = page_up(p->brk + program->bias, z->page);

	if (z->brk_moved && !p->fixed && !p->has_interp)
		return z->brk;
	/* "leave a gap between .bss and brk" */
	if (z->brk_gap && brk < arch_brk_floor(z->brk))
		brk = arch_brk_floor(z->brk);
	if (z->brk_gap)
		brk += z->page + z->brk_gap;
	return brk;
}
