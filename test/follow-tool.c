/*
 * follow-tool.c - programs for follow.sh, by the name of the first argument
 *
 * show: the words a mask of AT_HWCAP2 can reach, as the stack and, where it
 * may be read, /proc/self/auxv have them. All others execute the program that follows,
 * each in a way of its own.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static unsigned long entry(const Elf64_auxv_t *av, unsigned long type)
{
	for (; av->a_type != AT_NULL; av++)
		if (av->a_type == type)
			return av->a_un.a_val;
	return 0;
}

static int show(void)
{
	Elf64_auxv_t file[64] = { { 0 } };
	char **e = environ, text[128];
	int fd = open("/proc/self/auxv", O_RDONLY), n;
	const Elf64_auxv_t *stack;

	while (*e)
		e++;
	stack = (const Elf64_auxv_t *)(e + 1);
	if (fd >= 0 && read(fd, file, sizeof(file)) <= 0)
		return 1;
	n = snprintf(text, sizeof(text), "%#lx %#lx %#lx %#lx\n", entry(stack, 16),
		     entry(stack, 26), entry(file, 16), entry(file, 26));
	return write(1, text, (size_t)n) != n;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int use_vfork(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(126);
	}
	return wait_for(pid);
}

static int use_spawn(char **argv)
{
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ))
		return 126;
	return wait_for(pid);
}

static pthread_barrier_t barrier;

static void *thread(void *argv)
{
	pthread_barrier_wait(&barrier);
	execv(*(char **)argv, argv);
	return NULL;
}

/* COUNT threads execute at the same moment; one of them succeeds. */
static int use_threads(char **argv, unsigned int count)
{
	pthread_t id;

	pthread_barrier_init(&barrier, NULL, count);
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&id, NULL, thread, argv))
			return 1;
	pthread_join(id, NULL);
	pause();
	return 126;
}

/* execveat of a descriptor; and of one that is closed by it. */
static int use_fd(char **argv, int flags)
{
	int fd = open(argv[0], O_PATH | flags);

	syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	return 126;
}

/* An own filter that denies execveat and leaves the rest. */
static int use_filter(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return 1;
	if (!use_fd(argv, 0) || errno != EXDEV)
		return 2;
	execv(argv[0], argv);
	return 126;
}

/* With SIGTRAP blocked and pending, by the letter, or ignored. */
static int use_trap(char **argv)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (strchr(argv[0], 'i'))
		signal(SIGTRAP, SIG_IGN);
	if (strchr(argv[0], 'b'))
		sigprocmask(SIG_BLOCK, &set, NULL);
	if (strchr(argv[0], 'p'))
		kill(getpid(), SIGTRAP);
	execvp(argv[1], argv + 1);
	return 126;
}

/* A filter that denies one system call, by number. */
static int use_deny(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)atoi(argv[0]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return 1;
	execv(argv[1], argv + 1);
	return 126;
}

static int use_closed(char **argv)
{
	int out = dup(1);

	for (int fd = 0; fd < 256; fd++)
		if (fd != out)
			close(fd);
	dup2(out, 1);
	close(out);
	execv(argv[0], argv);
	return 126;
}

/* What gosu, su-exec and the like do. */
static int use_ids(char **argv)
{
	gid_t group = 65534;

	if (setgroups(1, &group) || setgid(65534) || setuid(65534))
		return 1;
	execvp(argv[0], argv);
	return 126;
}

/* Errno of an exec that must fail, then one that must not. */
static int use_failure(char **argv)
{
	execv(argv[0], argv);
	printf("%s ", strerrorname_np(errno));
	fflush(stdout);
	execv(argv[1], argv + 1);
	return 126;
}

/* Kill children at random points, and count those that ended otherwise. */
static int use_kill(char **argv)
{
	unsigned int random = 1;

	for (int i = 0; i < 300; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			dup2(open("/dev/null", O_WRONLY), 1);
			execv(argv[0], argv);
			_exit(126);
		}
		random = random * 1103515245 + 12345;
		for (unsigned int n = (random >> 16) % 40000; n; n--)
			__asm__ volatile("");
		if (i % 3 == 0) {
			kill(pid, SIGSTOP);
			kill(pid, SIGCONT);
		}
		if (i % 3 == 1)
			kill(pid, SIGKILL);
		int status = wait_for(pid);
		if (status != 0 && status != 128 + SIGKILL)
			return 1;
	}
	execv(argv[0], argv);
	return 126;
}

/* No child is to be seen, and no SIGCHLD to be had. */
static volatile sig_atomic_t signals;

static void count(int signal)
{
	signals += signal == SIGCHLD;
}

static int use_children(char **argv)
{
	signal(SIGCHLD, count);
	if (use_vfork(argv))
		return 1;
	errno = 0;
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD || signals != 1)
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char **rest = argv + 2;

	if (!strcmp(how, "show"))
		return show();
	if (argc < 3)
		return 1;
	if (!strcmp(how, "vfork"))
		return use_vfork(rest);
	if (!strcmp(how, "spawn"))
		return use_spawn(rest);
	if (!strcmp(how, "thread"))
		return use_threads(rest, 1);
	if (!strcmp(how, "threads"))
		return use_threads(rest, 8);
	if (!strcmp(how, "fd"))
		return use_fd(rest, 0);
	if (!strcmp(how, "cloexec"))
		return use_fd(rest, O_CLOEXEC);
	if (!strcmp(how, "filter"))
		return use_filter(rest);
	if (!strcmp(how, "deny"))
		return use_deny(rest);
	if (!strcmp(how, "trap"))
		return use_trap(rest);
	if (!strcmp(how, "closed"))
		return use_closed(rest);
	if (!strcmp(how, "ids"))
		return use_ids(rest);
	if (!strcmp(how, "failure"))
		return use_failure(rest);
	if (!strcmp(how, "kill"))
		return use_kill(rest);
	if (!strcmp(how, "children"))
		return use_children(rest);
	return 1;
}
