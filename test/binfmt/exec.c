/*
 * exec.c - the ways to execute that a shell has no words for
 *
 *	exec as PATH [ARG]...        execve(PATH, {ARG...})
 *	exec fd|cloexec PATH ARG...  execveat(fd of PATH, "", {ARG...}, AT_EMPTY_PATH)
 *	exec memfd PATH ARG...       the same of a copy in memory
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

extern char **environ;

static int copy(int from)
{
	int to = memfd_create("in-memory", 0);

	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(from);
	return to;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc < 3)
		return 125;
	if (!strcmp(argv[1], "as")) {
		execve(argv[2], argv + 3, environ);
	} else {
		fd = open(argv[2], O_RDONLY | (strcmp(argv[1], "fd") ? O_CLOEXEC : 0));
		if (!strcmp(argv[1], "memfd"))
			fd = copy(fd);
		syscall(SYS_execveat, fd, "", argv + 3, environ, AT_EMPTY_PATH);
	}
	printf("errno %d\n", errno);
	return 124;
}
