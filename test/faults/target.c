/*
 * target - tells all that a mask or a half-done load would change
 *
 * Linked like hwcap-exec, without a C library: its first system call, which
 * no program makes, tells the injector that it runs.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "sys.h"

enum { MARKER = 0x5ca1ab1e, DESCRIPTORS = 64 };

void hwcap_exec_main(void *sp);

static void put(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	sys_write(1, s, n);
}

static void put_number(const char *name, uint64_t value)
{
	char text[20] = " ", *end = text + 18;

	put(name);
	*end = '\n';
	for (; end > text + 1; value >>= 4)
		*--end = "0123456789abcdef"[value & 15];
	sys_write(1, text, 19);
}

static void put_vector(const char *name, const Elf64_auxv_t *av)
{
	put(name);
	put("\n");
	for (; av->a_type != AT_NULL; av++)
		if (av->a_type == AT_HWCAP || av->a_type == AT_HWCAP2 || av->a_type == AT_SECURE ||
		    av->a_type == AT_ENTRY || av->a_type == AT_BASE || av->a_type == AT_PHDR)
			put_number(" ", av->a_un.a_val);
}

static void put_file(const char *name)
{
	char text[2048];
	long fd = sys_openat(AT_FDCWD, name, O_RDONLY, 0), n;

	put(name);
	put("\n");
	while ((n = sys_read((int)fd, text, sizeof(text))) > 0)
		sys_write(1, text, (size_t)n);
	sys_close((int)fd);
}

static void put_saved_vector(void)
{
	Elf64_auxv_t av[64] = { { 0 } };
	long fd = sys_openat(AT_FDCWD, "/proc/self/auxv", O_RDONLY, 0);

	sys_read((int)fd, av, sizeof(av) - sizeof(av[0]));
	sys_close((int)fd);
	put_vector("saved", av);
}

void hwcap_exec_main(void *sp)
{
	unsigned long *word = sp, argc = *word++;

	sys_fcntl(-1, MARKER, 0);
	for (word += argc + 1; *word; word++)
		continue;
	put_vector("vector", (const Elf64_auxv_t *)(word + 1));
	put_saved_vector();
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (sys_fcntl(fd, F_GETFD, 0) >= 0)
			put_number("descriptor", (uint64_t)fd);
	put_number("brk", (uint64_t)sys_brk(0));
	put_file("/proc/self/maps");
	sys_exit(0);
}
