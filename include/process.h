/*
 * process.h - what the kernel keeps of a process, set as execve sets it
 *
 * One prctl(PR_SET_MM, PR_SET_MM_MAP) carries the saved vector, the argument
 * and environment ranges, code, data, brk, stack and, where permitted, the
 * file behind /proc/PID/exe (kernel/sys.c:prctl_set_mm_map()). The
 * single-field forms need CAP_SYS_RESOURCE and are not used.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>

#include "map.h"
#include "stack.h"

/* include/uapi/linux/prctl.h: struct prctl_mm_map. */
struct process_map {
	uint64_t start_code, end_code, start_data, end_data;
	uint64_t start_brk, brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	const Elf64_auxv_t *auxv;
	uint32_t auxv_size, exe_fd;
};

void process_map(const struct image *program, const struct stack_plan *stack, uint64_t brk,
		 const Elf64_auxv_t *auxv, size_t auxc, struct process_map *map);

/* Put code and data where PR_SET_MM_MAP takes them: just below the brk. */
void process_map_tame(struct process_map *map);

/*
 * Tell the kernel MAP. With EXE_FD, the file for the exe link, this can only
 * be done when nothing of the old file is mapped: MAP is then made ready for
 * one call once we are unmapped, and tried where something speaks against it.
 * With -1 it is done. Returns 0, or -1 with D filled.
 */
int process_set(struct diag *d, const char *path, struct process_map *map, int exe_fd);

/* May this process set the link? Costs a system call. */
bool process_may_set_link(void);

/* Would a tracer of ours keep a set-id program's new credentials? */
bool process_may_trace_set_id(void);

/* Is FD the very file that this process runs? Then its link is right. */
bool process_runs(int fd);

/*
 * Does it have capabilities that an exec would take away? Only one that is not
 * root's can, by file capabilities (and with AT_SECURE).
 */
bool process_has_more_than_ambient(void);

/*
 * Does it have an id from a set-id bit of our own file, which the target must
 * not get? Asked with AT_SECURE only; yes, where that cannot be found out.
 */
bool process_has_own_set_id(uint64_t euid);

/*
 * Name the process as execve does: the last component of PATH. Fails only
 * where prctl(2) is forbidden, which is worth knowing before it is too late.
 */
int process_set_name(struct diag *d, const char *path);

/* Is a security module active that acts on exec? 0 no, 1 yes. */
int process_has_security_module(void);

#endif
