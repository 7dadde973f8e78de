#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "arch.h"
#include "elf_plan.h"

static int refuse(enum elf_role role, const char *reason, const char **why)
{
	*why = reason;
	return role == ELF_INTERP ? ELIBBAD : ENOEXEC;
}

/* load_elf_binary() and load_elf_phdrs(): nothing else of the header counts. */
int elf_check_header(const void *bytes, size_t size, uint64_t file_size, enum elf_role role,
		     struct elf_file *file, size_t *table_size, const char **why)
{
	Elf64_Ehdr *eh = &file->header;

	file->size = file_size;
	file->phdr = NULL;
	memset(eh, 0, sizeof(*eh));
	memcpy(eh, bytes, size < sizeof(*eh) ? size : sizeof(*eh));
	if (role == ELF_INTERP && size < sizeof(*eh)) {
		*why = "interpreter is too short for an ELF header";
		return EIO;
	}
	if (!elf_has_magic(eh->e_ident))
		return refuse(role, "not an ELF file", why);
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return refuse(role,
			      "ELF file is neither an executable nor a "
			      "shared object",
			      why);
	if (eh->e_machine != ARCH_MACHINE)
		return refuse(role, "ELF file for another machine", why);
	if (eh->e_phentsize != sizeof(Elf64_Phdr))
		return refuse(role,
			      "ELF program header size is not that of "
			      "64-bit files",
			      why);
	if (eh->e_phnum == 0 || eh->e_phnum > ELF_PHDRS_MAX)
		return refuse(role,
			      "ELF file has no program headers, or too "
			      "many",
			      why);
	*table_size = eh->e_phnum * sizeof(Elf64_Phdr);
	if (eh->e_phoff > INT64_MAX || eh->e_phoff > file_size ||
	    file_size - eh->e_phoff < *table_size)
		return refuse(role, "ELF program headers are outside the file", why);
	return 0;
}

/* The checks of load_elf_binary()'s and load_elf_interp()'s loops, and those
 * of the mmap calls they make: where these fail, execve kills.
 */
static const char *bad_segment(const struct elf_file *file, const Elf64_Phdr *ph, uint64_t page,
			       uint64_t task, uint64_t limit)
{
	uint64_t in_page = ph->p_vaddr & (page - 1);

	if (ph->p_filesz > ph->p_memsz)
		return "segment has more bytes in the file than in memory";
	if (ph->p_vaddr >= limit || ph->p_memsz > task - in_page ||
	    limit - ph->p_memsz < ph->p_vaddr)
		return "segment is outside the address space";
	if (ph->p_filesz && (ph->p_offset & (page - 1)) != in_page)
		return "segment's address and file offset differ within a page";
	if (ph->p_filesz &&
	    ph->p_offset - in_page > INT64_MAX - page_up(in_page + ph->p_filesz, page))
		return "segment's file offset is out of range";
	if (ph->p_filesz && ph->p_memsz > ph->p_filesz && (ph->p_flags & PF_W) &&
	    ((ph->p_offset + ph->p_filesz) & (page - 1)) &&
	    page_down(ph->p_offset + ph->p_filesz, page) >= file->size)
		return "segment ends beyond the end of the file";
	return NULL;
}

static void take_extents(struct elf_plan *p, const Elf64_Phdr *ph)
{
	uint64_t start = ph->p_vaddr;
	uint64_t file_end = start + ph->p_filesz, end = start + ph->p_memsz;

	if ((ph->p_flags & PF_X) && start < p->start_code)
		p->start_code = start;
	if ((ph->p_flags & PF_X) && file_end > p->end_code)
		p->end_code = file_end;
	if (start > p->start_data)
		p->start_data = start;
	if (file_end > p->end_data)
		p->end_data = file_end;
	if (end > p->brk)
		p->brk = end;
}

/* Page-wise bookkeeping: order, overlap, holes, and maximum_alignment(). */
static void take_pages(struct elf_plan *p, const Elf64_Phdr *ph, uint64_t page,
		       uint64_t *previous_end, bool first)
{
	struct elf_segment s;
	uint64_t at, end;

	elf_segment(ph, page, &s);
	at = page_down(ph->p_vaddr, page);
	end = s.anon_size ? s.anon_at + s.anon_size : s.at + s.size;
	if (first) {
		p->first = at;
		p->in_page = ph->p_vaddr - at;
		p->first_prot = s.prot;
		p->first_offset = s.offset;
		p->reserve_low = !ph->p_filesz;
	} else if (at < *previous_end && at < end) {
		p->overlaps = true;
	} else if (at > *previous_end) {
		p->holes = true;
	}
	if (end > *previous_end || first)
		*previous_end = end;
	if (at < p->low)
		p->low = at;
	if (end > p->high)
		p->high = end;
	if (ph->p_align && !(ph->p_align & (ph->p_align - 1)) &&
	    page_up(ph->p_align, page) > p->align)
		p->align = page_up(ph->p_align, page);
}

static void take_phdr_address(struct elf_plan *p, const struct elf_file *file, const Elf64_Phdr *ph)
{
	uint64_t at = file->header.e_phoff;

	if (ph->p_offset > at || at - ph->p_offset >= ph->p_filesz)
		return;
	p->phdr = at - ph->p_offset + ph->p_vaddr;
	p->has_phdr = true;
}

/* elf_map() maps the whole span, from the first segment's offset on. */
static const char *bad_span(const struct elf_plan *p, uint64_t task)
{
	if (!p->span)
		return "ELF file has nothing to load";
	if (p->span > task)
		return "ELF file is too large for the address space";
	if (p->first_offset > INT64_MAX - p->span)
		return "segment's file offset is out of range";
	return NULL;
}

static int plan_loads(const struct elf_file *file, enum elf_role role, uint64_t page, uint64_t task,
		      struct elf_plan *p, const char **why)
{
	uint64_t previous_end = 0, top = 0;
	bool first = true;
	/* load_elf_interp() looks at biased addresses: an interp may be linked
	 * anywhere. (execve runs one in the very last page, too.)
	 */
	uint64_t limit = role == ELF_INTERP && !p->fixed ? -page : task;

	for (unsigned int i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *ph = &file->phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		*why = bad_segment(file, ph, page, task, limit);
		if (*why)
			return ENOEXEC;
		take_pages(p, ph, page, &previous_end, first);
		take_extents(p, ph);
		take_phdr_address(p, file, ph);
		if (ph->p_vaddr + ph->p_memsz > top)
			top = ph->p_vaddr + ph->p_memsz;
		first = false;
	}
	/* total_mapping_size(), reserved from the first segment on. Empty, it
	 * kills an ET_DYN program and any interp.
	 */
	if (!first)
		p->span = page_up(top - p->low, page);
	/* Not filled to its end if a segment lies below, or if one is empty. */
	if (previous_end < p->first + p->span)
		p->holes = true;
	p->empty = first;
	if (first && p->has_interp)
		return 0;
	*why = first                           ? "ELF file has nothing to load" :
	       !p->fixed || role == ELF_INTERP ? bad_span(p, task) :
						 NULL;
	return *why ? ENOEXEC : 0;
}

static int plan_interp(const Elf64_Phdr *ph, struct elf_plan *p, const char **why)
{
	if (p->has_interp)
		return 0;
	if (ph->p_filesz > PATH_MAX || ph->p_filesz < 2) {
		*why = "interpreter's path is empty or too long";
		return ENOEXEC;
	}
	if (ph->p_offset > INT64_MAX) {
		*why = "interpreter's path has a negative file offset";
		return EINVAL;
	}
	p->has_interp = true;
	p->interp_at = ph->p_offset;
	p->interp_size = ph->p_filesz;
	return 0;
}

static int plan_others(const struct elf_file *file, enum elf_role role, struct elf_plan *p,
		       const char **why)
{
	for (unsigned int i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *ph = &file->phdr[i];
		int error = 0;

		if (ph->p_type == PT_GNU_STACK) {
			p->exec_stack = ph->p_flags & PF_X;
			p->exec_stack_set = true;
		} else if (ph->p_type == PT_GNU_PROPERTY) {
			p->property = ph;
		} else if (ph->p_type == PT_INTERP && role == ELF_PROGRAM) {
			error = plan_interp(ph, p, why);
		}
		if (error)
			return error;
	}
	return 0;
}

int elf_plan(const struct elf_file *file, enum elf_role role, uint64_t page, uint64_t task,
	     struct elf_plan *p, const char **why)
{
	int error;

	*p = (struct elf_plan){
		.fixed = file->header.e_type == ET_EXEC,
		.low = UINT64_MAX,
		.start_code = UINT64_MAX,
		.entry = file->header.e_entry,
	};
	error = plan_others(file, role, p, why);
	if (!error)
		error = plan_loads(file, role, page, task, p, why);
	return error;
}

/* elf_load() and elf_map(), with vm_brk_flags()'s protection for the rest. */
void elf_segment(const Elf64_Phdr *ph, uint64_t page, struct elf_segment *s)
{
	uint64_t in_page = ph->p_vaddr & (page - 1);
	uint64_t file_end = ph->p_vaddr + ph->p_filesz;
	uint64_t end = ph->p_vaddr + ph->p_memsz;

	*s = (struct elf_segment){ .at = ph->p_vaddr - in_page };
	s->prot = (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
		  (ph->p_flags & PF_X ? PROT_EXEC : 0);
	s->anon_prot = PROT_READ | PROT_WRITE | (s->prot & PROT_EXEC);
	s->anon_at = s->at;
	if (ph->p_filesz) {
		s->size = page_up(in_page + ph->p_filesz, page);
		s->offset = ph->p_offset - in_page;
		s->anon_at = s->at + s->size;
	}
	if (ph->p_memsz <= ph->p_filesz)
		return;
	/* A tail that cannot be written stays as the file has it. */
	if (s->size && (s->prot & PROT_WRITE)) {
		s->clear_at = file_end;
		s->clear_size = s->anon_at - file_end;
	}
	if (page_up(end, page) > s->anon_at)
		s->anon_size = page_up(end, page) - s->anon_at;
}

/*
 * load_elf_binary() aligns the base, takes p_vaddr off, and only then rounds
 * down to a page: a segment that starts inside a page lands one page lower.
 */
uint64_t elf_place(const struct elf_plan *p, uint64_t base, uint64_t page)
{
	if (p->align)
		base &= ~(p->align - 1);
	return page_down(base - p->in_page, page);
}

int elf_check_interp(const char *path, uint64_t size, const char **why)
{
	if (path[size - 1] == '\0')
		return 0;
	*why = "interpreter's path is not terminated";
	return ENOEXEC;
}

const char *elf_machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_386: return "i386";
	case EM_68K: return "m68k";
	case EM_MIPS: return "mips";
	case EM_PPC: return "ppc";
	case EM_PPC64: return "ppc64";
	case EM_S390: return "s390x";
	case EM_ARM: return "arm";
	case EM_SPARCV9: return "sparc64";
	case EM_X86_64: return "x86_64";
	case EM_AARCH64: return "arm64";
	case EM_RISCV: return "riscv";
	case 258: return "loongarch"; /* EM_LOONGARCH */
	default: return NULL;
	}
}
