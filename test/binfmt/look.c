/*
 * look.c - what a program was started with, one fact a line
 *
 * Reads the initial stack itself, so that no libc stands between; and as the
 * first thing, before a libc opens anything, which descriptors are open.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void print_vector(char **envp)
{
	const Elf64_auxv_t *av;

	while (*envp)
		envp++;
	for (av = (const Elf64_auxv_t *)(void *)(envp + 1); av->a_type != AT_NULL; av++) {
		switch (av->a_type) {
		case AT_FLAGS: printf("flags %lu\n", av->a_un.a_val); break;
		case AT_EXECFD: printf("execfd %lu\n", av->a_un.a_val); break;
		case AT_SECURE: printf("secure %lu\n", av->a_un.a_val); break;
		case AT_HWCAP: printf("hwcap %lx\n", av->a_un.a_val); break;
		case AT_HWCAP2: printf("hwcap2 %lx\n", av->a_un.a_val); break;
		case AT_EXECFN: printf("execfn %s\n", (char *)av->a_un.a_val); break;
		default: break;
		}
	}
}

int main(int argc, char **argv, char **envp)
{
	char name[17] = "";

	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d\n", fd);
	for (int i = 0; i < argc; i++)
		printf("argv[%d] %s\n", i, argv[i]);
	print_vector(envp);
	prctl(PR_GET_NAME, name);
	printf("comm %s\neuid %d\n", name, (int)geteuid());
	return 0;
}
