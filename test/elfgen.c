/* elfgen.c - templates, and the changes that make each case */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elfgen.h"

#include ELFGEN_ARCH

enum {
	PHDRS = 64,
	INTERP_AT = 0x600,
	CODE_AT = 0x800,
	DATA_AT = 0x1000,
	DATA_SIZE = 0x200,
	MEM_SIZE = 0x2800,
	FILE_SIZE = DATA_AT + DATA_SIZE,
};

/* What a case starts from. */
enum base {
	STATIC,      /* ET_EXEC at 0x400000 */
	STATIC_PIE,  /* ET_DYN without interpreter */
	PIE,         /* ET_DYN with interpreter */
	NOPIE,       /* ET_EXEC with interpreter */
	INTERP,      /* PIE is left alone, its interpreter is changed */
	INTERP_EXEC, /* same, the interpreter is an ET_EXEC at 0x10000000 */
	SCRIPT,
	TEXT, /* the text of the case; @ becomes the interpreter's path */
};

/* Write SIZE bytes of VALUE at AT; SIZE 0: cut or extend the file to VALUE. */
struct change {
	uint32_t at, size;
	uint64_t value;
};

enum { MAX_CHANGES = 8 };

struct elfgen_case {
	const char *name;
	enum base base;
	struct change change[MAX_CHANGES];
	size_t (*make)(unsigned char *b, size_t size, const char *interp);
	const char *text;
	size_t text_size;
};

#define H(field, v)                                                                          \
	{                                                                                    \
		offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field), (uint64_t)(v) \
	}
#define P(i, field, v)                                                          \
	{                                                                       \
		PHDRS + (i) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field), \
			sizeof(((Elf64_Phdr *)0)->field), (uint64_t)(v)         \
	}
#define BYTE(at, v)          \
	{                    \
		(at), 1, (v) \
	}
#define CUT(size)            \
	{                    \
		0, 0, (size) \
	}
/* Slots of the program header table. */
enum { PI, PT, PD, PS, PX, PY };
/* The base addresses of the templates. */
#define FIXED 0x400000ul

static void put_phdr(unsigned char *b, unsigned i, Elf64_Phdr ph)
{
	memcpy(b + PHDRS + i * sizeof(ph), &ph, sizeof(ph));
}

static size_t template(unsigned char *b, uint64_t base, int type, const char *interp)
{
	Elf64_Ehdr h = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = (Elf64_Half)type,
		.e_machine = ELFGEN_MACHINE,
		.e_version = EV_CURRENT,
		.e_entry = base + CODE_AT,
		.e_phoff = PHDRS,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 4,
	};
	uint32_t magic = ELFGEN_MAGIC;

	memset(b, 0, FILE_SIZE);
	memcpy(b, &h, sizeof(h));
	if (interp) {
		uint64_t n = strlen(interp) + 1;

		memcpy(b + INTERP_AT, interp, n);
		put_phdr(b, PI,
			 (Elf64_Phdr){ PT_INTERP, PF_R, INTERP_AT, base + INTERP_AT, 0, n, n, 1 });
	}
	put_phdr(b, PT,
		 (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, 0, base, base, DATA_AT, DATA_AT, 0x1000 });
	put_phdr(b, PD,
		 (Elf64_Phdr){ PT_LOAD, PF_R | PF_W, DATA_AT, base + DATA_AT, 0, DATA_SIZE,
			       MEM_SIZE, 0x1000 });
	put_phdr(b, PS, (Elf64_Phdr){ PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16 });
	memcpy(b + CODE_AT, elfgen_code, sizeof(elfgen_code));
	memcpy(b + DATA_AT, &magic, sizeof(magic));
	return FILE_SIZE;
}

/* Move the table to the end of the file, COUNT entries; new ones are PT_NULL. */
static size_t many_phdrs(unsigned char *b, size_t size, unsigned count)
{
	Elf64_Ehdr h;

	memcpy(&h, b, sizeof(h));
	memset(b + size, 0, count * sizeof(Elf64_Phdr));
	memcpy(b + size, b + PHDRS, 4 * sizeof(Elf64_Phdr));
	h.e_phoff = size;
	h.e_phnum = (Elf64_Half)count;
	memcpy(b, &h, sizeof(h));
	return size + count * sizeof(Elf64_Phdr);
}

static size_t phnum_1170(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return many_phdrs(b, size, 1170);
}

static size_t phnum_1171(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return many_phdrs(b, size, 1171);
}

static size_t phnum_65535(unsigned char *b, size_t size, const char *interp)
{
	many_phdrs(b, size, 4);
	(void)interp;
	b[offsetof(Elf64_Ehdr, e_phnum)] = 0xff;
	b[offsetof(Elf64_Ehdr, e_phnum) + 1] = 0xff;
	memset(b + size + 4 * sizeof(Elf64_Phdr), 0,
	       65531ul * sizeof(Elf64_Phdr) > ELFGEN_MAX ?
		       ELFGEN_MAX - size - 4 * sizeof(Elf64_Phdr) :
		       0);
	return ELFGEN_MAX;
}

/* The table outside of every segment, at an odd offset. */
static size_t phdrs_apart(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	b[size] = 0;
	return many_phdrs(b, size + 1, 5);
}

/* PT_INTERP of SIZE bytes at the end of the file, the path first. */
static size_t far_interp(unsigned char *b, size_t at, const char *interp, size_t size, char fill)
{
	Elf64_Phdr ph = { .p_type = PT_INTERP,
			  .p_flags = PF_R,
			  .p_offset = at,
			  .p_filesz = size,
			  .p_memsz = size,
			  .p_align = 1 };

	memset(b + at, fill, size);
	memcpy(b + at, interp, strlen(interp) + 1 < size ? strlen(interp) + 1 : size);
	put_phdr(b, PI, ph);
	return at + size;
}

static size_t interp_4096(unsigned char *b, size_t size, const char *interp)
{
	return far_interp(b, size, interp, 4096, 0);
}

static size_t interp_4097(unsigned char *b, size_t size, const char *interp)
{
	return far_interp(b, size, interp, 4097, 0);
}

static size_t interp_unterminated(unsigned char *b, size_t size, const char *interp)
{
	return far_interp(b, size, interp, strlen(interp), 0);
}

static size_t interp_junk(unsigned char *b, size_t size, const char *interp)
{
	size = far_interp(b, size, interp, strlen(interp) + 9, 'x');
	b[size - 1] = 0;
	return size;
}

static size_t interp_junk_unterminated(unsigned char *b, size_t size, const char *interp)
{
	return far_interp(b, size, interp, strlen(interp) + 9, 'x');
}

static size_t interp_directory(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return far_interp(b, size, "/usr", 5, 0);
}

static size_t interp_missing(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return far_interp(b, size, "/nonexistent/ld.so", 19, 0);
}

static size_t interp_through_file(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return far_interp(b, size, "/etc/passwd/ld.so", 18, 0);
}

static size_t interp_device(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return far_interp(b, size, "/dev/null", 10, 0);
}

static size_t interp_not_executable(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return far_interp(b, size, "/etc/passwd", 12, 0);
}

static size_t interp_empty_path(unsigned char *b, size_t size, const char *interp)
{
	(void)interp;
	return far_interp(b, size, "", 2, 0);
}

static size_t interp_twice(unsigned char *b, size_t size, const char *interp)
{
	size_t to = far_interp(b, size, "/nonexistent", 13, 0);
	Elf64_Phdr ph;

	memcpy(&ph, b + PHDRS, sizeof(ph));
	put_phdr(b, PX, ph);
	b[offsetof(Elf64_Ehdr, e_phnum)] = 5;
	far_interp(b, to, interp, strlen(interp) + 1, 0);
	return to + strlen(interp) + 1;
}

static size_t make_script(unsigned char *b, size_t size, const char *interp)
{
	(void)size;
	return (size_t)sprintf((char *)b, "#!/bin/sh\necho ok %s\n", interp ? "" : "interp");
}

static size_t make_empty(unsigned char *b, size_t size, const char *interp)
{
	(void)b;
	(void)size;
	(void)interp;
	return 0;
}

/* "#!" + INTERP with slashes in front, so that the path ends at byte END. */
static size_t script_path_to(unsigned char *b, const char *interp, size_t end)
{
	size_t n = strlen(interp);

	memset(b, '/', end);
	memcpy(b, "#!", 2);
	memcpy(b + end - n, interp, n);
	b[end] = '\n';
	return end + 1;
}

static size_t script_254(unsigned char *b, size_t size, const char *interp)
{
	(void)size;
	return script_path_to(b, interp, 254);
}

static size_t script_255(unsigned char *b, size_t size, const char *interp)
{
	(void)size;
	return script_path_to(b, interp, 255);
}

static size_t script_256(unsigned char *b, size_t size, const char *interp)
{
	(void)size;
	return script_path_to(b, interp, 256);
}

static size_t script_long_argument(unsigned char *b, size_t size, const char *interp)
{
	int n = sprintf((char *)b, "#!%s ", interp);

	(void)size;
	memset(b + n, 'a', 1000);
	b[n + 1000] = '\n';
	return (size_t)n + 1001;
}

#define ALL_ONES 0xfffffffffffffffful
#define TOP      ELFGEN_TASK_SIZE
#define T(name, kind, s)                                            \
	{                                                           \
		name, kind, { { 0, 0, 0 } }, NULL, s, sizeof(s) - 1 \
	}
#define M(name, base, function)                                \
	{                                                      \
		name, base, { { 0, 0, 0 } }, function, NULL, 0 \
	}
#define C(name, base, ...)                                 \
	{                                                  \
		name, base, { __VA_ARGS__ }, NULL, NULL, 0 \
	}

static const struct elfgen_case cases[] = {
	/* the templates as they are */
	M("static", STATIC, NULL),
	M("static-pie", STATIC_PIE, NULL),
	M("pie", PIE, NULL),
	M("nopie", NOPIE, NULL),
	M("interp-exec", INTERP_EXEC, NULL),
	/* main header */
	C("magic-0", STATIC, BYTE(0, 0x7e)),
	C("magic-3", STATIC, BYTE(3, 'f')),
	C("class-32", STATIC, BYTE(EI_CLASS, 1)),
	C("class-0", STATIC, BYTE(EI_CLASS, 0)),
	C("data-msb", STATIC, BYTE(EI_DATA, 2)),
	C("ident-version-0", STATIC, BYTE(EI_VERSION, 0)),
	C("osabi-255", STATIC, BYTE(EI_OSABI, 255)),
	C("abiversion-9", STATIC, BYTE(EI_ABIVERSION, 9)),
	C("ident-padding", STATIC, BYTE(15, 0xff)),
	C("type-0", STATIC, H(e_type, 0)),
	C("type-rel", STATIC, H(e_type, 1)),
	C("type-core", STATIC, H(e_type, 4)),
	C("type-65535", STATIC, H(e_type, 0xffff)),
	C("machine-0", STATIC, H(e_machine, 0)),
	C("machine-386", STATIC, H(e_machine, EM_386)),
	C("machine-other", STATIC, H(e_machine, ELFGEN_OTHER_MACHINE)),
	C("machine-65535", STATIC, H(e_machine, 0xffff)),
	C("version-0", STATIC, H(e_version, 0)),
	C("version-max", STATIC, H(e_version, ALL_ONES)),
	C("flags-max", STATIC, H(e_flags, ALL_ONES)),
	C("ehsize-0", STATIC, H(e_ehsize, 0)),
	C("ehsize-max", STATIC, H(e_ehsize, 0xffff)),
	C("shoff-max", STATIC, H(e_shoff, ALL_ONES)),
	C("shnum-max", STATIC, H(e_shnum, 0xffff), H(e_shentsize, 0xffff), H(e_shstrndx, 0xffff)),
	C("phentsize-0", STATIC, H(e_phentsize, 0)),
	C("phentsize-55", STATIC, H(e_phentsize, 55)),
	C("phentsize-57", STATIC, H(e_phentsize, 57)),
	C("phentsize-max", STATIC, H(e_phentsize, 0xffff)),
	C("phnum-0", STATIC, H(e_phnum, 0)),
	C("phnum-1", STATIC, H(e_phnum, 1)),
	C("phnum-2", STATIC, H(e_phnum, 2)),
	C("phnum-3", STATIC, H(e_phnum, 3)),
	M("phnum-1170", STATIC, phnum_1170),
	M("phnum-1171", STATIC, phnum_1171),
	M("phnum-65535", STATIC, phnum_65535),
	C("phnum-65535-short", STATIC, H(e_phnum, 0xffff)),
	M("phnum-1170-pie", PIE, phnum_1170),
	M("phdrs-apart", STATIC, phdrs_apart),
	M("phdrs-apart-static-pie", STATIC_PIE, phdrs_apart),
	M("phdrs-apart-pie", PIE, phdrs_apart),
	C("phoff-0", STATIC, H(e_phoff, 0)),
	C("phoff-max", STATIC, H(e_phoff, ALL_ONES)),
	C("phoff-negative", STATIC, H(e_phoff, 1ul << 63)),
	C("phoff-at-end", STATIC, H(e_phoff, FILE_SIZE)),
	C("phoff-last-byte-missing", STATIC, H(e_phoff, FILE_SIZE - 4 * 56 + 1)),
	C("phoff-wraps", STATIC, H(e_phoff, ALL_ONES - 200)),
	C("entry-0", STATIC, H(e_entry, 0)),
	C("entry-unmapped", STATIC, H(e_entry, 0x900000)),
	C("entry-task-size", STATIC, H(e_entry, TOP)),
	C("entry-max", STATIC, H(e_entry, ALL_ONES)),
	C("entry-below-task-size", STATIC, H(e_entry, TOP - 1)),
	C("entry-task-size-static-pie", STATIC_PIE, H(e_entry, TOP)),
	C("entry-max-static-pie", STATIC_PIE, H(e_entry, ALL_ONES)),
	C("entry-max-pie", PIE, H(e_entry, ALL_ONES)),
	C("entry-max-nopie", NOPIE, H(e_entry, ALL_ONES)),
	C("entry-in-data", STATIC, H(e_entry, FIXED + DATA_AT)),
	/* PT_LOAD: types and flags */
	C("no-load", STATIC, P(PT, p_type, 0), P(PD, p_type, 0)),
	C("no-load-static-pie", STATIC_PIE, P(PT, p_type, 0), P(PD, p_type, 0)),
	C("no-load-pie", PIE, P(PT, p_type, 0), P(PD, p_type, 0)),
	C("no-text", STATIC, P(PT, p_type, 0)),
	C("no-data", STATIC, P(PD, p_type, 0)),
	C("no-data-pie", PIE, P(PD, p_type, 0)),
	C("no-text-pie", PIE, P(PT, p_type, 0)),
	C("text-prot-none", STATIC, P(PT, p_flags, 0)),
	C("data-prot-none", STATIC, P(PD, p_flags, 0)),
	C("data-prot-none-pie", PIE, P(PD, p_flags, 0)),
	C("text-x-only", STATIC, P(PT, p_flags, PF_X)),
	C("text-r-only", STATIC, P(PT, p_flags, PF_R)),
	C("text-rwx", STATIC, P(PT, p_flags, 7)),
	C("text-w-only", STATIC, P(PT, p_flags, PF_W)),
	C("data-rwx", STATIC, P(PD, p_flags, 7)),
	C("data-read-only", STATIC, P(PD, p_flags, PF_R)),
	C("data-r-x", STATIC, P(PD, p_flags, PF_R | PF_X)),
	C("data-read-only-pie", PIE, P(PD, p_flags, PF_R)),
	C("data-read-only-static-pie", STATIC_PIE, P(PD, p_flags, PF_R)),
	C("load-flags-os", STATIC, P(PT, p_flags, 0xfffffff5)),
	C("all-read-only-pie", PIE, P(PT, p_flags, PF_R)),
	/* PT_LOAD: sizes */
	C("filesz-above-memsz", STATIC, P(PD, p_filesz, DATA_SIZE), P(PD, p_memsz, DATA_SIZE - 1)),
	C("filesz-above-memsz-pie", PIE, P(PD, p_memsz, 0x10)),
	C("memsz-0", STATIC, P(PD, p_memsz, 0)),
	C("filesz-0", STATIC, P(PD, p_filesz, 0)),
	C("filesz-memsz-0", STATIC, P(PD, p_filesz, 0), P(PD, p_memsz, 0)),
	C("text-filesz-memsz-0", STATIC, P(PT, p_filesz, 0), P(PT, p_memsz, 0)),
	C("text-filesz-0", STATIC, P(PT, p_filesz, 0)),
	C("first-filesz-0-static-pie", STATIC_PIE, P(PT, p_filesz, 0)),
	C("first-filesz-memsz-0-static-pie", STATIC_PIE, P(PT, p_filesz, 0), P(PT, p_memsz, 0)),
	C("first-filesz-0-pie", PIE, P(PT, p_filesz, 0)),
	C("first-all-bss-static-pie", STATIC_PIE, P(PI, p_type, PT_LOAD), P(PI, p_flags, 6),
	  P(PI, p_vaddr, 0), P(PI, p_memsz, 0x1000), P(PT, p_vaddr, 0x1000), P(PD, p_vaddr, 0x2000),
	  H(e_entry, 0x1000 + CODE_AT)),
	C("no-bss", STATIC, P(PD, p_memsz, DATA_SIZE)),
	C("bss-one-byte", STATIC, P(PD, p_memsz, DATA_SIZE + 1)),
	C("bss-to-page-end", STATIC, P(PD, p_memsz, 0x1000)),
	C("bss-to-page-end-plus-1", STATIC, P(PD, p_memsz, 0x1001)),
	C("bss-64m", STATIC, P(PD, p_memsz, 64 << 20)),
	C("bss-1g", STATIC, P(PD, p_memsz, 1ul << 30)),
	C("bss-64m-pie", PIE, P(PD, p_memsz, 64 << 20)),
	C("bss-64m-static-pie", STATIC_PIE, P(PD, p_memsz, 64 << 20)),
	C("memsz-max", STATIC, P(PD, p_memsz, ALL_ONES)),
	C("memsz-task-size", STATIC, P(PD, p_memsz, TOP)),
	C("memsz-2-46", STATIC, P(PD, p_memsz, 1ul << 46)),
	C("memsz-max-pie", PIE, P(PD, p_memsz, ALL_ONES)),
	C("memsz-2-46-pie", PIE, P(PD, p_memsz, 1ul << 46)),
	C("memsz-2-46-static-pie", STATIC_PIE, P(PD, p_memsz, 1ul << 46)),
	C("filesz-max", STATIC, P(PD, p_filesz, ALL_ONES), P(PD, p_memsz, ALL_ONES)),
	C("filesz-63", STATIC, P(PD, p_filesz, 1ul << 63), P(PD, p_memsz, 1ul << 63)),
	C("filesz-beyond-file", STATIC, P(PD, p_filesz, 0x2800)),
	C("filesz-beyond-file-bss", STATIC, P(PD, p_filesz, 0x2000)),
	C("bss-behind-read-only", STATIC, P(PD, p_flags, PF_R), P(PD, p_memsz, 0x2800)),
	C("bss-behind-text", STATIC, P(PT, p_memsz, 0x1000 + 8), P(PT, p_filesz, 0xf00)),
	C("bss-behind-text-pages", STATIC_PIE, P(PT, p_memsz, 0x4000), P(PT, p_filesz, 0xf00)),
	/* PT_LOAD: offsets and addresses */
	C("offset-incongruent", STATIC, P(PD, p_offset, DATA_AT + 8)),
	C("vaddr-incongruent", STATIC, P(PD, p_vaddr, FIXED + DATA_AT + 8)),
	C("vaddr-incongruent-pie", PIE, P(PD, p_vaddr, DATA_AT + 8)),
	C("text-incongruent", STATIC, P(PT, p_vaddr, FIXED + 8)),
	C("offset-and-vaddr-unaligned", STATIC, P(PD, p_offset, DATA_AT + 8),
	  P(PD, p_vaddr, FIXED + DATA_AT + 8)),
	C("offset-negative", STATIC, P(PD, p_offset, 1ul << 63)),
	C("offset-max", STATIC, P(PD, p_offset, ALL_ONES - 0xfff)),
	C("offset-wraps", STATIC, P(PD, p_offset, ALL_ONES - 0xfff), P(PD, p_filesz, 0x2000)),
	C("offset-beyond-eof", STATIC, P(PD, p_offset, 0x100000)),
	C("offset-beyond-eof-no-bss", STATIC, P(PD, p_offset, 0x100000), P(PD, p_memsz, DATA_SIZE)),
	C("offset-beyond-eof-no-bss-pie", PIE, P(PD, p_offset, 0x100000),
	  P(PD, p_memsz, DATA_SIZE)),
	C("offset-max-load", STATIC, P(PD, p_offset, 0x7ffffffffffff000)),
	C("vaddr-0", STATIC, P(PT, p_vaddr, 0), P(PD, p_vaddr, DATA_AT), H(e_entry, CODE_AT)),
	C("vaddr-0-nopie", NOPIE, P(PT, p_vaddr, 0), P(PD, p_vaddr, DATA_AT), H(e_entry, CODE_AT)),
	C("vaddr-min-addr", STATIC, P(PT, p_vaddr, 0x1000), P(PD, p_vaddr, 0x1000 + DATA_AT),
	  H(e_entry, 0x1000 + CODE_AT)),
	C("vaddr-64k", STATIC, P(PT, p_vaddr, 0x10000), P(PD, p_vaddr, 0x10000 + DATA_AT),
	  H(e_entry, 0x10000 + CODE_AT)),
	C("vaddr-task-size", STATIC, P(PD, p_vaddr, TOP)),
	C("vaddr-max", STATIC, P(PD, p_vaddr, ALL_ONES - 0xfff)),
	C("vaddr-last-page", STATIC, P(PD, p_vaddr, TOP - 0x1000), P(PD, p_memsz, DATA_SIZE)),
	C("vaddr-last-page-bss", STATIC, P(PD, p_vaddr, TOP - 0x3000)),
	C("vaddr-negative", STATIC, P(PD, p_vaddr, 1ul << 63)),
	C("vaddr-kernel", STATIC, P(PD, p_vaddr, 0xffffffff80000000)),
	C("vaddr-high", STATIC, P(PT, p_vaddr, 0x7f0000000000), P(PD, p_vaddr, 0x7f0000001000),
	  H(e_entry, 0x7f0000000800)),
	C("vaddr-pie-zone", STATIC, P(PT, p_vaddr, 0x555555554000), P(PD, p_vaddr, 0x555555555000),
	  H(e_entry, 0x555555554800)),
	C("vaddr-static-pie-400000", STATIC_PIE, P(PT, p_vaddr, FIXED),
	  P(PD, p_vaddr, FIXED + DATA_AT), H(e_entry, FIXED + CODE_AT)),
	C("vaddr-pie-400000", PIE, P(PT, p_vaddr, FIXED), P(PD, p_vaddr, FIXED + DATA_AT),
	  H(e_entry, FIXED + CODE_AT)),
	C("vaddr-pie-task-size", PIE, P(PD, p_vaddr, TOP)),
	C("vaddr-pie-max", PIE, P(PD, p_vaddr, ALL_ONES - 0xfff)),
	C("vaddr-pie-wraps", PIE, P(PT, p_vaddr, ALL_ONES - 0xfff), P(PD, p_vaddr, 0)),
	C("vaddr-static-pie-high", STATIC_PIE, P(PT, p_vaddr, 0x7f0000000000),
	  P(PD, p_vaddr, 0x7f0000001000), H(e_entry, 0x7f0000000800)),
	C("paddr-max", STATIC, P(PT, p_paddr, ALL_ONES), P(PD, p_paddr, ALL_ONES)),
	/* PT_LOAD: order, overlap, gaps */
	C("gap", STATIC, P(PX, p_type, PT_LOAD), P(PX, p_flags, 4), P(PX, p_vaddr, 0x600000),
	  P(PX, p_filesz, 0x1000), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("gap-static-pie", STATIC_PIE, P(PX, p_type, PT_LOAD), P(PX, p_flags, 4),
	  P(PX, p_vaddr, 0x600000), P(PX, p_filesz, 0x1000), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("gap-pie", PIE, P(PX, p_type, PT_LOAD), P(PX, p_flags, 4), P(PX, p_vaddr, 0x600000),
	  P(PX, p_filesz, 0x1000), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("gap-1t-pie", PIE, P(PX, p_type, PT_LOAD), P(PX, p_flags, 4), P(PX, p_vaddr, 1ul << 40),
	  P(PX, p_filesz, 0x1000), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("overlap-same", STATIC, P(PX, p_type, PT_LOAD), P(PX, p_flags, 6),
	  P(PX, p_offset, DATA_AT), P(PX, p_vaddr, FIXED + DATA_AT), P(PX, p_filesz, DATA_SIZE),
	  P(PX, p_memsz, MEM_SIZE), H(e_phnum, 5)),
	C("overlap-replaces-text", STATIC, P(PX, p_type, PT_LOAD), P(PX, p_flags, 6),
	  P(PX, p_vaddr, FIXED), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("overlap-replaces-text-pie", PIE, P(PX, p_type, PT_LOAD), P(PX, p_flags, 6),
	  P(PX, p_vaddr, 0), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("overlap-partial", STATIC_PIE, P(PX, p_type, PT_LOAD), P(PX, p_flags, 6),
	  P(PX, p_offset, DATA_AT), P(PX, p_vaddr, 0x2000), P(PX, p_filesz, 0x100),
	  P(PX, p_memsz, 0x100), H(e_phnum, 5)),
	C("lower-after", STATIC, P(PX, p_type, PT_LOAD), P(PX, p_flags, 4),
	  P(PX, p_vaddr, 0x300000), P(PX, p_filesz, 0x1000), P(PX, p_memsz, 0x1000), H(e_phnum, 5)),
	C("lower-after-static-pie", STATIC_PIE, P(PT, p_vaddr, 0x10000), P(PD, p_vaddr, 0x11000),
	  H(e_entry, 0x10800), P(PX, p_type, PT_LOAD), P(PX, p_flags, 4), P(PX, p_memsz, 0x1000),
	  H(e_phnum, 5)),
	C("data-first", STATIC, P(PI, p_type, PT_LOAD), P(PI, p_flags, 6), P(PI, p_offset, DATA_AT),
	  P(PI, p_vaddr, FIXED + DATA_AT), P(PI, p_filesz, DATA_SIZE), P(PI, p_memsz, MEM_SIZE),
	  P(PD, p_type, 0)),
	C("over-stack", STATIC, P(PX, p_type, PT_LOAD), P(PX, p_flags, 6),
	  P(PX, p_vaddr, 0x7ffc00000000), P(PX, p_memsz, 0x3ffff0000), H(e_phnum, 5)),
	/* p_align */
	C("align-0", PIE, P(PT, p_align, 0), P(PD, p_align, 0)),
	C("align-1", PIE, P(PT, p_align, 1), P(PD, p_align, 1)),
	C("align-3", PIE, P(PT, p_align, 3)),
	C("align-0x1800", PIE, P(PT, p_align, 0x1800)),
	C("align-64k", PIE, P(PT, p_align, 0x10000)),
	C("align-2m", PIE, P(PT, p_align, 0x200000)),
	C("align-2m-second", PIE, P(PD, p_align, 0x200000)),
	C("align-2m-static-pie", STATIC_PIE, P(PT, p_align, 0x200000)),
	C("align-1g-static-pie", STATIC_PIE, P(PD, p_align, 1 << 30)),
	C("align-2-46", PIE, P(PT, p_align, 1ul << 46)),
	C("align-2-47", PIE, P(PT, p_align, 1ul << 47)),
	C("align-2-63", PIE, P(PT, p_align, 1ul << 63)),
	C("align-max", PIE, P(PT, p_align, ALL_ONES)),
	C("align-2-46-static-pie", STATIC_PIE, P(PT, p_align, 1ul << 46)),
	C("align-2-47-static-pie", STATIC_PIE, P(PT, p_align, 1ul << 47)),
	C("align-max-static", STATIC, P(PT, p_align, ALL_ONES)),
	C("align-2-63-static", STATIC, P(PD, p_align, 1ul << 63)),
	/* truncated files */
	C("empty", STATIC, CUT(1), BYTE(0, 0)),
	C("cut-4", STATIC, CUT(4)),
	C("cut-63", STATIC, CUT(63)),
	C("cut-64", STATIC, CUT(64)),
	C("cut-in-phdrs", STATIC, CUT(64 + 4 * 56 - 1)),
	C("cut-after-phdrs", STATIC, CUT(64 + 4 * 56)),
	C("cut-in-code", STATIC, CUT(0x810)),
	C("cut-before-data", STATIC, CUT(0x1000)),
	C("cut-in-data", STATIC, CUT(0x1100)),
	C("cut-in-data-no-bss", STATIC, CUT(0x1100), P(PD, p_memsz, DATA_SIZE)),
	C("cut-before-data-no-bss", STATIC, CUT(0x1000), P(PD, p_memsz, DATA_SIZE)),
	C("cut-before-data-pie", PIE, CUT(0x1000)),
	C("cut-in-interp-path", PIE, CUT(INTERP_AT + 4)),
	C("cut-in-data-static-pie", STATIC_PIE, CUT(0x1100)),
	M("zero-bytes", TEXT, make_empty),
	/* other program headers */
	C("stack-missing", STATIC, P(PS, p_type, 0)),
	C("stack-rwx", STATIC, P(PS, p_flags, 7)),
	C("stack-flags-0", STATIC, P(PS, p_flags, 0)),
	C("stack-x", STATIC, P(PS, p_flags, PF_X)),
	C("stack-memsz", STATIC, P(PS, p_memsz, 1 << 20)),
	C("stack-twice", STATIC, P(PX, p_type, PT_GNU_STACK), P(PX, p_flags, 7), H(e_phnum, 5)),
	C("stack-missing-pie", PIE, P(PS, p_type, 0)),
	C("stack-rwx-interp", INTERP, P(PS, p_flags, 7)),
	C("tls-absurd", STATIC, P(PX, p_type, PT_TLS), P(PX, p_memsz, ALL_ONES),
	  P(PX, p_filesz, ALL_ONES), H(e_phnum, 5)),
	C("note-0", STATIC, P(PX, p_type, PT_NOTE), H(e_phnum, 5)),
	C("note-beyond-file", STATIC, P(PX, p_type, PT_NOTE), P(PX, p_offset, ALL_ONES),
	  P(PX, p_filesz, 4), H(e_phnum, 5)),
	C("property-0", STATIC, P(PX, p_type, PT_GNU_PROPERTY), H(e_phnum, 5)),
	C("property-beyond-file", STATIC, P(PX, p_type, PT_GNU_PROPERTY), P(PX, p_offset, 1 << 20),
	  P(PX, p_filesz, 48), H(e_phnum, 5)),
	C("property-large", STATIC, P(PX, p_type, PT_GNU_PROPERTY), P(PX, p_filesz, 1 << 20),
	  H(e_phnum, 5)),
	C("property-pie", PIE, P(PX, p_type, PT_GNU_PROPERTY), P(PX, p_filesz, 64), H(e_phnum, 5)),
	C("relro-absurd", STATIC, P(PX, p_type, PT_GNU_RELRO), P(PX, p_memsz, ALL_ONES),
	  P(PX, p_vaddr, ALL_ONES), H(e_phnum, 5)),
	C("phdr-wrong", STATIC, P(PX, p_type, PT_PHDR), P(PX, p_vaddr, 0x1234), H(e_phnum, 5)),
	C("dynamic-absurd", STATIC, P(PX, p_type, PT_DYNAMIC), P(PX, p_offset, ALL_ONES),
	  H(e_phnum, 5)),
	C("type-loproc", STATIC, P(PX, p_type, PT_LOPROC), P(PX, p_memsz, ALL_ONES), H(e_phnum, 5)),
	/* PT_INTERP */
	C("interp-filesz-0", PIE, P(PI, p_filesz, 0)),
	C("interp-filesz-1", PIE, P(PI, p_filesz, 1)),
	C("interp-filesz-2", PIE, P(PI, p_filesz, 2)),
	C("interp-filesz-max", PIE, P(PI, p_filesz, ALL_ONES)),
	C("interp-offset-max", PIE, P(PI, p_offset, ALL_ONES)),
	C("interp-offset-negative", PIE, P(PI, p_offset, 1ul << 63)),
	C("interp-beyond-eof", PIE, P(PI, p_offset, 0x100000)),
	C("interp-across-eof", PIE, P(PI, p_offset, FILE_SIZE - 3)),
	C("interp-offset-huge", PIE, P(PI, p_offset, 0x7ffffffffffffff0)),
	C("interp-memsz-0", PIE, P(PI, p_memsz, 0)),
	C("interp-vaddr-max", PIE, P(PI, p_vaddr, ALL_ONES)),
	M("interp-4096", PIE, interp_4096),
	M("interp-4097", PIE, interp_4097),
	M("interp-unterminated", PIE, interp_unterminated),
	M("interp-junk", PIE, interp_junk),
	M("interp-junk-unterminated", PIE, interp_junk_unterminated),
	M("interp-directory", PIE, interp_directory),
	M("interp-missing", PIE, interp_missing),
	M("interp-missing-nopie", NOPIE, interp_missing),
	M("interp-through-file", PIE, interp_through_file),
	M("interp-device", PIE, interp_device),
	M("interp-not-executable", PIE, interp_not_executable),
	M("interp-empty-path", PIE, interp_empty_path),
	M("interp-twice", PIE, interp_twice),
	/* the interpreter's file */
	M("interp-zero-bytes", INTERP, make_empty),
	M("interp-is-script", INTERP, make_script),
	C("interp-cut-63", INTERP, CUT(63)),
	C("interp-cut-64", INTERP, CUT(64)),
	C("interp-cut-in-phdrs", INTERP, CUT(200)),
	C("interp-cut-before-data", INTERP, CUT(0x1000)),
	C("interp-cut-in-data", INTERP, CUT(0x1100)),
	C("interp-magic", INTERP, BYTE(0, 0)),
	C("interp-machine", INTERP, H(e_machine, ELFGEN_OTHER_MACHINE)),
	C("interp-class-32", INTERP, BYTE(EI_CLASS, 1)),
	C("interp-type-0", INTERP, H(e_type, 0)),
	C("interp-type-rel", INTERP, H(e_type, 1)),
	C("interp-phentsize", INTERP, H(e_phentsize, 0)),
	C("interp-phnum-0", INTERP, H(e_phnum, 0)),
	C("interp-phnum-65535", INTERP, H(e_phnum, 0xffff)),
	M("interp-phnum-1170", INTERP, phnum_1170),
	M("interp-phnum-1171", INTERP, phnum_1171),
	C("interp-phoff-max", INTERP, H(e_phoff, ALL_ONES)),
	M("interp-phdrs-apart", INTERP, phdrs_apart),
	C("interp-own-interp", INTERP, P(PI, p_type, PT_INTERP), P(PI, p_offset, 0),
	  P(PI, p_filesz, 3)),
	C("interp-entry-max", INTERP, H(e_entry, ALL_ONES)),
	C("interp-entry-task-size", INTERP, H(e_entry, TOP)),
	C("interp-entry-0", INTERP, H(e_entry, 0)),
	C("interp-no-load", INTERP, P(PT, p_type, 0), P(PD, p_type, 0)),
	C("interp-no-data", INTERP, P(PD, p_type, 0)),
	C("interp-filesz-above-memsz", INTERP, P(PD, p_memsz, 0x10)),
	C("interp-incongruent", INTERP, P(PD, p_vaddr, DATA_AT + 8)),
	C("interp-offset-negative-load", INTERP, P(PD, p_offset, 1ul << 63)),
	C("interp-vaddr-task-size", INTERP, P(PD, p_vaddr, TOP)),
	C("interp-memsz-max", INTERP, P(PD, p_memsz, ALL_ONES)),
	C("interp-memsz-2-46", INTERP, P(PD, p_memsz, 1ul << 46)),
	C("interp-first-filesz-0", INTERP, P(PT, p_filesz, 0)),
	C("interp-align-2m", INTERP, P(PT, p_align, 0x200000)),
	C("interp-align-max", INTERP, P(PT, p_align, ALL_ONES)),
	C("interp-prelinked", INTERP, P(PT, p_vaddr, 0x4000000000), P(PD, p_vaddr, 0x4000001000),
	  H(e_entry, 0x4000000800)),
	C("interp-exec-at-program", INTERP_EXEC, P(PT, p_vaddr, FIXED),
	  P(PD, p_vaddr, FIXED + DATA_AT), H(e_entry, FIXED + CODE_AT)),
	C("interp-exec-vaddr-0", INTERP_EXEC, P(PT, p_vaddr, 0), P(PD, p_vaddr, DATA_AT),
	  H(e_entry, CODE_AT)),
	C("interp-exec-last-page", INTERP_EXEC, P(PD, p_vaddr, TOP - 0x1000),
	  P(PD, p_memsz, DATA_SIZE)),
	C("interp-data-read-only", INTERP, P(PD, p_flags, PF_R)),
	C("interp-bss-64m", INTERP, P(PD, p_memsz, 64 << 20)),
	C("interp-text-prot-none", INTERP, P(PT, p_flags, 0)),
	C("interp-text-x-only", INTERP, P(PT, p_flags, PF_X)),
	/* scripts; @ is a program that works */
	T("script", SCRIPT, "#!@\n"),
	T("script-argument", SCRIPT, "#!@ one two \n"),
	T("script-blanks", SCRIPT, "#! \t @ \t x\n"),
	T("script-no-newline", SCRIPT, "#!@"),
	T("script-argument-no-newline", SCRIPT, "#!@ x"),
	T("script-bare", SCRIPT, "#!"),
	T("script-bare-newline", SCRIPT, "#!\n"),
	T("script-only-blanks", SCRIPT, "#!  \t \n"),
	T("script-only-blanks-eof", SCRIPT, "#!  "),
	T("script-crlf", SCRIPT, "#!@\r\n"),
	T("script-nul-in-path", SCRIPT, "#!@\0x\n"),
	T("script-nul-in-argument", SCRIPT, "#!@ a\0b\n"),
	T("script-nul-first", SCRIPT, "#!\0@\n"),
	T("script-relative", SCRIPT, "#!nonexistent-relative\n"),
	T("script-missing", SCRIPT, "#!/nonexistent/sh\n"),
	T("script-directory", SCRIPT, "#!/usr\n"),
	T("script-device", SCRIPT, "#!/dev/null\n"),
	T("script-through-file", SCRIPT, "#!/etc/passwd/x\n"),
	T("script-not-executable", SCRIPT, "#!/etc/passwd\n"),
	T("script-sh", SCRIPT, "#!/bin/sh\necho \"$# $0\" | sed 's|/.*/||'\n"),
	T("script-sh-e", SCRIPT, "#!/bin/sh -e\nfalse\necho not reached\n"),
	T("script-env", SCRIPT, "#!/usr/bin/env sh\nexit 7\n"),
	T("script-self", SCRIPT, "#!^\n"),
	T("script-bom", TEXT, "\xef\xbb\xbf#!/bin/sh\nexit 5\n"),
	M("script-254", SCRIPT, script_254),
	M("script-255", SCRIPT, script_255),
	M("script-256", SCRIPT, script_256),
	M("script-long-argument", SCRIPT, script_long_argument),
	T("text", TEXT, "echo \"text $#\"; exit 3\n"),
	T("text-blank-before", TEXT, " #!/bin/sh\nexit 4\n"),
	T("text-newline-before", TEXT, "\n#!/bin/true\nexit 4\n"),
	T("text-hash", TEXT, "# comment\nexit 6\n"),
};

size_t elfgen_count(void)
{
	return sizeof(cases) / sizeof(cases[0]);
}

const char *elfgen_name(size_t i)
{
	return cases[i].name;
}

enum elfgen_kind elfgen_kind_of(size_t i)
{
	return cases[i].base == SCRIPT ? ELFGEN_SCRIPT :
	       cases[i].base == TEXT   ? ELFGEN_TEXT :
					 ELFGEN_ELF;
}

bool elfgen_has_interp(size_t i)
{
	return cases[i].base != STATIC && cases[i].base != STATIC_PIE && cases[i].base != TEXT;
}

static size_t apply(const struct elfgen_case *c, unsigned char *b, size_t size, const char *interp)
{
	for (size_t i = 0; i < MAX_CHANGES; i++) {
		const struct change *ch = &c->change[i];

		if (ch->size)
			memcpy(b + ch->at, &ch->value, ch->size);
		else if (ch->value)
			size = ch->value;
	}
	return c->make ? c->make(b, size, interp) : size;
}

/* @ becomes the interpreter's path, ^ the script's own. */
static size_t expand(const struct elfgen_case *c, unsigned char *b, const char *interp)
{
	size_t n = 0;

	for (size_t i = 0; i < c->text_size; i++) {
		size_t length = strlen(interp);

		if (c->text[i] == '@' || (c->text[i] == '^' && length > 7)) {
			length -= c->text[i] == '^' ? 7 : 0; /* ".interp" */
			memcpy(b + n, interp, length);
			n += length;
		} else {
			b[n++] = (unsigned char)c->text[i];
		}
	}
	return n;
}

size_t elfgen_program(size_t i, const char *interp, unsigned char *b)
{
	const struct elfgen_case *c = &cases[i];

	switch (c->base) {
	case STATIC: return apply(c, b, template(b, FIXED, ET_EXEC, NULL), NULL);
	case STATIC_PIE: return apply(c, b, template(b, 0, ET_DYN, NULL), NULL);
	case PIE: return apply(c, b, template(b, 0, ET_DYN, interp), interp);
	case NOPIE: return apply(c, b, template(b, FIXED, ET_EXEC, interp), interp);
	case INTERP:
	case INTERP_EXEC: return template(b, 0, ET_DYN, interp);
	case SCRIPT:
	case TEXT: break;
	}
	return c->make ? c->make(b, 0, interp) : expand(c, b, interp);
}

size_t elfgen_interp(size_t i, unsigned char *b)
{
	const struct elfgen_case *c = &cases[i];
	bool fixed = c->base == INTERP_EXEC ||
		     (c->base == INTERP && !strncmp(c->name, "interp-exec", 11));
	size_t size = template(b, fixed ? 0x10000000 : 0, fixed ? ET_EXEC : ET_DYN, NULL);

	return c->base == INTERP || c->base == INTERP_EXEC ? apply(c, b, size, NULL) : size;
}

static int write_image(const char *path, const unsigned char *b, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0)
		return -1;
	if (write(fd, b, size) != (ssize_t)size || fchmod(fd, 0755)) {
		close(fd);
		return -1;
	}
	return close(fd);
}

int elfgen_write(size_t i, const char *path)
{
	unsigned char *b = calloc(1, ELFGEN_MAX);
	char interp[4096];
	int rc = -1;

	if (!b)
		return -1;
	snprintf(interp, sizeof(interp), "%s.interp", path);
	if (elfgen_has_interp(i) && write_image(interp, b, elfgen_interp(i, b)))
		goto out;
	rc = write_image(path, b, elfgen_program(i, interp, b));
out:
	free(b);
	return rc;
}
