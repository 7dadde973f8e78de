#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "trace_edit.h"
#include "sys.h"

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
#ifndef PR_SET_MM_MAP_SIZE
#define PR_SET_MM_MAP_SIZE 15
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

enum {
	FIRST_READ = 2048, /* of the stack: more than most programs have there */
	BELOW_STACK = 128, /* the red zone */
	VDSO_SIZE = 4096,  /* of its text; every vDSO has that much */
	STAT_SIZE = 1024,
};

/* The words of the initial stack, read as they are needed. */
struct window {
	int tid;
	uint64_t at; /* of the first byte of BYTES in the target */
	size_t have;
	_Alignas(8) unsigned char bytes[FIRST_READ];
};

void edit_context_init(struct edit_context *c, uint64_t vdso, int proc)
{
	*c = (struct edit_context){ .proc = proc };
	c->have_site = vdso && arch_trace_find_site((const unsigned char *)vdso, VDSO_SIZE, 0,
						    false, &c->site);
}

bool edit_may_wait(void)
{
	int status;

	return sys_wait4(-1, &status, WNOHANG | __WALL) == -ECHILD;
}

bool edit_may_set_map(void)
{
	unsigned int size;

	return !sys_prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, (unsigned long)&size, 0, 0);
}

void edit_state_init(struct edit_state *e)
{
	e->stat = -1;
	e->have_map = e->step = e->brk = e->tamed = e->stopped = e->blocked = false;
}

/* ---- memory ---------------------------------------------------------------- */

long edit_read(int tid, uint64_t at, void *to, size_t size)
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

long edit_write(int tid, uint64_t at, const void *from, size_t size)
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

/* ---- the vector ------------------------------------------------------------ */

static uint64_t get_word(const unsigned char *from, size_t width)
{
	uint64_t word;
	uint32_t narrow;

	if (width == sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		return word;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return narrow;
}

static void put_word(unsigned char *to, size_t width, uint64_t word)
{
	const uint32_t narrow = (uint32_t)word;

	if (width == sizeof(word))
		memcpy(to, &word, sizeof(word));
	else
		memcpy(to, &narrow, sizeof(narrow));
}

static bool window_word(struct window *w, uint64_t at, size_t width, uint64_t *word)
{
	if (at < w->at || at + width > w->at + w->have) {
		long r = edit_read(w->tid, at, w->bytes, sizeof(w->bytes));

		w->at = at;
		w->have = r > 0 ? (size_t)r : 0;
		if (w->have < width)
			return false;
	}
	*word = get_word(w->bytes + (at - w->at), width);
	return true;
}

/* create_elf_tables(): argc, argv, NULL, envp, NULL, the vector. */
static bool find_vector(struct window *w, uint64_t sp, struct edit_vector *v)
{
	uint64_t word, at;

	if (!window_word(w, sp, v->width, &word))
		return false;
	if (v->width == 8 && word >> 32) { /* x32: short words, long registers */
		v->width = 4;
		word &= UINT32_MAX;
	}
	at = sp + (word + 2) * v->width;
	if (!window_word(w, sp + v->width, v->width, &v->args))
		return false;
	for (v->env = 0;; v->env = v->env ? v->env : word) {
		if (!window_word(w, at, v->width, &word))
			return false;
		at += v->width;
		if (!word)
			break;
	}
	v->at = at;
	for (v->count = 0; v->count < STACK_AUX_MAX;) {
		if (!window_word(w, at + 2 * v->width * v->count, v->width, &word))
			return false;
		v->count++;
		if (word == AT_NULL)
			return true;
	}
	return false;
}

static bool is_secure(const struct edit_vector *v)
{
	for (const unsigned char *p = v->bytes; p < v->bytes + v->count * 2 * v->width;
	     p += 2 * v->width)
		if (get_word(p, v->width) == AT_SECURE)
			return get_word(p + v->width, v->width);
	return false;
}

static void mask_vector(const struct trace_edit *edit, struct edit_state *e, struct edit_vector *v)
{
	size_t n = 0, size = 2 * v->width;
	struct hwcaps hide = edit->hide;

	if (!is_secure(v))
		hwcaps_or(&hide, &edit->hide_insecure);

	for (size_t i = 0; i < v->count; i++) {
		uint64_t type = get_word(v->bytes + i * size, v->width);
		uint64_t value = get_word(v->bytes + i * size + v->width, v->width);
		int entry = hwcap_index(type);

		if (type == AT_EXECFN)
			v->execfn = value;
		if (type == AT_SYSINFO_EHDR) {
			e->vdso = value;
			if (edit->no_vdso) {
				v->changed = true;
				continue;
			}
		}
		if (entry >= 0 && (value & hide.word[entry])) {
			put_word(v->bytes + i * size + v->width, v->width,
				 value & ~hide.word[entry]);
			v->changed = true;
		}
		memmove(v->bytes + n++ * size, v->bytes + i * size, size);
	}
	memset(v->bytes + n * size, 0, (v->count - n) * size);
}

static bool read_vector(struct edit_state *e, int tid, struct edit_vector *v)
{
	struct window w;
	size_t size;

	w.tid = tid;
	w.at = w.have = 0;
	v->width = arch_trace_is_narrow(&e->regs) ? 4 : 8;
	v->changed = false;
	v->execfn = e->vdso = 0;
	if (!find_vector(&w, arch_trace_sp(&e->regs), v))
		return false;
	size = v->count * 2 * v->width;
	if (v->at >= w.at && v->at + size <= w.at + w.have) {
		memcpy(v->bytes, w.bytes + (v->at - w.at), size);
		return true;
	}
	return edit_read(tid, v->at, v->bytes, size) == (long)size;
}

/* ---- the memory map -------------------------------------------------------- */

/* Numbers of /proc/PID/stat from field 3 on, in one pass. */
static void parse_stat(char *stat, size_t size, uint64_t *field, unsigned int count)
{
	const char *at = stat + size;

	while (at > stat && *at != ')')
		at--;

	memset(field, 0, count * sizeof(*field));
	for (unsigned int i = 2; i < count; i++) {
		while (*at && *at != ' ')
			at++;
		while (*at == ' ')
			at++;
		for (const char *p = at; *p >= '0' && *p <= '9'; p++)
			field[i] = field[i] * 10 + (uint64_t)(*p - '0');
	}
}

void edit_prepare(const struct edit_context *c, struct edit_state *e, int tid)
{
	char path[32];
	struct text text;

	text_init(&text, path, sizeof(path));
	text_add(&text, "%s%d/stat", c->proc < 0 ? "/proc/" : "", tid);
	e->stat = (int)sys_openat(c->proc, path, O_RDONLY | O_CLOEXEC, 0);
}

void edit_close(struct edit_state *e)
{
	if (e->stat >= 0)
		sys_close(e->stat);
	e->stat = -1;
}

/* What the kernel has now is what it is to keep, as far as /proc tells. */
void edit_read_map(struct edit_state *e)
{
	enum { FIELDS = 53 };
	uint64_t f[FIELDS];
	char stat[STAT_SIZE];
	long r;

	e->have_map = false;
	if (e->stat < 0)
		return;
	r = sys_read(e->stat, stat, sizeof(stat) - 1);
	stat[r > 0 ? r : 0] = '\0';
	/* Counted from 0 here, from 1 in proc(5). */
	parse_stat(stat, (size_t)(r > 0 ? r : 0), f, FIELDS);
	e->map = (struct process_map){
		.start_code = f[25],
		.end_code = f[26],
		.start_stack = f[27],
		.start_data = f[44],
		.end_data = f[45],
		.start_brk = f[46],
		.brk = f[46],
		.arg_start = f[47],
		.arg_end = f[48],
		.env_start = f[49],
		.env_end = f[50],
	};
	/* A step ends with a SIGTRAP that is forced: being blocked or ignored
	 * would not survive it. */
	e->step = ARCH_TRACE_CAN_STEP && !((f[31] | f[32]) >> (SIGTRAP - 1) & 1);
	/* The /proc of another pid namespace has another process there. */
	e->have_map = e->map.start_stack == arch_trace_sp(&e->regs);
}

/*
 * Without /proc, code and data ranges are out of reach, and of little use:
 * nothing but /proc/PID/stat shows them. The strings have no gaps. The brk is
 * still missing: the program is asked for it first.
 */
static void guess_map(struct edit_state *e, const struct edit_vector *v)
{
	uint64_t env = v->env ? v->env : v->execfn;

	e->brk = true;
	e->map = (struct process_map){ .start_stack = arch_trace_sp(&e->regs),
				       .arg_start = v->args,
				       .arg_end = env,
				       .env_start = env,
				       .env_end = v->execfn };
}

static bool find_site(const struct edit_context *c, struct edit_state *e, int tid)
{
	unsigned char code[VDSO_SIZE];
	const bool narrow = arch_trace_is_narrow(&e->regs);
	long r;

	if (!e->vdso)
		return false;
	if (!narrow && c->have_site) {
		e->site = c->site;
		e->site.at += e->vdso;
		e->site.sigreturn += e->site.sigreturn ? e->vdso : 0;
		return true;
	}
	r = edit_read(tid, e->vdso, code, sizeof(code));
	return r > 0 && arch_trace_find_site(code, (size_t)r, e->vdso, narrow, &e->site);
}

/* ---- the call -------------------------------------------------------------- */

long edit_get_regs(int tid, struct arch_trace_regs *regs)
{
	struct sys_iovec to = { regs->word, sizeof(regs->word) };
	long r = sys_ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, (unsigned long)&to);

	regs->size = to.size;
	return r;
}

long edit_set_regs(int tid, const struct arch_trace_regs *regs)
{
	struct sys_iovec from = { (void *)(uintptr_t)regs->word, regs->size };

	return sys_ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, (unsigned long)&from);
}

static enum edit_result resume(const struct edit_state *e, int tid, int signal)
{
	return sys_ptrace(e->step ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, tid, 0,
			  (unsigned long)signal) ?
		       EDIT_GONE :
		       EDIT_RUNNING;
}

static enum edit_result call(struct edit_state *e, int tid)
{
	struct arch_trace_regs regs = e->regs;

	if (e->brk)
		arch_trace_set_call(&regs, &e->site, ARCH_TRACE_BRK, 0, 0, 0, 0);
	else
		arch_trace_set_call(&regs, &e->site, ARCH_TRACE_PRCTL, PR_SET_MM, PR_SET_MM_MAP,
				    e->scratch, sizeof(e->map));
	e->stops = e->step ? 1 : 2;
	return edit_set_regs(tid, &regs) ? EDIT_GONE : resume(e, tid, 0);
}

/* It wants more order than execve makes: see process_map_tame(). */
static enum edit_result call_tame(struct edit_state *e, int tid)
{
	e->tamed = true;
	process_map_tame(&e->map);
	if (edit_write(tid, e->scratch, &e->map, sizeof(e->map)))
		return EDIT_UNREADABLE;
	return call(e, tid);
}

/* The vector and, below the stack, the map; in one system call, as a rule. */
static bool write_both(struct edit_state *e, int tid, const struct edit_vector *v, size_t size)
{
	struct sys_iovec local[2] = { { (void *)(uintptr_t)v->bytes, size },
				      { &e->map, sizeof(e->map) } };
	struct sys_iovec remote[2] = { { (void *)v->at, size },
				       { (void *)e->scratch, sizeof(e->map) } };
	long r = sys_process_vm(SYS_process_vm_writev, tid, local, 2, remote, 2);

	if (r == -EPERM || r == -ENOSYS) /* there is another way */
		return !edit_write(tid, v->at, v->bytes, size) &&
		       !edit_write(tid, e->scratch, &e->map, sizeof(e->map));
	return r == (long)(size + sizeof(e->map));
}

enum edit_result edit_look(const struct edit_context *c, struct edit_state *e, int tid,
			   const struct trace_edit *edit, struct edit_vector *v)
{
	if (!read_vector(e, tid, v))
		return EDIT_UNREADABLE;
	e->width = (unsigned int)v->width;
	if (v->width == 4 && edit->by_name)
		return EDIT_NARROW;
	mask_vector(edit, e, v);
	return find_site(c, e, tid) ? EDIT_DONE : EDIT_NO_SITE;
}

enum edit_result edit_go(struct edit_state *e, int tid, const struct edit_vector *v)
{
	size_t size = v->count * 2 * v->width;

	arch_trace_settle(&e->regs);
	if (!e->have_map)
		guess_map(e, v);
	e->scratch = (arch_trace_sp(&e->regs) - BELOW_STACK - sizeof(e->map)) & ~15UL;
	e->map.auxv = (const Elf64_auxv_t *)v->at;
	e->map.auxv_size = (uint32_t)size;
	e->map.exe_fd = (uint32_t)-1;
	return write_both(e, tid, v, size) ? call(e, tid) : EDIT_UNREADABLE;
}

static enum edit_result finish(struct edit_state *e, int tid)
{
	memset(&e->map, 0, sizeof(e->map));
	if (edit_write(tid, e->scratch, &e->map, sizeof(e->map)) || edit_set_regs(tid, &e->regs))
		return EDIT_GONE;
	if (e->blocked)
		sys_ptrace(PTRACE_SETSIGMASK, tid, sizeof(e->mask), (unsigned long)&e->mask);
	if (e->stopped)
		sys_tgkill(tid, tid, SIGSTOP);
	return EDIT_DONE;
}

/*
 * A signal before the call was made. Once it is blocked, giving it back makes
 * the kernel queue it again (kernel/signal.c:ptrace_signal()). SIGTRAP is how
 * a step ends, and SIGSTOP cannot be blocked; job control's stops are none.
 */
static enum edit_result postpone(struct edit_state *e, int tid, int status)
{
	const uint64_t all = e->step ? ~(1UL << (SIGTRAP - 1)) : ~0UL;

	if (status >> 16)
		return resume(e, tid, 0);
	if (WSTOPSIG(status) == SIGSTOP) {
		e->stopped = true;
		return resume(e, tid, 0);
	}
	if (!e->blocked &&
	    (sys_ptrace(PTRACE_GETSIGMASK, tid, sizeof(e->mask), (unsigned long)&e->mask) ||
	     sys_ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), (unsigned long)&all)))
		return EDIT_GONE;
	e->blocked = true;
	return resume(e, tid, WSTOPSIG(status));
}

enum edit_result edit_step(struct edit_state *e, int tid, int status)
{
	struct arch_trace_regs regs;
	long r;

	if (status >> 8 != SIGTRAP)
		return postpone(e, tid, status);
	if (--e->stops)
		return resume(e, tid, 0);
	if (edit_get_regs(tid, &regs))
		return EDIT_GONE;
	r = arch_trace_result(&regs);
	if (e->brk) {
		e->brk = false;
		e->map.brk = arch_trace_is_narrow(&regs) ? (uint32_t)r : (uint64_t)r;
		e->map.start_brk = e->map.brk;
		return call_tame(e, tid);
	}
	if (!r)
		return finish(e, tid);
	if (r != -EINVAL || e->tamed)
		return EDIT_REFUSED;
	return call_tame(e, tid);
}

const char *edit_text(enum edit_result r)
{
	switch (r) {
	case EDIT_UNREADABLE:
		return "its vector cannot be read; run as a user who may read the "
		       "program";
	case EDIT_NARROW:
		return "is a 32-bit program, whose entries have another meaning: give "
		       "the mask in numbers (AT_HWCAP=0x...)";
	case EDIT_NO_SITE: return "it has no vDSO to make a system call from";
	case EDIT_REFUSED:
		return "the kernel refuses to change its saved vector (a seccomp "
		       "filter, or built without CONFIG_CHECKPOINT_RESTORE?)";
	case EDIT_FORBIDDEN:
		return "a seccomp filter forbids prctl(2), wait4(2) or waitid(2), which "
		       "that takes, or the kernel was built without "
		       "CONFIG_CHECKPOINT_RESTORE";
	default: return "it was killed as it started";
	}
}
