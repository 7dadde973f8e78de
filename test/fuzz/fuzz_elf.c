/* From the bytes of a file to the plan, at each page size and in each role. */
#include <errno.h>
#include <sys/mman.h>

#include "elf_plan.h"
#include "fuzz.h"
#include "property.h"

static const uint64_t page_size[] = { 0x1000, 0x4000, 0x10000 };
enum { TASK_BITS = 47 };

static void check_segment(const struct elf_plan *p, const Elf64_Phdr *ph, uint64_t page)
{
	struct elf_segment s;

	elf_segment(ph, page, &s);
	HOLDS(s.at % page == 0 && s.size % page == 0 && s.anon_at % page == 0);
	HOLDS(s.anon_size % page == 0 && s.offset % page == 0);
	HOLDS(s.clear_size < page);
	HOLDS(s.at >= p->low && s.at + s.size <= p->high);
	HOLDS(!s.anon_size || (s.anon_at >= p->low && s.anon_at + s.anon_size <= p->high));
	HOLDS(!s.clear_size || s.clear_at + s.clear_size == s.at + s.size);
}

static void check_plan(const struct elf_file *f, enum elf_role role, uint64_t page)
{
	const uint64_t task = (1ul << TASK_BITS) - page;
	const char *why = NULL;
	struct elf_plan p;
	int error = elf_plan(f, role, page, task, &p, &why);

	HOLDS(!error || why);
	HOLDS(!error || error == ENOEXEC || error == ELIBBAD || error == EINVAL);
	if (error)
		return;
	HOLDS(!p.has_interp || (role == ELF_PROGRAM && p.interp_size >= 2));
	HOLDS(p.empty || p.low <= p.high);
	HOLDS(p.align % page == 0 && (p.align & (p.align - 1)) == 0);
	for (unsigned int i = 0; i < f->header.e_phnum; i++)
		if (f->phdr[i].p_type == PT_LOAD)
			check_segment(&p, &f->phdr[i], page);
	elf_place(&p, 0x555555554000, page);
}

static void check_role(const uint8_t *data, size_t size, enum elf_role role, uint64_t page)
{
	struct elf_file f;
	const char *why = NULL;
	size_t table_size = 0, head = size < 1024 ? size : 1024;
	void *bytes = fuzz_copy(data, head, 0), *table;
	int error = elf_check_header(bytes, head, size, role, &f, &table_size, &why);

	free(bytes);
	HOLDS(!error || why);
	if (error)
		return;
	HOLDS(f.header.e_phoff + table_size <= size);
	table = fuzz_copy(data + f.header.e_phoff, table_size, 0);
	f.phdr = table;
	check_plan(&f, role, page);
	free(table);
	elf_machine_name(f.header.e_machine);
}

static void check_property(const uint8_t *data, size_t size)
{
	void *note = fuzz_copy(data, size, 0);
	const char *why = NULL;
	int prot = 0, error = property_read(note, size, &prot, &why);

	HOLDS(!error || why);
	free(note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	/* The first byte chooses; the rest is the file. */
	check_role(data + 1, size - 1, *data & 1 ? ELF_INTERP : ELF_PROGRAM,
		   page_size[(*data >> 1) % 3]);
	check_property(data + 1, size - 1);
	return 0;
}
