/*
 * floor.c - what the loader cannot do without, and nothing else
 *
 *	floor PATH
 *
 * Makes this process PATH, a static program of fixed addresses without bss,
 * by the system calls and page faults that hwcap-exec needs for it: no
 * options, no mask, no checks, no new stack. Linked with hwcap-exec's start
 * code and linker script, so that its exec costs the same, too. What it adds
 * to a native exec is what no work on hwcap-exec's own code can go below.
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/prctl.h>

#include "arch.h"
#include "process.h"
#include "sys.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef AT_EACCESS
#define AT_EACCESS 0x200
#endif

enum { PAGE = 4096, HEAD = 1024 };

void hwcap_exec_main(void *sp);
extern const char image_start[], image_end[];

static void check(long result)
{
	if (sys_failed(result))
		sys_exit(125);
}

/* As program_file_open(). Returns the descriptor. */
static int open_program(const char *path, void *head)
{
	struct statx st;
	long fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

	check(fd);
	check(sys_statx((int)fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st));
	check(sys_faccessat2((int)fd, "", 1, AT_EACCESS | AT_EMPTY_PATH));
	check(sys_pread((int)fd, head, HEAD, 0));
	return (int)fd;
}

static void map_segments(int fd, const Elf64_Ehdr *eh, struct process_map *map)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)((const char *)eh + eh->e_phoff);

	for (unsigned int i = 0; i < eh->e_phnum; i++, ph++) {
		uint64_t in_page = ph->p_vaddr % PAGE, at = ph->p_vaddr - in_page;

		if (ph->p_type != PT_LOAD)
			continue;
		check(sys_mmap(at, ph->p_filesz + in_page,
			       (ph->p_flags & PF_R ? PROT_READ : 0) |
				       (ph->p_flags & PF_X ? PROT_EXEC : 0),
			       MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, ph->p_offset - in_page));
		map->start_code = map->start_data = ph->p_vaddr;
		map->end_code = map->end_data = ph->p_vaddr + ph->p_filesz;
	}
	map->start_brk = map->brk = map->end_data + PAGE;
}

struct stack {
	uint64_t sp, vdso, last_page;
};

/* The strings stay as they are, so that ours are given again. */
static void read_stack(uint64_t *word, struct stack *s, struct process_map *map)
{
	uint64_t argc = *word;

	s->sp = (uint64_t)word;
	map->start_stack = (uint64_t)word;
	map->arg_start = map->arg_end = map->env_start = map->env_end = word[1];
	for (word += argc + 2; *word; word++)
		;
	map->auxv = (const Elf64_auxv_t *)(word + 1);
	for (const Elf64_auxv_t *av = map->auxv; av->a_type; av++) {
		map->auxv_size += sizeof(*av);
		if (av->a_type == AT_SYSINFO_EHDR)
			s->vdso = av->a_un.a_val;
		/* The last string; a null word follows. */
		if (av->a_type == AT_EXECFN)
			s->last_page = (av->a_un.a_val + strlen((char *)av->a_un.a_val) + 8) &
				       -(uint64_t)PAGE;
	}
	map->auxv_size += sizeof(Elf64_auxv_t);
}

__attribute__((noreturn)) static void leave(const struct stack *s, const struct process_map *map,
					    uint64_t entry)
{
	_Alignas(16) char code[512];
	struct arch_entry to = { .pc = entry, .sp = s->sp };
	struct arch_leave_site site = { 0 };
	struct arch_leave how = {
		.unmap = (uint64_t)image_start,
		.unmap_size = ((uint64_t)image_end - (uint64_t)image_start + PAGE - 1) &
			      -(uint64_t)PAGE,
		.mm_map = (uint64_t)map,
		.mm_map_size = sizeof(*map),
		.fd = (int)map->exe_fd,
		.last = s->last_page,
		.last_size = PAGE,
		.last_prot = PROT_READ | PROT_WRITE | PROT_GROWSDOWN,
	};
	uint32_t header[2] = { 0x20080522, 0 }, data[6];

	arch_find_leave_site((const unsigned char *)s->vdso, PAGE, s->vdso, &site);
	sys_capget(header, data);
	check(sys_mprotect(how.last, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN));
	memcpy(code, (const void *)arch_leave, (size_t)(arch_leave_end - (const char *)arch_leave));
	sys_prctl(PR_SET_NAME, (unsigned long)"floor", 0, 0, 0);
	arch_leave_prepare(&how, &site, &to);
	((void (*)(const struct arch_leave *))(void *)code)(&how);
	__builtin_unreachable();
}

void hwcap_exec_main(void *sp)
{
	/* The head lies highest: what the leave site consumes goes over it. */
	struct {
		struct process_map map;
		struct stack stack;
		_Alignas(8) unsigned char head[HEAD];
	} f;

	memset(&f.map, 0, sizeof(f.map));
	read_stack(sp, &f.stack, &f.map);
	f.map.exe_fd = (uint32_t)open_program(((char **)sp)[2], f.head);
	sys_prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
	sys_brk(0);
	map_segments((int)f.map.exe_fd, (const Elf64_Ehdr *)(const void *)f.head, &f.map);
	leave(&f.stack, &f.map, ((const Elf64_Ehdr *)(const void *)f.head)->e_entry);
}
