/*
 * elf_plan.h - from the bytes of an ELF file to what execve would map
 *
 * Pure functions: no system call, no allocation, nothing outside the caller's
 * buffers. They accept and refuse what fs/binfmt_elf.c accepts and refuses;
 * where execve would pass its point of no return and then kill the process,
 * they refuse (errno ENOEXEC, reason in *WHY). Addresses are those of the
 * file, before the bias; sizes and offsets are bytes. All arithmetic that
 * could wrap is checked here, so that callers can add.
 *
 * Functions return 0 or a positive errno, with *WHY a static string.
 */
#ifndef ELF_PLAN_H
#define ELF_PLAN_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum elf_role {
	ELF_PROGRAM, /* errors are ENOEXEC */
	ELF_INTERP,  /* errors are ELIBBAD; its own PT_INTERP is ignored */
};

/* Most program headers execve takes: 64 KiB of them (load_elf_phdrs()). */
enum { ELF_PHDRS_MAX = 65536 / sizeof(Elf64_Phdr) };

struct elf_file {
	Elf64_Ehdr header;
	const Elf64_Phdr *phdr; /* header.e_phnum of them */
	uint64_t size;          /* of the file */
};

struct elf_plan {
	bool fixed; /* ET_EXEC: the bias is 0 */
	bool has_interp;
	bool empty; /* no PT_LOAD: only its interp can run */
	bool exec_stack;
	bool exec_stack_set;             /* there is a PT_GNU_STACK */
	bool reserve_low;                /* first PT_LOAD has no bytes: the bias is 0, too */
	bool overlaps;                   /* pages of one segment may replace another's */
	bool holes;                      /* pages of the reservation may stay unmapped */
	uint64_t interp_at, interp_size; /* PT_INTERP: file offset, bytes */
	uint64_t first;                  /* page of the first PT_LOAD: where it is reserved */
	uint64_t in_page;                /* where in that page the segment starts */
	int first_prot;                  /* what the reservation is mapped with */
	uint64_t first_offset;           /* and its file offset */
	uint64_t span;                   /* bytes execve reserves from there, whole pages */
	uint64_t low, high;              /* all mapped pages are in [low, high) */
	uint64_t align;                  /* largest p_align that is a power of two, in whole
			     * pages; 0 if there is none */
	uint64_t entry;                  /* e_entry */
	uint64_t phdr;                   /* where the program headers end up, if has_phdr */
	bool has_phdr;
	uint64_t start_code, end_code, start_data, end_data;
	uint64_t brk;               /* end of the highest segment */
	const Elf64_Phdr *property; /* PT_GNU_PROPERTY, NULL if none */
};

/* One PT_LOAD, in whole pages: file part, tail to clear, anonymous part. */
struct elf_segment {
	uint64_t at, size, offset;     /* file mapping; size 0: none */
	uint64_t clear_at, clear_size; /* bytes of its last page to clear */
	uint64_t anon_at, anon_size;
	int prot, anon_prot;
};

/*
 * Check the header in BYTES (the first SIZE of a file of FILE_SIZE bytes) and
 * copy it. Sets *TABLE_SIZE to the bytes of the program header table, which
 * is at header.e_phoff.
 */
int elf_check_header(const void *bytes, size_t size, uint64_t file_size, enum elf_role role,
		     struct elf_file *file, size_t *table_size, const char **why);

/* Make the plan from FILE, whose table has been read. */
int elf_plan(const struct elf_file *file, enum elf_role role, uint64_t page_size,
	     uint64_t task_size, struct elf_plan *plan, const char **why);

/* The pages of program header PH, a PT_LOAD of a planned file. */
void elf_segment(const Elf64_Phdr *ph, uint64_t page_size, struct elf_segment *segment);

/* Where the page of the first PT_LOAD of an ET_DYN program goes whose image
 * execve bases at BASE.
 */
uint64_t elf_place(const struct elf_plan *plan, uint64_t base, uint64_t page_size);

/* PT_INTERP's string (SIZE bytes as read): terminated as execve wants it? */
int elf_check_interp(const char *path, uint64_t size, const char **why);

/* Name of an e_machine value, NULL if not known. */
const char *elf_machine_name(unsigned int machine);

/* Do BYTES, at least four, begin as every ELF file does? */
static inline bool elf_has_magic(const void *bytes)
{
	const unsigned char *b = bytes;

	return b[0] == ELFMAG0 && b[1] == ELFMAG1 && b[2] == ELFMAG2 && b[3] == ELFMAG3;
}

/* Is it one of our own programs? Their marker: build-aux/mark. */
static inline bool elf_is_ours(const struct elf_file *file)
{
	return file->header.e_ident[EI_ABIVERSION] == 0xe8;
}

static inline uint64_t page_down(uint64_t at, uint64_t page_size)
{
	return at & ~(page_size - 1);
}

static inline uint64_t page_up(uint64_t at, uint64_t page_size)
{
	return (at + page_size - 1) & ~(page_size - 1);
}

#endif
