/*
 * plain - a wrapper that hides nothing: execve, told in the wrapper's words
 *
 *	plain [--mask=...] -- PROGRAM [ARG]...
 *
 * For trying the tests themselves: native against this must be all equal.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* Text without #!, which execvp(3) gives to a shell? */
static bool is_text(const char *path)
{
	char b[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, b, sizeof(b));

	if (fd >= 0)
		close(fd);
	return n == 0 ||
	       (n > 0 && !memchr(b, 0, (size_t)n) && memcmp(b, "#!", 2) && memcmp(b, "\177ELF", 4));
}

static int try(const char *path, char **argv)
{
	int error;

	execve(path, argv, environ);
	error = errno;
	if (error == ENOEXEC && is_text(path)) {
		char *words[64] = { argv[0], (char *)(size_t)path };

		for (int i = 1; argv[i] && i < 61; i++)
			words[i + 1] = argv[i];
		execve("/bin/sh", words, environ);
	}
	return error;
}

/* As glibc's execvp(3). */
static int search(const char *name, char **argv)
{
	const char *path = getenv("PATH");
	bool denied = false;
	int error = ENOENT;

	if (!*name || strchr(name, '/'))
		return *name ? try(name, argv) : ENOENT;
	if (!path)
		path = "/bin:/usr/bin";
	for (;; path++) {
		size_t n = strcspn(path, ":");
		char *full;

		if (asprintf(&full, "%.*s%s%s", (int)n, path, n ? "/" : "", name) < 0)
			return ENOMEM;
		error = try(full, argv);
		free(full);
		denied |= error == EACCES;
		if (error != EACCES && error != ENOENT && error != ENOTDIR && error != ESTALE &&
		    error != ENODEV && error != ETIMEDOUT)
			return error;
		path += n;
		if (!*path)
			return denied ? EACCES : error;
	}
}

int main(int argc, char **argv)
{
	int i = 1, error;

	while (i < argc && strcmp(argv[i], "--"))
		i++;
	if (i + 1 >= argc)
		return 125;
	error = search(argv[i + 1], argv + i + 1);
	fprintf(stderr, "hwcap-exec: %s: %s\n", argv[i + 1], strerror(error));
	return error == ENOENT ? 127 : 126;
}
