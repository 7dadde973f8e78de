#include "ctl_binfmt.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* ---- the program that is executed ------------------------------------------- */

/*
 * Ourselves without the marker: a native program that is there wherever we
 * are. Not close-on-exec, since binfmt_misc refuses to open that by its path.
 */
static int make_program(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = memfd_create("hwcapctl-unmarked", 0);
	char buffer[65536];
	ssize_t r = -1;

	while (from >= 0 && to >= 0 && (r = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)r) != r)
			break;
	if (from >= 0)
		close(from);
	if (r == 0 && pwrite(to, "", 1, EI_ABIVERSION) == 1)
		return to;
	if (to >= 0)
		close(to);
	return -1;
}

static void format_words(const struct hwcaps *hide, char text[HWCAP_ENTRIES][20])
{
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		snprintf(text[i], sizeof(text[i]), "0x%llx", (unsigned long long)hide->word[i]);
}

/* Exit status of PID, 128 + N if signal N ended it, -1 if it is not ours. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int binfmt_check_exec(const struct hwcaps *hide)
{
	char words[HWCAP_ENTRIES][20];
	const char *const argv[] = { "hwcapctl", "binfmt", "vector", words[0],
				     words[1],   words[2], words[3], NULL };
	const char *const envp[] = { NULL };
	int fd = make_program(), status;
	pid_t pid;

	if (fd < 0)
		return -1;
	format_words(hide, words);
	pid = fork();
	if (pid == 0) {
		syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
		_exit(EXIT_FAILED);
	}
	status = pid < 0 ? -1 : wait_for(pid);
	close(fd);
	return status ? -1 : 0;
}

int binfmt_check_vector(const struct hwcaps *vector, int argc, char **argv)
{
	for (int i = 0; i < HWCAP_ENTRIES && i < argc; i++)
		if (vector->word[i] & strtoull(argv[i], NULL, 16))
			return CTL_FAILED;
	return argc == HWCAP_ENTRIES ? CTL_OK : EXIT_FAILED;
}

/* ---- a namespace of its own -------------------------------------------------- */

enum result { PASSED, NO_NAMESPACE, NO_INSTANCE, REFUSED, NOT_MASKED };

static bool write_text(const char *path, const char *text)
{
	const ssize_t length = (ssize_t)strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, (size_t)length) == length;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Root there is who we are here. */
static bool map_id(const char *path, unsigned int id)
{
	char text[32];

	snprintf(text, sizeof(text), "0 %u 1\n", id);
	return write_text(path, text);
}

static bool enter_namespace(void)
{
	const unsigned int uid = geteuid(), gid = getegid();

	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       write_text("/proc/self/setgroups", "deny") && map_id("/proc/self/uid_map", uid) &&
	       map_id("/proc/self/gid_map", gid) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* What is mounted on PATH now must be another instance than that of OUTSIDE. */
static bool mount_instance(const struct binfmt_instance *outside, struct binfmt_instance *inside)
{
	struct stat before, after;

	*inside = (struct binfmt_instance){ .path = outside->path, .dir = -1 };
	if (fstat(outside->dir, &before) ||
	    mount("binfmt_misc", outside->path, "binfmt_misc", 0, NULL))
		return false;
	inside->dir = open(outside->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return inside->dir >= 0 && !fstat(inside->dir, &after) && before.st_dev != after.st_dev;
}

static enum result test_in_namespace(const struct binfmt_instance *outside,
				     const struct binfmt_rule *rule, const struct hwcaps *hide)
{
	struct binfmt_instance inside;

	if (!enter_namespace())
		return NO_NAMESPACE;
	if (!mount_instance(outside, &inside))
		return NO_INSTANCE;
	if (binfmt_add(&inside, rule))
		return REFUSED;
	return binfmt_check_exec(hide) ? NOT_MASKED : PASSED;
}

int binfmt_self_test(const struct binfmt_instance *instance, const struct binfmt_rule *rule,
		     const struct hwcaps *hide)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(test_in_namespace(instance, rule, hide));
	switch (pid < 0 ? NO_NAMESPACE : wait_for(pid)) {
	case PASSED: return CTL_OK;
	case NO_NAMESPACE:
		return ctl_fail(CTL_FAILED, "unable to test the rule in a user namespace of its "
					    "own; --no-test registers it untested");
	case NO_INSTANCE:
		return ctl_fail(
			CTL_FAILED,
			"unable to test the rule in an instance of its own (Linux 6.7 can); "
			"--no-test registers it untested");
	case REFUSED:
		return ctl_fail(CTL_FAILED,
				"the kernel refuses the rule (is %.512s on a file "
				"system mounted noexec?)",
				rule->interpreter);
	default:
		return ctl_fail(CTL_FAILED, "under the rule a test program did not run, or was not "
					    "masked; nothing was registered");
	}
}
