#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "process.h"
#include "sys.h"
#include "trace.h"
#include "trace_steps.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif
#ifndef PR_SET_MM
#define PR_SET_MM 35
#endif
#ifndef PR_SET_MM_MAP
#define PR_SET_MM_MAP 14
#endif

enum {
	BELOW_STACK = 256, /* the red zone, and then some, stays untouched */
	VDSO_SIZE = 4096,  /* of its text; every vDSO has that much */
	STAT_SIZE = 1024,
};

struct vector {
	uint64_t at;  /* in the target */
	size_t count; /* pairs, AT_NULL included */
	uint64_t vdso;
	uint64_t args, env, execfn; /* first strings of each */
	Elf64_auxv_t pair[STACK_AUX_MAX];
};

/* Reads the words of the initial stack, one after the other. */
struct cursor {
	const struct traced *t;
	uint64_t at;
	size_t width, used, have;
	_Alignas(8) unsigned char bytes[2048];
};

long trace_read(int tid, uint64_t at, void *to, size_t size)
{
	struct sys_iovec local = { to, size }, remote = { (void *)at, size };
	long r = sys_process_vm_readv(tid, &local, &remote);
	unsigned long word;

	if (r != -EPERM && r != -ENOSYS)
		return r;
	/* A filter may forbid one way and leave the other. */
	for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		r = sys_ptrace(PTRACE_PEEKDATA, tid, at + i, (unsigned long)&word);
		if (r < 0)
			return i ? (long)i : -EPERM;
		memcpy((char *)to + i, &word, sizeof(word));
	}
	return (long)(size & ~(sizeof(word) - 1));
}

long trace_write(int tid, uint64_t at, const void *from, size_t size)
{
	struct sys_iovec local = { (void *)(uintptr_t)from, size };
	struct sys_iovec remote = { (void *)at, size };
	long r = sys_process_vm_writev(tid, &local, &remote);
	unsigned long word;

	if (r != -EPERM && r != -ENOSYS)
		return r == (long)size ? 0 : r < 0 ? r : -EFAULT;
	for (size_t i = 0; i < size; i += sizeof(word)) {
		size_t n = size - i < sizeof(word) ? size - i : sizeof(word);

		r = n < sizeof(word) ?
			    sys_ptrace(PTRACE_PEEKDATA, tid, at + i, (unsigned long)&word) :
			    0;
		memcpy(&word, (const char *)from + i, n);
		if (!r)
			r = sys_ptrace(PTRACE_POKEDATA, tid, at + i, word);
		if (r)
			return r;
	}
	return 0;
}

static int ended(const struct traced *t)
{
	return diag(t->d, EXIT_FAILED, ESRCH, "it was killed as it started");
}

static long get_regs(const struct traced *t, struct arch_trace_regs *r)
{
	struct sys_iovec to = { r->word, sizeof(r->word) };
	long result = sys_ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, (unsigned long)&to);

	r->size = to.size;
	return result;
}

int trace_set_regs(const struct traced *t, const struct arch_trace_regs *r)
{
	struct sys_iovec from = { (void *)(uintptr_t)r->word, r->size };

	return sys_ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, (unsigned long)&from) ? ended(t) :
											 0;
}

/*
 * Go on by REQUEST, and wait for what that stops at. Everything that can be
 * blocked is, so the only signals that get in between are SIGKILL and SIGSTOP.
 */
static int resume(const struct traced *t, long request)
{
	return sys_ptrace(request, t->tid, 0, 0) ? ended(t) : 0;
}

static int wait_stop(struct traced *t, long request)
{
	int status;

	for (;;) {
		if (sys_wait4(t->tid, &status, __WALL) != t->tid || !WIFSTOPPED(status))
			return ended(t);
		if ((status >> 8 & 0xff7f) == SIGTRAP)
			return 0;
		if (status >> 8 == SIGSTOP)
			t->stopped = true;
		if (resume(t, request))
			return -1;
	}
}

static int step(struct traced *t, long request)
{
	return resume(t, request) || wait_stop(t, request) ? -1 : 0;
}

static bool next_word(struct cursor *c, uint64_t *word)
{
	if (c->used + c->width > c->have) {
		long r = trace_read(c->t->tid, c->at, c->bytes, sizeof(c->bytes));

		if (r < (long)c->width)
			return false;
		c->used = 0;
		c->have = (size_t)r;
	}
	*word = 0;
	memcpy(word, c->bytes + c->used, c->width);
	c->used += c->width;
	c->at += c->width;
	return true;
}

/* Past a list of pointers. FIRST: its first one, 0 if it is empty. */
static bool skip_strings(struct cursor *c, uint64_t *first)
{
	uint64_t word;

	if (!next_word(c, first))
		return false;
	for (word = *first; word;)
		if (!next_word(c, &word))
			return false;
	return true;
}

static void take_pair(struct vector *v, const Elf64_auxv_t *pair)
{
	if (pair->a_type == AT_SYSINFO_EHDR)
		v->vdso = pair->a_un.a_val;
	if (pair->a_type == AT_EXECFN)
		v->execfn = pair->a_un.a_val;
}

/* Read what create_elf_tables() left at the stack pointer. */
static bool read_vector(struct traced *t, struct vector *v)
{
	struct cursor c;
	uint64_t argc;
	size_t n = 0;

	c.t = t;
	c.at = t->sp;
	c.width = t->width;
	c.used = c.have = 0;
	if (!next_word(&c, &argc))
		return false;
	if (t->width == 8 && argc >> 32) { /* x32: short words, long registers */
		t->width = c.width = 4;
		c.used -= 4;
		c.at -= 4;
	}
	if (!skip_strings(&c, &v->args) || !skip_strings(&c, &v->env))
		return false;
	v->at = c.at;
	v->vdso = v->execfn = 0;
	do {
		if (n == STACK_AUX_MAX || !next_word(&c, &v->pair[n].a_type) ||
		    !next_word(&c, &v->pair[n].a_un.a_val))
			return false;
		take_pair(v, &v->pair[n]);
	} while (v->pair[n++].a_type != AT_NULL);
	v->count = n;
	return true;
}

static void mask_vector(const struct trace_edit *edit, struct vector *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->count; i++) {
		Elf64_auxv_t pair = v->pair[i];
		int entry = hwcap_index(pair.a_type);

		if (edit->no_vdso && pair.a_type == AT_SYSINFO_EHDR)
			continue;
		if (entry >= 0)
			pair.a_un.a_val &= ~edit->hide.word[entry];
		v->pair[n++] = pair;
	}
	while (n < v->count)
		v->pair[n++] = (Elf64_auxv_t){ .a_type = AT_NULL };
}

static int write_vector(const struct traced *t, const struct vector *v)
{
	uint32_t narrow[2 * STACK_AUX_MAX];
	const void *from = v->pair;

	for (size_t i = 0; t->width == 4 && i < v->count; i++) {
		narrow[2 * i] = (uint32_t)v->pair[i].a_type;
		narrow[2 * i + 1] = (uint32_t)v->pair[i].a_un.a_val;
		from = narrow;
	}
	if (!trace_write(t->tid, v->at, from, v->count * 2 * t->width))
		return 0;
	return diag(t->d, EXIT_FAILED, EFAULT, "unable to write to its vector");
}

static int edit_stack(struct traced *t, const struct trace_edit *edit, struct vector *v)
{
	if (!read_vector(t, v))
		return diag(t->d, EXIT_CANNOT_RUN, EPERM,
			    "its vector cannot be read; run as a user who may "
			    "read the program");
	if (t->width == 4 && edit->by_name)
		return diag(t->d, EXIT_CANNOT_RUN, ENOEXEC,
			    "is a 32-bit program, whose entries have another "
			    "meaning: give the mask in numbers (AT_HWCAP=0x...)");
	mask_vector(edit, v);
	return write_vector(t, v);
}

bool trace_find_site(uint64_t vdso, struct arch_trace_site *site)
{
	return vdso && arch_trace_find_site((const unsigned char *)vdso, VDSO_SIZE, 0, false, site);
}

static int find_site(struct traced *t, const struct trace_edit *e, uint64_t vdso)
{
	unsigned char code[VDSO_SIZE];
	long r;

	if (e->site && vdso && t->width == 8) {
		t->site = *e->site;
		t->site.at += vdso;
		return 0;
	}
	r = vdso ? trace_read(t->tid, vdso, code, sizeof(code)) : 0;
	if (r > 0 &&
	    arch_trace_find_site(code, (size_t)r, vdso, arch_trace_is_narrow(&t->regs), &t->site))
		return 0;
	return diag(t->d, EXIT_CANNOT_RUN, ENOSYS, "it has no vDSO to make a system call from");
}

/* Number N (counted from 1) of /proc/PID/stat, from 3 on. */
static uint64_t stat_field(const char *stat, unsigned int n)
{
	const char *at = strrchr(stat, ')');
	uint64_t value = 0;

	for (unsigned int i = 2; at && i < n; i++)
		at = strchr(at + 1, ' ');
	for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

int trace_open_stat(int tid)
{
	char path[32];
	struct text text;

	text_init(&text, path, sizeof(path));
	text_add(&text, "/proc/%d/stat", tid);
	return (int)sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/*
 * What the kernel has now is what it is to keep. False if /proc is not there,
 * or is that of another pid namespace: the stack is then not where ours is.
 */
static bool read_map(const struct traced *t, struct process_map *map)
{
	const int fd = t->stat < 0 ? trace_open_stat(t->tid) : t->stat;
	char stat[STAT_SIZE];
	long r;

	if (fd < 0)
		return false;
	r = sys_read(fd, stat, sizeof(stat) - 1);
	sys_close(fd);
	stat[r > 0 ? r : 0] = '\0';
	*map = (struct process_map){
		.start_code = stat_field(stat, 26),
		.end_code = stat_field(stat, 27),
		.start_stack = stat_field(stat, 28),
		.start_data = stat_field(stat, 45),
		.end_data = stat_field(stat, 46),
		.start_brk = stat_field(stat, 47),
		.brk = stat_field(stat, 47),
		.arg_start = stat_field(stat, 48),
		.arg_end = stat_field(stat, 49),
		.env_start = stat_field(stat, 50),
		.env_end = stat_field(stat, 51),
	};
	return map->start_stack == t->sp;
}

/* Let the target make a call, and wait for its result. */
static int inject(struct traced *t, enum arch_trace_call call, uint64_t a, uint64_t b, uint64_t c,
		  uint64_t d, long *result)
{
	const long request = t->can_step ? PTRACE_SINGLESTEP : PTRACE_SYSCALL;
	struct arch_trace_regs regs = t->regs;

	arch_trace_set_call(&regs, &t->site, call, a, b, c, d);
	if (trace_set_regs(t, &regs))
		return -1;
	/* A step's SIGTRAP is forced: it would end its being ignored. */
	if (step(t, request) || (!t->can_step && step(t, request)))
		return -1;
	if (get_regs(t, &regs))
		return ended(t);
	*result = arch_trace_result(&regs);
	return 0;
}

/*
 * Without /proc, code and data ranges are out of reach, and of little use:
 * nothing but /proc/PID/stat shows them. The strings have no gaps.
 */
static int guess_map(struct traced *t, const struct vector *v, struct process_map *map)
{
	long brk;

	if (inject(t, ARCH_TRACE_BRK, 0, 0, 0, 0, &brk))
		return -1;
	*map = (struct process_map){ .start_brk = (uint64_t)brk,
				     .brk = (uint64_t)brk,
				     .start_stack = t->sp,
				     .arg_start = v->args,
				     .arg_end = v->env ? v->env : v->execfn,
				     .env_start = v->env ? v->env : v->execfn,
				     .env_end = v->execfn };
	process_map_tame(map);
	return 0;
}

static int set_map(struct traced *t, const struct process_map *map, long *result)
{
	const struct process_map nothing = { .exe_fd = 0 };
	uint64_t at = (t->sp - BELOW_STACK - sizeof(*map)) & ~15UL;

	if (trace_write(t->tid, at, map, sizeof(*map)))
		return diag(t->d, EXIT_FAILED, EFAULT, "unable to write to its stack");
	if (inject(t, ARCH_TRACE_PRCTL, PR_SET_MM, PR_SET_MM_MAP, at, sizeof(*map), result))
		return -1;
	trace_write(t->tid, at, &nothing, sizeof(nothing));
	return 0;
}

static int edit_saved(struct traced *t, const struct vector *v, struct process_map *known)
{
	struct process_map map = *known;
	char number[16];
	long r;

	if (!map.start_brk && guess_map(t, v, &map))
		return -1;
	map.auxv = (const Elf64_auxv_t *)v->at;
	map.auxv_size = (uint32_t)(v->count * 2 * t->width);
	map.exe_fd = (uint32_t)-1;
	if (set_map(t, &map, &r))
		return -1;
	if (r == -EINVAL) {
		process_map_tame(&map);
		if (set_map(t, &map, &r))
			return -1;
	}
	if (!r)
		return 0;
	if (r == -EINVAL || r == -EPERM)
		return diag(t->d, EXIT_FAILED, (int)-r,
			    "the kernel refuses to change its saved vector (is "
			    "it built with CONFIG_CHECKPOINT_RESTORE?)");
	return diag(t->d, EXIT_FAILED, (int)-r, "unable to change its saved vector: %s",
		    errno_text((int)-r, number));
}

static int edit(struct traced *t, const struct trace_edit *e)
{
	struct process_map map;
	struct vector v;

	v.vdso = 0;
	if (edit_stack(t, e, &v) || resume(t, PTRACE_SYSCALL))
		return -1;
	t->vdso = v.vdso;
	/* While it is on its way to the end of the exec. */
	if (!read_map(t, &map))
		map.start_brk = 0;
	if (wait_stop(t, PTRACE_SYSCALL) || find_site(t, e, v.vdso) || edit_saved(t, &v, &map))
		return -1;
	return trace_set_regs(t, &t->regs);
}

int trace_edit_stopped(struct traced *t, const struct trace_edit *e)
{
	const uint64_t all = t->can_step ? ~(1UL << (SIGTRAP - 1)) : ~0UL;

	t->stopped = false;
	if (get_regs(t, &t->regs) ||
	    sys_ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(t->mask), (unsigned long)&t->mask) ||
	    sys_ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(all), (unsigned long)&all))
		return ended(t);
	t->sp = arch_trace_sp(&t->regs);
	t->width = arch_trace_is_narrow(&t->regs) ? 4 : 8;
	arch_trace_settle(&t->regs);
	if (edit(t, e))
		return -1;
	if (t->stopped)
		sys_kill(t->tid, SIGSTOP);
	return sys_ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(t->mask), (unsigned long)&t->mask) ?
		       ended(t) :
		       0;
}

int trace_edit_exec(struct diag *d, int tid, const struct trace_edit *e)
{
	struct traced t = { .d = d, .tid = tid, .stat = -1 };

	return trace_edit_stopped(&t, e);
}
