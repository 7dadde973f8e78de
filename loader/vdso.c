#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf_plan.h"
#include "sys.h"
#include "vdso.h"

/* Data pages there can be in front of a vDSO. */
enum { DATA_PAGES_MAX = 16, TEXT_PAGES_MORE = 4 };

static bool is_mapped(uint64_t at, uint64_t page)
{
	unsigned char resident;

	return sys_mincore(at, page, &resident) == 0;
}

static unsigned int data_pages(uint64_t text, uint64_t page)
{
	unsigned int n = 0;

	if (is_mapped(text - ARCH_VDSO_DATA_PAGES * page, page))
		n = ARCH_VDSO_DATA_PAGES;
	while (n <= DATA_PAGES_MAX && is_mapped(text - (n + 1) * page, page))
		n++;
	return n;
}

/* The program headers of the vDSO; it is a well-formed ELF file of ours. */
static const Elf64_Phdr *text_segment(uint64_t text)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)text;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(text + eh->e_phoff);

	for (unsigned int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X))
			return &ph[i];
	return NULL;
}

/*
 * What is mapped of the text: what is not loaded of the file (alternatives,
 * section headers) can be another page, as in Linux 6.1 on x86. Above the vDSO
 * there is nothing else as long as no program is mapped.
 */
static uint64_t text_size(uint64_t text, const Elf64_Phdr *ph, uint64_t page)
{
	uint64_t size = page_up(ph->p_memsz, page);
	const uint64_t limit = size + TEXT_PAGES_MORE * page;

	while (size < limit && is_mapped(text + size, page))
		size += page;
	return size;
}

void vdso_find(struct vdso *v, uint64_t stack, uint64_t page)
{
	const Elf64_Phdr *ph;
	const uint64_t text = v->text;
	unsigned int pages;

	if (!text || text > stack)
		return;
	ph = text_segment(text);
	pages = data_pages(text, page);
	if (!ph || pages > DATA_PAGES_MAX)
		return;
	v->block = text - pages * page;
	v->size = pages * page + text_size(text, ph, page);
}

/*
 * Linux 6.17 moves several mappings in one call; before, each needs its own,
 * of exactly its size (special mappings cannot be split).
 */
static uint64_t move_one(uint64_t from, uint64_t size, uint64_t to, uint64_t page)
{
	for (; size; size -= page) {
		long r = sys_mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);

		if (!sys_failed(r))
			return size;
		/* Of a part it says EINVAL, having moved what is before. */
		if (r != -EFAULT)
			return 0;
	}
	return 0;
}

bool vdso_move(struct vdso *v, uint64_t to, uint64_t page)
{
	uint64_t done = 0;

	while (done < v->size) {
		uint64_t moved = move_one(v->block + done, v->size - done, to + done, page);

		if (!moved && !done)
			return false;
		if (!moved)
			sys_die();
		done += moved;
	}
	v->text += to - v->block;
	v->block = to;
	return true;
}

const unsigned char *vdso_code(const struct vdso *v, uint64_t *size)
{
	const Elf64_Phdr *ph;

	*size = 0;
	if (!v->text)
		return NULL;
	ph = text_segment(v->text);
	if (ph)
		*size = ph->p_filesz;
	return (const unsigned char *)v->text;
}

uint64_t vdso_file_size(const void *head)
{
	const Elf64_Ehdr *eh = head;
	const Elf64_Phdr *ph = text_segment((uint64_t)(uintptr_t)head);
	uint64_t sections = eh->e_shoff + (uint64_t)eh->e_shentsize * eh->e_shnum;

	if (!ph)
		return 0;
	return sections > ph->p_filesz ? sections : ph->p_filesz;
}
