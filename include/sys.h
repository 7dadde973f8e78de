/*
 * sys.h - system calls, raw
 *
 * Each sys_xxx() is the call of that name: it returns what the kernel
 * returns, a negative errno on failure, and touches no errno variable (there
 * is no thread pointer to find one through). Everything is inline; numbers
 * are those of <sys/syscall.h>, or of the table common to all architectures
 * (include/uapi/asm-generic/unistd.h) where the libc is too old to know them.
 */
#ifndef SYS_H
#define SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "arch.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif
#ifndef SYS_lsm_list_modules
#define SYS_lsm_list_modules 461
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_MAYMOVE
#define MREMAP_MAYMOVE 1
#define MREMAP_FIXED   2
#endif

/* include/linux/err.h: the last page of the address space is errno values. */
static inline int sys_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

static inline long sys_openat(int dir, const char *path, int flags, int mode)
{
	return arch_syscall(SYS_openat, dir, (long)path, flags, mode, 0, 0);
}

/* include/uapi/linux/openat2.h: struct open_how. */
struct sys_open_how {
	uint64_t flags, mode, resolve;
};

static inline long sys_openat2(int dir, const char *path, const struct sys_open_how *how)
{
	return arch_syscall(SYS_openat2, dir, (long)path, (long)how, sizeof(*how), 0, 0);
}

static inline long sys_open_by_handle_at(int mount, const void *handle, int flags)
{
	return arch_syscall(SYS_open_by_handle_at, mount, (long)handle, flags, 0, 0, 0);
}

static inline long sys_pidfd_open(int pid, unsigned int flags)
{
	return arch_syscall(SYS_pidfd_open, pid, flags, 0, 0, 0, 0);
}

static inline long sys_ioctl(int fd, unsigned long request, void *argument)
{
	return arch_syscall(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

static inline long sys_close(int fd)
{
	return arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_read(int fd, void *to, size_t size)
{
	return arch_syscall(SYS_read, fd, (long)to, (long)size, 0, 0, 0);
}

static inline long sys_write(int fd, const void *from, size_t size)
{
	return arch_syscall(SYS_write, fd, (long)from, (long)size, 0, 0, 0);
}

static inline long sys_pread(int fd, void *to, size_t size, uint64_t at)
{
	return arch_syscall(SYS_pread64, fd, (long)to, (long)size, (long)at, 0, 0);
}

static inline long sys_pwrite(int fd, const void *from, size_t size, uint64_t at)
{
	return arch_syscall(SYS_pwrite64, fd, (long)from, (long)size, (long)at, 0, 0);
}

static inline long sys_statx(int dir, const char *path, int flags, unsigned int want, void *to)
{
	return arch_syscall(SYS_statx, dir, (long)path, flags, want, (long)to, 0);
}

static inline long sys_faccessat2(int dir, const char *path, int mode, int flags)
{
	return arch_syscall(SYS_faccessat2, dir, (long)path, mode, flags, 0, 0);
}

static inline long sys_fstatfs(int fd, void *to)
{
	return arch_syscall(SYS_fstatfs, fd, (long)to, 0, 0, 0, 0);
}

static inline long sys_fcntl(int fd, int command, long value)
{
	return arch_syscall(SYS_fcntl, fd, command, value, 0, 0, 0);
}

static inline long sys_fgetxattr(int fd, const char *name, void *to, size_t size)
{
	return arch_syscall(SYS_fgetxattr, fd, (long)name, (long)to, (long)size, 0, 0);
}

/* include/uapi/linux/xattr.h: struct xattr_args. */
struct sys_xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

static inline long sys_getxattrat(int dir, const char *path, const char *name, void *to,
				  size_t size)
{
	struct sys_xattr_args args = { (uint64_t)(uintptr_t)to, (uint32_t)size, 0 };

	return arch_syscall(SYS_getxattrat, dir, (long)path, 0, (long)name, (long)&args,
			    sizeof(args));
}

static inline long sys_readlinkat(int dir, const char *path, char *to, size_t size)
{
	return arch_syscall(SYS_readlinkat, dir, (long)path, (long)to, (long)size, 0, 0);
}

static inline long sys_mmap(uint64_t at, size_t size, int prot, int flags, int fd, uint64_t offset)
{
	return arch_syscall(SYS_mmap, (long)at, (long)size, prot, flags, fd, (long)offset);
}

static inline long sys_munmap(uint64_t at, size_t size)
{
	return arch_syscall(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

static inline long sys_mprotect(uint64_t at, size_t size, int prot)
{
	return arch_syscall(SYS_mprotect, (long)at, (long)size, prot, 0, 0, 0);
}

static inline long sys_mremap(uint64_t at, size_t size, size_t new_size, int flags, uint64_t to)
{
	return arch_syscall(SYS_mremap, (long)at, (long)size, (long)new_size, flags, (long)to, 0);
}

static inline long sys_mincore(uint64_t at, size_t size, void *to)
{
	return arch_syscall(SYS_mincore, (long)at, (long)size, (long)to, 0, 0, 0);
}

static inline long sys_brk(uint64_t to)
{
	return arch_syscall(SYS_brk, (long)to, 0, 0, 0, 0, 0);
}

static inline long sys_personality(unsigned long persona)
{
	return arch_syscall(SYS_personality, (long)persona, 0, 0, 0, 0, 0);
}

static inline long sys_prctl(int what, unsigned long a, unsigned long b, unsigned long c,
			     unsigned long d)
{
	return arch_syscall(SYS_prctl, what, (long)a, (long)b, (long)c, (long)d, 0);
}

static inline long sys_getrandom(void *to, size_t size, unsigned int flags)
{
	return arch_syscall(SYS_getrandom, (long)to, (long)size, flags, 0, 0, 0);
}

static inline long sys_getuid(void)
{
	return arch_syscall(SYS_getuid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_geteuid(void)
{
	return arch_syscall(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_getegid(void)
{
	return arch_syscall(SYS_getegid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_getgroups(int size, unsigned int *list)
{
	return arch_syscall(SYS_getgroups, size, (long)list, 0, 0, 0, 0);
}

static inline long sys_lsm_list_modules(uint64_t *ids, uint32_t *size)
{
	return arch_syscall(SYS_lsm_list_modules, (long)ids, (long)size, 0, 0, 0, 0);
}

static inline long sys_ptrace(long request, int tid, unsigned long addr, unsigned long data)
{
	return arch_syscall(SYS_ptrace, request, tid, (long)addr, (long)data, 0, 0);
}

static inline long sys_wait4(int pid, int *status, int options)
{
	return arch_syscall(SYS_wait4, pid, (long)status, options, 0, 0, 0);
}

static inline long sys_waitid(int which, int id, void *info, int options)
{
	return arch_syscall(SYS_waitid, which, id, (long)info, options, 0, 0);
}

/* Not the private kind: what CLONE_CHILD_CLEARTID wakes is not, either. */
static inline long sys_futex_wait(int *word, int while_it_is)
{
	return arch_syscall(SYS_futex, (long)word, 0, while_it_is, 0, 0, 0);
}

static inline long sys_futex_wake(int *word)
{
	return arch_syscall(SYS_futex, (long)word, 1, 1, 0, 0, 0);
}

static inline long sys_execve(const char *path, char *const *argv, char *const *envp)
{
	return arch_syscall(SYS_execve, (long)path, (long)argv, (long)envp, 0, 0, 0);
}

static inline long sys_execveat(int dir, const char *path, char *const *argv, char *const *envp,
				int flags)
{
	return arch_syscall(SYS_execveat, dir, (long)path, (long)argv, (long)envp, flags, 0);
}

static inline long sys_getpid(void)
{
	return arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_getppid(void)
{
	return arch_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_kill(int pid, int signal)
{
	return arch_syscall(SYS_kill, pid, signal, 0, 0, 0, 0);
}

/* The kernel's signal set: 64 bits wherever we run. */
static inline long sys_sigprocmask(int how, const uint64_t *set, uint64_t *old)
{
	return arch_syscall(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(*set), 0, 0);
}

static inline long sys_sigpending(uint64_t *set)
{
	return arch_syscall(SYS_rt_sigpending, (long)set, sizeof(*set), 0, 0, 0, 0);
}

static inline long sys_sigaction(int signal, const void *action, void *old)
{
	return arch_syscall(SYS_rt_sigaction, signal, (long)action, (long)old, sizeof(uint64_t), 0,
			    0);
}

struct sys_iovec {
	void *base;
	size_t size;
};

static inline long sys_close_range(unsigned int first, unsigned int last)
{
	return arch_syscall(SYS_close_range, first, last, 0, 0, 0, 0);
}

static inline long sys_memfd_create(const char *name, unsigned int flags)
{
	return arch_syscall(SYS_memfd_create, (long)name, flags, 0, 0, 0, 0);
}

static inline long sys_getcwd(char *to, size_t size)
{
	return arch_syscall(SYS_getcwd, (long)to, (long)size, 0, 0, 0, 0);
}

static inline long sys_capget(void *header, void *data)
{
	return arch_syscall(SYS_capget, (long)header, (long)data, 0, 0, 0, 0);
}

/* process_vm_readv(2) or process_vm_writev(2), by NUMBER. */
static inline long sys_process_vm(long number, int pid, const struct sys_iovec *local, int locals,
				  const struct sys_iovec *remote, int remotes)
{
	return arch_syscall(number, pid, (long)local, locals, (long)remote, remotes, 0);
}

static inline long sys_process_vm_readv(int pid, const struct sys_iovec *to,
					const struct sys_iovec *from)
{
	return sys_process_vm(SYS_process_vm_readv, pid, to, 1, from, 1);
}

static inline long sys_process_vm_writev(int pid, const struct sys_iovec *from,
					 const struct sys_iovec *to)
{
	return sys_process_vm(SYS_process_vm_writev, pid, from, 1, to, 1);
}

/* clone(2) without a stack: as fork(2). Zeros mean the same in any order. */
static inline long sys_fork(unsigned long flags)
{
	return arch_syscall(SYS_clone, (long)flags, 0, 0, 0, 0, 0);
}

static inline long sys_tgkill(int pid, int tid, int signal)
{
	return arch_syscall(SYS_tgkill, pid, tid, signal, 0, 0, 0);
}

struct sys_pollfd {
	int fd;
	short events, revents;
};

static inline long sys_poll(struct sys_pollfd *fds, unsigned int count)
{
	return arch_syscall(SYS_ppoll, (long)fds, count, 0, 0, 0, 0);
}

static inline long sys_poll_now(struct sys_pollfd *fd)
{
	const uint64_t now[2] = { 0, 0 };

	return arch_syscall(SYS_ppoll, (long)fd, 1, (long)now, 0, 0, 0);
}

static inline long sys_pidfd_getfd(int process, int fd)
{
	return arch_syscall(438, process, fd, 0, 0, 0, 0);
}

static inline long sys_sendto(int fd, const void *from, size_t size, int flags)
{
	return arch_syscall(SYS_sendto, fd, (long)from, (long)size, flags, 0, 0);
}

static inline long sys_seccomp(unsigned int operation, unsigned long flags, void *argument)
{
	return arch_syscall(SYS_seccomp, operation, (long)flags, (long)argument, 0, 0, 0);
}

static inline long sys_socketpair(int type, int fds[2])
{
	return arch_syscall(SYS_socketpair, 1 /* AF_UNIX */, type, 0, (long)fds, 0, 0);
}

static inline long sys_sendmsg(int fd, const void *message, int flags)
{
	return arch_syscall(SYS_sendmsg, fd, (long)message, flags, 0, 0, 0);
}

static inline long sys_recvmsg(int fd, void *message, int flags)
{
	return arch_syscall(SYS_recvmsg, fd, (long)message, flags, 0, 0, 0);
}

static inline long sys_signalfd(const uint64_t *set, int flags)
{
	return arch_syscall(SYS_signalfd4, -1, (long)set, sizeof(*set), flags, 0, 0);
}

static inline long sys_setsid(void)
{
	return arch_syscall(SYS_setsid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_chdir(const char *path)
{
	return arch_syscall(SYS_chdir, (long)path, 0, 0, 0, 0, 0);
}

static inline long sys_dup3(int from, int to, int flags)
{
	return arch_syscall(SYS_dup3, from, to, flags, 0, 0, 0);
}

static inline long sys_prlimit(int pid, int which, const void *limit, void *old)
{
	return arch_syscall(SYS_prlimit64, pid, which, (long)limit, (long)old, 0, 0);
}

__attribute__((noreturn)) static inline void sys_exit(int status)
{
	for (;;)
		arch_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* The end execve(2) itself gives a process past its point of no return. */
__attribute__((noreturn)) static inline void sys_die(void)
{
	long pid = arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	for (;;)
		arch_syscall(SYS_kill, pid, 9, 0, 0, 0, 0);
}

#endif
