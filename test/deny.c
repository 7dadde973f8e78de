/*
 * deny.c - run a program where some system calls fail
 *
 *	deny CALLS PROGRAM [ARG]...
 *
 * CALLS are names of those below, separated by commas; with a name of an errno
 * behind a colon they fail with that one, else with ENOSYS, as in a kernel that
 * is older than the call. "none" denies nothing.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	char name[20];
	int number;
} calls[] = {
	{ "getxattrat", 464 },
	{ "ioctl", SYS_ioctl },
	{ "open_by_handle_at", SYS_open_by_handle_at },
	{ "openat2", 437 },
	{ "pidfd_open", 434 },
};

static int number_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strlen(calls[i].name) == length && !memcmp(calls[i].name, word, length))
			return calls[i].number;
	return -1;
}

static int error_of(const char *word)
{
	return !strncmp(word, ":EPERM", 6) ? EPERM : !strncmp(word, ":EMFILE", 7) ? EMFILE : ENOSYS;
}

static int install(int number, int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int argc, char **argv)
{
	const char *word = argc > 2 ? argv[1] : NULL;

	if (!word || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 99;
	while (strcmp(word, "none") && *word) {
		size_t item = strcspn(word, ","), name = strcspn(word, ":,");
		int number = number_of(word, name);

		if (number < 0 || install(number, error_of(word + name)))
			return 99;
		word += item + (word[item] == ',');
	}
	execvp(argv[2], argv + 2);
	return 98;
}
