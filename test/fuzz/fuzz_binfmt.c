/*
 * The initial stack under binfmt_misc, from create_elf_tables() to the target's
 *
 * Builds a stack as the kernel does, or one whose pointers go elsewhere, with
 * entries that are missing, odd or repeated; reads it, and where the layout is
 * the kernel's builds the target's over it and reads that.
 */
#include <errno.h>
#include <stdbool.h>

#include "binfmt.h"
#include "fuzz.h"
#include "stack.h"

enum { STRINGS = 24, EXTRA = 72, ROOM = 16384, RANDOM_SIZE = 16 };
enum {
	KERNEL = 1,
	KEEP_ARGV0 = 2,
	EXEC_FD = 4,
	NO_EXECFN = 8,
	NO_RANDOM = 16,
	PLATFORM = 32,
	NO_VDSO = 64
};

struct input {
	const uint8_t *at, *end;
};

struct image {
	char *memory, *end;
	unsigned int how;
	unsigned long argc, envc;
	char *string[STRINGS]; /* argv, then envp */
	char *execfn, *platform, *random;
	size_t auxc;
	Elf64_auxv_t auxv[EXTRA + 16];
	uint64_t *sp;
	/* As read: the last one of its kind counts. */
	uint64_t flags;
	int exec_fd;
};

static unsigned int take(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Below TO, with its NUL. */
static char *push(struct input *in, char *to)
{
	const uint8_t *nul = memchr(in->at, 0, (size_t)(in->end - in->at));
	size_t size = (size_t)((nul ? nul : in->end) - in->at);

	to -= size + 1;
	memcpy(to, in->at, size);
	to[size] = 0;
	in->at += size + (nul != NULL);
	return to;
}

static void add(struct image *m, uint64_t type, uint64_t value)
{
	m->auxv[m->auxc].a_type = type;
	m->auxv[m->auxc++].a_un.a_val = value;
	if (type == AT_FLAGS)
		m->flags = value;
	if (type == AT_EXECFD)
		m->exec_fd = (int)value;
}

static bool is_pointer(uint64_t type)
{
	return type == AT_RANDOM || type == AT_EXECFN || type == AT_PLATFORM ||
	       type == AT_BASE_PLATFORM || type == AT_NULL;
}

static void make_vector(struct image *m, struct input *in)
{
	unsigned int extra = take(in) % EXTRA;

	add(m, AT_SYSINFO_EHDR, 0x7000);
	add(m, AT_PAGESZ, 4096);
	add(m, AT_FLAGS, m->how & KEEP_ARGV0 ? 1 : 0);
	for (unsigned int i = 0; i < extra && in->at < in->end; i++) {
		uint64_t type = take(in), value = take(in);

		if (!is_pointer(type))
			add(m, type, value * 0x0101010101010101);
	}
	if (!(m->how & NO_EXECFN))
		add(m, AT_EXECFN, (uint64_t)m->execfn);
	if (!(m->how & NO_RANDOM))
		add(m, AT_RANDOM, (uint64_t)m->random);
	if (m->platform)
		add(m, AT_PLATFORM, (uint64_t)m->platform);
	if (m->how & EXEC_FD)
		add(m, AT_EXECFD, 3);
	add(m, AT_NULL, 0);
}

static void make_strings(struct image *m, struct input *in)
{
	char *p = m->end - sizeof(uint64_t);

	memset(p, 0, sizeof(uint64_t));
	m->execfn = p = push(in, p);
	for (unsigned long i = m->argc + m->envc; i; i--)
		m->string[i - 1] = p = push(in, p);
	p = (char *)(((uintptr_t)p - take(in)) & ~(uintptr_t)15);
	if (m->how & PLATFORM)
		m->platform = p = push(in, p);
	m->random = p - RANDOM_SIZE;
	memset(m->random, 0x5a, RANDOM_SIZE);
}

/* Anywhere, where the kernel does not lay it out. */
static char *pointer(const struct image *m, struct input *in, char *string)
{
	unsigned int which = m->how & KERNEL ? 0 : take(in);

	return which % 2 ? m->string[which / 2 % (m->argc + m->envc)] : string;
}

static void make(struct image *m, struct input *in)
{
	uint64_t *word;
	unsigned long count;

	m->memory = calloc(1, ROOM);
	HOLDS(m->memory);
	m->end = m->memory + ROOM;
	m->exec_fd = -1;
	m->how = take(in);
	m->argc = take(in) % 12;
	m->envc = take(in) % 8;
	make_strings(m, in);
	make_vector(m, in);
	count = 3 + m->argc + m->envc + 2 * m->auxc;
	m->sp = word = (uint64_t *)(((uintptr_t)m->random - 8 * count) & ~(uintptr_t)15);
	*word++ = m->argc;
	for (unsigned long i = 0; i < m->argc; i++)
		*word++ = (uint64_t)pointer(m, in, m->string[i]);
	*word++ = 0;
	for (unsigned long i = 0; i < m->envc; i++)
		*word++ = (uint64_t)pointer(m, in, m->string[m->argc + i]);
	*word++ = 0;
	memcpy(word, m->auxv, m->auxc * sizeof(*m->auxv));
}

static void check_start(const struct image *m, const struct start *s)
{
	HOLDS(s->argc == m->argc && s->envc == m->envc && s->auxc == m->auxc);
	HOLDS(s->flags == m->flags && s->exec_fd == m->exec_fd);
	HOLDS(!s->execfn == !!(m->how & NO_EXECFN) && !s->random == !!(m->how & NO_RANDOM));
	HOLDS(binfmt_is_mode(s) == (m->exec_fd >= 0 || (m->flags & 1)));
}

/* [interp, path, argument...], or [interp, path, argv0, argument...]. */
static bool check_args(const struct start *s, struct binfmt_args *a)
{
	if (!binfmt_read_args(s, a)) {
		HOLDS(s->argc < 2);
		return false;
	}
	HOLDS(s->argc >= 2 && a->path == s->argv[1]);
	if (!(s->flags & 1))
		HOLDS(a->argv0 == a->path && a->skip == 2);
	else if (s->argc == 2)
		HOLDS(!*a->argv0 && a->skip == 2);
	else
		HOLDS(a->argv0 == s->argv[2] && a->skip == 3);
	return true;
}

static size_t check_vector(const struct start *s, const struct stack_plan *p,
			   const struct stack_aux *aux, Elf64_auxv_t *to)
{
	size_t count = stack_vector(s, p, aux, to);
	uint64_t words = 1 + p->argc + 1 + p->envc + 1 + 2 * count;

	HOLDS(count >= 1 && count <= s->auxc && to[count - 1].a_type == AT_NULL);
	HOLDS(p->sp + words * sizeof(uint64_t) <= p->random);
	for (size_t i = 0; i < count; i++) {
		int entry = hwcap_index(to[i].a_type);

		HOLDS(to[i].a_type != AT_EXECFD);
		HOLDS(to[i].a_type != AT_FLAGS || !(to[i].a_un.a_val & 1));
		HOLDS(to[i].a_type != AT_SYSINFO_EHDR || !aux->no_vdso);
		HOLDS(entry < 0 || !(to[i].a_un.a_val & aux->hide.word[entry]));
	}
	return count;
}

static void check_plan(const struct start *s, const struct stack_args *args,
		       const struct stack_plan *p)
{
	HOLDS(p->sp % 16 == 0 && p->sp < p->random && p->random_size >= RANDOM_SIZE);
	HOLDS(p->random + p->random_size <= p->strings && p->strings <= p->block);
	HOLDS(p->block + p->block_size == p->execfn && p->execfn < p->end);
	HOLDS(p->env_start >= p->block && p->env_start <= p->execfn);
	HOLDS(p->argc == s->argc - args->skip + args->prefixes && p->envc == s->envc);
}

/* The target's stack, over ours: as the image says, read as it was written. */
static void check_built(const struct image *m, const struct stack_plan *p,
			const struct stack_args *args, const Elf64_auxv_t *auxv, size_t auxc)
{
	char *copy[STRINGS];
	struct start t;

	for (unsigned long i = 0; i < m->argc + m->envc; i++)
		copy[i] = strdup(m->string[i]);
	stack_build(p, args, auxv, auxc);
	start_read(&t, (void *)p->sp);
	HOLDS(t.argc == p->argc && t.envc == m->envc && t.auxc == auxc);
	HOLDS(t.exec_fd == -1 && !binfmt_is_mode(&t));
	HOLDS(!strcmp(t.argv[0], args->prefix[0]) && !strcmp(t.execfn, args->execfn));
	for (unsigned long i = args->skip; i < m->argc; i++)
		HOLDS(!strcmp(t.argv[i - args->skip + 1], copy[i]));
	for (unsigned long i = 0; i < m->envc; i++)
		HOLDS(!strcmp(t.envp[i], copy[m->argc + i]));
	for (unsigned int i = 0; i < RANDOM_SIZE; i++)
		HOLDS(t.random[i] == 0x5a);
	for (unsigned long i = 0; i < m->argc + m->envc; i++)
		free(copy[i]);
}

static void check_stack(const struct image *m, const struct start *s, const struct binfmt_args *a)
{
	/* What stack_build() reads must not lie where it writes. */
	char *argv0 = strdup(a->argv0), *execfn = strdup(s->execfn ? s->execfn : a->path);
	const char *prefix[] = { argv0 };
	const struct stack_args args = { 1, prefix, a->skip, execfn };
	const struct stack_aux aux = { .vdso = 0x7000,
				       .no_vdso = m->how & NO_VDSO,
				       .hide.word = { 0xff00, 1, UINT64_MAX, 0 } };
	Elf64_auxv_t auxv[STACK_AUX_MAX];
	struct stack_plan plan;
	int error = stack_plan(s, &args, &plan);

	HOLDS(!error || error == EINVAL);
	if (m->how & KERNEL)
		HOLDS(!error ==
		      (s->execfn && s->random && s->auxc <= STACK_AUX_MAX &&
		       (!m->platform || strlen(m->platform) < STACK_PLATFORM_MAX - RANDOM_SIZE)));
	if (!error) {
		size_t count = check_vector(s, &plan, &aux, auxv);

		check_plan(s, &args, &plan);
		if (m->how & KERNEL)
			check_built(m, &plan, &args, auxv, count);
	}
	free(argv0);
	free(execfn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct image m = { 0 };
	struct binfmt_args args;
	struct start s;

	make(&m, &in);
	start_read(&s, m.sp);
	check_start(&m, &s);
	if (check_args(&s, &args))
		check_stack(&m, &s, &args);
	free(m.memory);
	return 0;
}
