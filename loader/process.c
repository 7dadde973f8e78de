#include <errno.h>
#include <string.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/prctl.h>

#include "arch.h"
#include "process.h"
#include "sys.h"

#ifndef PR_SET_MM
#define PR_SET_MM 35
#endif
#ifndef PR_SET_MM_MAP
#define PR_SET_MM_MAP 14
#endif

void process_map(const struct image *program, const struct stack_plan *stack, uint64_t brk,
		 const Elf64_auxv_t *auxv, size_t auxc, struct process_map *map)
{
	const struct elf_plan *p = &program->plan;

	*map = (struct process_map){
		.start_code = p->start_code + program->bias,
		.end_code = p->end_code + program->bias,
		.start_data = p->start_data + program->bias,
		.end_data = p->end_data + program->bias,
		.start_brk = brk,
		.brk = brk,
		.start_stack = stack->sp,
		.arg_start = stack->strings,
		.arg_end = stack->env_start,
		.env_start = stack->env_start,
		.env_end = stack->execfn,
		.auxv = auxv,
		.auxv_size = (uint32_t)(auxc * sizeof(*auxv)),
		.exe_fd = (uint32_t)-1,
	};
}

/* Above any mmap_min_addr in use. */
enum { TAME_BRK = 1 << 20 };

static long set_map(const struct process_map *map)
{
	return sys_prctl(PR_SET_MM, PR_SET_MM_MAP, (unsigned long)map, sizeof(*map), 0);
}

/*
 * validate_prctl_map_addr() wants ranges that are in order and above
 * mmap_min_addr, which execve does not: a file without an executable segment,
 * say. Only /proc/PID/stat shows these four.
 */
void process_map_tame(struct process_map *map)
{
	/* A program that loads nothing has its brk at the very bottom. */
	if (map->brk < TAME_BRK)
		map->start_brk = map->brk = TAME_BRK;
	map->start_code = map->brk - 1;
	map->end_code = map->brk;
	map->start_data = map->brk - 1;
	map->end_data = map->brk;
}

enum { CAP_SYS_PTRACE = 19, CAP_SYS_ADMIN = 21, CAP_CHECKPOINT_RESTORE = 40 };

enum cap_set { CAP_EFFECTIVE, CAP_PERMITTED };

/* include/uapi/linux/capability.h, version 3. */
static uint64_t capabilities(enum cap_set set)
{
	uint32_t header[2] = { 0x20080522, 0 };
	uint32_t data[2][3] = { { 0 } };

	sys_capget(header, data);
	return data[0][set] | (uint64_t)data[1][set] << 32;
}

bool process_may_set_link(void)
{
	return capabilities(CAP_EFFECTIVE) & (1UL << CAP_SYS_ADMIN | 1UL << CAP_CHECKPOINT_RESTORE);
}

bool process_may_trace_set_id(void)
{
	return capabilities(CAP_EFFECTIVE) & 1UL << CAP_SYS_PTRACE;
}

/* security/commoncap.c:cap_bprm_creds_from_file() */
bool process_has_more_than_ambient(void)
{
	uint64_t left;

	if (!sys_getuid() || !sys_geteuid())
		return false;
	for (left = capabilities(CAP_PERMITTED); left; left &= left - 1)
		if (sys_prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET,
			      (unsigned long)__builtin_ctzl(left), 0, 0) != 1)
			return true;
	return false;
}

bool process_runs(int fd)
{
	struct statx own, other;

	return !sys_statx(AT_FDCWD, "/proc/self/exe", 0, STATX_INO, &own) &&
	       !sys_statx(fd, "", AT_EMPTY_PATH, STATX_INO, &other) &&
	       own.stx_ino == other.stx_ino && own.stx_dev_major == other.stx_dev_major &&
	       own.stx_dev_minor == other.stx_dev_minor;
}

/* Nothing in MAP that the kernel might refuse: no need to try it first. */
static bool is_plain(const struct process_map *map)
{
	/* The largest default of vm.mmap_min_addr. */
	return map->start_code >= 1 << 16 && map->start_code < map->end_code &&
	       map->start_data >= 1 << 16 && map->start_data <= map->end_data &&
	       map->end_code < map->start_stack && map->end_data < map->start_brk &&
	       map->start_brk < map->start_stack;
}

int process_set(struct diag *d, const char *path, struct process_map *map, int exe_fd)
{
	char number[16];
	long r;

	map->exe_fd = (uint32_t)exe_fd;
	if (exe_fd >= 0 && is_plain(map))
		return 0;
	r = set_map(map);
	if (r == -EINVAL) {
		process_map_tame(map);
		r = set_map(map);
	}
	/* All well, but for our own image, still mapped (not so on overlayfs,
	 * where mappings have the file of a lower layer).
	 */
	if (!r || (exe_fd >= 0 && r == -EBUSY))
		return 0;
	if (r == -EINVAL)
		return diag(d, EXIT_CANNOT_RUN, EINVAL,
			    "%.256s: PR_SET_MM_MAP refuses its memory layout (no "
			    "place for the heap?), or the kernel is built "
			    "without CONFIG_CHECKPOINT_RESTORE",
			    path);
	return diag(d, EXIT_FAILED, (int)-r, "%.256s: unable to set the process's memory map: %s",
		    path, errno_text((int)-r, number));
}

bool process_has_own_set_id(uint64_t euid)
{
	const unsigned int gid_bits = S_ISGID | S_IXGRP;
	struct statx own;

	if (sys_statx(AT_FDCWD, "/proc/self/exe", 0, STATX_BASIC_STATS, &own))
		return true;
	return ((own.stx_mode & S_ISUID) && own.stx_uid == euid) ||
	       ((own.stx_mode & gid_bits) == gid_bits && own.stx_gid == (uint64_t)sys_getegid());
}

int process_set_name(struct diag *d, const char *path)
{
	const char *slash = strrchr(path, '/');
	char number[16];
	long r = sys_prctl(PR_SET_NAME, (unsigned long)(slash ? slash + 1 : path), 0, 0, 0);

	if (!r)
		return 0;
	return diag(d, EXIT_FAILED, (int)-r,
		    "%.256s: prctl(2), which no program can be run without, is forbidden "
		    "here (a seccomp filter): %s",
		    path, errno_text((int)-r, number));
}

/* include/uapi/linux/lsm.h: those with exec hooks that change, record or deny. */
static bool acts_on_exec(uint64_t id)
{
	switch (id) {
	case 101: /* SELinux */
	case 102: /* Smack */
	case 103: /* TOMOYO */
	case 104: /* AppArmor */
	case 111: /* IMA */
	case 113: /* IPE */ return true;
	default: return false;
	}
}

int process_has_security_module(void)
{
	uint64_t ids[32];
	uint32_t size = sizeof(ids);
	char label[1];
	long r = sys_lsm_list_modules(ids, &size);

	for (long i = 0; i < r; i++)
		if (acts_on_exec(ids[i]))
			return 1;
	if (r >= 0)
		return 0;
	/* Before Linux 6.8: a label of ours means a module that gives labels. */
	r = sys_openat(AT_FDCWD, "/proc/self/attr/current", O_RDONLY | O_CLOEXEC, 0);
	/* A kernel without such modules lacks the file; who cannot look at
	 * /proc cannot tell.
	 */
	if (r < 0)
		return r != -ENOENT || sys_faccessat2(AT_FDCWD, "/proc/self", 0, 0);
	size = sys_read((int)r, label, sizeof(label)) > 0;
	sys_close((int)r);
	return (int)size;
}
