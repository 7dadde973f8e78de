/*
 * The target's stack, against a model of what the kernel makes
 *
 * The model lays out strings, gap, vector and pointers as fs/exec.c and
 * fs/binfmt_elf.c:create_elf_tables() do, on pages of zeros. It makes our own
 * stack; stack_build() turns that into the target's; and every byte from the
 * new stack pointer on must be that of a stack the model makes for the target.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "arch.h"
#include "stack.h"
#include "unit.h"

enum { PAGE = 4096, STRINGS_MAX = 80, AUX_MAX = 48 };

/* ---- the kernel ------------------------------------------------------------ */

struct exec {
	unsigned long argc, envc;
	const char *argv[STRINGS_MAX], *envp[STRINGS_MAX];
	const char *execfn, *platform, *base_platform;
	size_t auxc; /* without AT_NULL; pointers into the stack are filled in */
	Elf64_auxv_t auxv[AUX_MAX];
	unsigned char random[16];
};

/* Memory at MEMORY that is, for all pointers, at ADDRESS. */
struct memory {
	char *memory;
	uint64_t address;
	size_t size;
};

struct made {
	uint64_t sp, strings, env_start, execfn, random;
};

static void put(const struct memory *m, uint64_t at, const void *bytes, size_t size)
{
	assert_true(at >= m->address && at + size <= m->address + m->size);
	memcpy(m->memory + (at - m->address), bytes, size);
}

static void put_word(const struct memory *m, uint64_t *at, uint64_t word)
{
	put(m, *at, &word, sizeof(word));
	*at += sizeof(word);
}

static uint64_t push_string(const struct memory *m, uint64_t p, const char *s)
{
	size_t size = strlen(s) + 1;

	put(m, p - size, s, size);
	return p - size;
}

static uint64_t put_pointers(const struct memory *m, uint64_t *sp, unsigned long count,
			     const char *const *strings, uint64_t p)
{
	for (unsigned long i = 0; i < count; i++) {
		put_word(m, sp, p);
		p += strlen(strings[i]) + 1;
	}
	put_word(m, sp, 0);
	return p;
}

/* do_execveat_common(): copy_string_kernel() and copy_strings(). */
static void make_strings(const struct memory *m, const struct exec *e, struct made *made)
{
	uint64_t p = m->address + m->size - sizeof(void *);

	made->execfn = p = push_string(m, p, e->execfn);
	for (unsigned long i = e->envc; i; i--)
		p = push_string(m, p, e->envp[i - 1]);
	made->env_start = p;
	for (unsigned long i = e->argc; i; i--)
		p = push_string(m, p, e->argv[i - 1]);
	made->strings = p;
}

/* create_elf_tables(), with DOWN for get_random_u32_below(8192). */
static void make_stack(const struct memory *m, const struct exec *e, uint64_t down,
		       struct made *made)
{
	uint64_t p, sp, u_platform = 0, u_base_platform = 0;
	unsigned long items = e->argc + 1 + e->envc + 1 + 1;

	make_strings(m, e, made);
	p = (made->strings - down) & ~(uint64_t)0xf;
	if (e->platform)
		u_platform = p = push_string(m, p, e->platform);
	if (e->base_platform)
		u_base_platform = p = push_string(m, p, e->base_platform);
	p -= sizeof(e->random);
	put(m, p, e->random, sizeof(e->random));
	made->random = p;
	sp = p - (e->auxc + 1) * sizeof(Elf64_auxv_t);
	sp = (sp - items * sizeof(uint64_t)) & ~(uint64_t)15;
	made->sp = sp;
	put_word(m, &sp, e->argc);
	p = put_pointers(m, &sp, e->argc, e->argv, made->strings);
	put_pointers(m, &sp, e->envc, e->envp, p);
	for (size_t i = 0; i < e->auxc; i++) {
		uint64_t value = e->auxv[i].a_un.a_val;

		switch (e->auxv[i].a_type) {
		case AT_RANDOM: value = made->random; break;
		case AT_EXECFN: value = made->execfn; break;
		case AT_PLATFORM: value = u_platform; break;
		case AT_BASE_PLATFORM: value = u_base_platform; break;
		default: break;
		}
		put_word(m, &sp, e->auxv[i].a_type);
		put_word(m, &sp, value);
	}
	put_word(m, &sp, AT_NULL);
	put_word(m, &sp, 0);
}

/* ---- one case: our exec, and the target's ---------------------------------- */

struct change {
	unsigned int prefixes;
	const char *prefix[STACK_PREFIX_MAX];
	unsigned long skip;
	const char *execfn;
	struct stack_aux aux;
};

/* Entries in x86_64's order, with values nothing else has. */
static void default_vector(struct exec *e, bool exec_fd)
{
	static const uint64_t types[] = {
		AT_SYSINFO_EHDR,
		51 /* AT_MINSIGSTKSZ */,
		AUX_HWCAP,
		AT_PAGESZ,
		AT_CLKTCK,
		AT_PHDR,
		AT_PHENT,
		AT_PHNUM,
		AT_BASE,
		AT_FLAGS,
		AT_ENTRY,
		AT_UID,
		AT_EUID,
		AT_GID,
		AT_EGID,
		AT_SECURE,
		AT_RANDOM,
		AUX_HWCAP2,
		AT_EXECFN,
		AUX_HWCAP3,
		AUX_HWCAP4,
		AT_PLATFORM,
		AT_BASE_PLATFORM,
		AT_EXECFD,
		27,
		28,
	};

	e->auxc = 0;
	for (unsigned int i = 0; i < COUNT(types); i++) {
		if ((types[i] == AT_PLATFORM && !e->platform) ||
		    (types[i] == AT_BASE_PLATFORM && !e->base_platform) ||
		    (types[i] == AT_EXECFD && !exec_fd))
			continue;
		e->auxv[e->auxc].a_type = types[i];
		e->auxv[e->auxc++].a_un.a_val =
			types[i] == AT_EXECFD ? 3 : 0x5555000055550001 + (i << 8);
	}
}

static void default_exec(struct exec *e)
{
	*e = (struct exec){
		.argc = 4,
		.argv = { "hwcap-exec", "--mask=all", "--", "program" },
		.envc = 2,
		.envp = { "HOME=/root", "" },
		.execfn = "/usr/bin/hwcap-exec",
		.platform = "x86_64",
		.random = "0123456789abcdef",
	};
	default_vector(e, false);
}

static void default_change(struct change *c)
{
	*c = (struct change){
		.skip = 3,
		.execfn = "/bin/program",
		.aux = { .phdr = 0x1111,
			 .phent = 56,
			 .phnum = 13,
			 .base = 0x2222,
			 .entry = 0x3333,
			 .vdso = 0x4444,
			 .hide.word = { 0xff00ff00ff00ff00, 1, UINT64_MAX, 0 } },
	};
}

/* The vector that execve of the target would have made, then masked. */
static void change_vector(const struct exec *from, const struct stack_aux *aux, struct exec *to)
{
	to->auxc = 0;
	for (size_t i = 0; i < from->auxc; i++) {
		Elf64_auxv_t av = from->auxv[i];

		switch (av.a_type) {
		case AT_EXECFD: continue;
		case AT_PHDR: av.a_un.a_val = aux->phdr; break;
		case AT_PHENT: av.a_un.a_val = aux->phent; break;
		case AT_PHNUM: av.a_un.a_val = aux->phnum; break;
		case AT_BASE: av.a_un.a_val = aux->base; break;
		case AT_ENTRY: av.a_un.a_val = aux->entry; break;
		case AT_FLAGS: av.a_un.a_val &= ~(uint64_t)1; break;
		case AT_SYSINFO_EHDR:
			if (aux->no_vdso)
				continue;
			av.a_un.a_val = aux->vdso;
			break;
		case 16: av.a_un.a_val &= ~aux->hide.word[0]; break;
		case 26: av.a_un.a_val &= ~aux->hide.word[1]; break;
		case 29: av.a_un.a_val &= ~aux->hide.word[2]; break;
		case 30: av.a_un.a_val &= ~aux->hide.word[3]; break;
		default: break;
		}
		to->auxv[to->auxc++] = av;
	}
}

static void change_exec(const struct exec *from, const struct change *c, struct exec *to)
{
	*to = *from;
	to->argc = 0;
	for (unsigned int i = 0; i < c->prefixes; i++)
		to->argv[to->argc++] = c->prefix[i];
	for (unsigned long i = c->skip; i < from->argc; i++)
		to->argv[to->argc++] = from->argv[i];
	to->execfn = c->execfn;
	change_vector(from, &c->aux, to);
}

static struct memory stack_of(size_t size)
{
	char *at =
		mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Whatever is written past the end of the stack is a fault. */
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + size, PAGE, PROT_NONE), 0);
	return (struct memory){ at, (uint64_t)(uintptr_t)at, size };
}

static void free_stack(const struct memory *m)
{
	assert_int_equal(munmap(m->memory, m->size + PAGE), 0);
}

static void check_plan(const struct stack_plan *p, const struct exec *target,
		       const struct made *made, const struct memory *m)
{
	assert_int_equal(p->sp % 16, 0);
	assert_int_equal(p->argc, target->argc);
	assert_int_equal(p->envc, target->envc);
	assert_int_equal(p->strings, made->strings);
	assert_int_equal(p->env_start, made->env_start);
	assert_int_equal(p->execfn, made->execfn);
	assert_int_equal(p->random, made->random);
	assert_int_equal(p->end, m->address + m->size);
	assert_int_equal(p->sp, made->sp);
}

/* The random gap that the plan has chosen; without ASLR there is none. */
static uint64_t gap_of(const struct stack_plan *p, uint64_t down)
{
	uint64_t gap = p->strings - (p->random + p->random_size);

	if (!down)
		return 0;
	assert_true(gap < 8192 + 32);
	return gap;
}

/* Run it all in OURS (of zeros); THEIRS becomes the kernel's version. */
static void run_case(const struct memory *ours, const struct memory *theirs,
		     const struct exec *from, const struct change *c, uint64_t down)
{
	const struct stack_args args = { c->prefixes, c->prefix, c->skip, c->execfn };
	Elf64_auxv_t auxv[STACK_AUX_MAX];
	struct stack_plan p;
	struct made old, made;
	struct exec target;
	struct start s;
	size_t auxc, below;
	char *before;

	make_stack(ours, from, down, &old);
	start_read(&s, (void *)(uintptr_t)old.sp);
	assert_int_equal(stack_plan(&s, &args, &p), 0);
	change_exec(from, c, &target);
	make_stack(theirs, &target, gap_of(&p, down), &made);
	check_plan(&p, &target, &made, ours);
	auxc = stack_vector(&s, &p, &c->aux, auxv);
	assert_int_equal(auxc, target.auxc + 1);
	below = p.sp - ours->address;
	before = exact_copy(ours->memory, below);
	stack_build(&p, &args, auxv, auxc);
	assert_memory_equal(ours->memory, before, below);
	assert_memory_equal(ours->memory + below, theirs->memory + below, ours->size - below);
	free(before);
}

static void run_sized(const struct exec *from, const struct change *c, uint64_t down, size_t size)
{
	struct memory ours = stack_of(size), theirs = stack_of(size);

	theirs.address = ours.address;
	run_case(&ours, &theirs, from, c, down);
	free_stack(&ours);
	free_stack(&theirs);
}

static void run(const struct exec *from, const struct change *c, uint64_t down)
{
	run_sized(from, c, down, 16 * PAGE);
}

/* ---- tests ----------------------------------------------------------------- */

static const uint64_t downs[] = { 0, 1, 15, 16, 17, 100, 4095, 8191 };

static char *string_of(uint64_t *state, size_t length)
{
	char *s = malloc(length + 1);

	assert_non_null(s);
	for (size_t i = 0; i < length; i++)
		s[i] = (char)(1 + random_below(state, 255));
	s[length] = '\0';
	return s;
}

static void the_usual_command_line(void **unused)
{
	struct change c;
	struct exec e;

	(void)unused;
	default_exec(&e);
	default_change(&c);
	for (unsigned int i = 0; i < COUNT(downs); i++)
		run(&e, &c, downs[i]);
}

static void counts_from_none_to_64(void **unused)
{
	uint64_t state = 1;
	char *pool[STRINGS_MAX];
	struct change c;
	struct exec e;

	(void)unused;
	default_exec(&e);
	default_change(&c);
	for (unsigned int i = 0; i < STRINGS_MAX; i++)
		pool[i] = string_of(&state, random_below(&state, 20));
	for (e.argc = 1; e.argc <= 64; e.argc++)
		for (e.envc = 0; e.envc <= 64; e.envc++) {
			for (unsigned int i = 0; i < 64; i++) {
				e.argv[i] = pool[i];
				e.envp[i] = pool[STRINGS_MAX - 1 - i];
			}
			c.skip = random_below(&state, e.argc + 1);
			c.prefixes = c.skip == e.argc;
			c.prefix[0] = "argv0";
			run(&e, &c, one_in(&state, 2) ? 0 : random_below(&state, 8192));
		}
	for (unsigned int i = 0; i < STRINGS_MAX; i++)
		free(pool[i]);
}

static void lengths_from_none_to_64(void **unused)
{
	uint64_t state = 2;
	struct change c;
	struct exec e;

	(void)unused;
	for (size_t a = 0; a <= 64; a++) {
		char *argument = string_of(&state, a);

		for (size_t v = 0; v <= 64; v += 1 + a % 3) {
			char *variable = string_of(&state, v);

			default_exec(&e);
			default_change(&c);
			e.argv[3] = argument;
			e.envp[1] = variable;
			c.execfn = argument;
			run(&e, &c, downs[(a + v) % COUNT(downs)]);
			free(variable);
		}
		free(argument);
	}
}

/* What goes before the arguments may be longer than what is left out. */
static void prefixes_and_file_names(void **unused)
{
	uint64_t state = 3;
	char *name[] = { string_of(&state, 0), string_of(&state, 1), string_of(&state, 19),
			 string_of(&state, 255), string_of(&state, 4095) };
	struct change c;
	struct exec e;

	(void)unused;
	for (unsigned int n = 0; n <= 12; n++)
		for (unsigned int f = 0; f < COUNT(name); f++)
			for (unsigned int d = 0; d < COUNT(downs); d++) {
				default_exec(&e);
				default_change(&c);
				c.prefixes = n;
				for (unsigned int i = 0; i < n; i++)
					c.prefix[i] = name[(i + f + d) % 4];
				c.execfn = name[f];
				c.skip = random_below(&state, e.argc + (n > 0));
				run(&e, &c, downs[d]);
			}
	for (unsigned int i = 0; i < COUNT(name); i++)
		free(name[i]);
}

static void two_mebibytes_of_arguments(void **unused)
{
	uint64_t state = 4;
	char *big[16];
	struct change c;
	struct exec e;

	(void)unused;
	default_exec(&e);
	default_change(&c);
	for (unsigned int i = 0; i < COUNT(big); i++) {
		big[i] = string_of(&state, 131071);
		e.argv[e.argc++] = big[i];
	}
	for (unsigned int i = 0; i < 4; i++) {
		run_sized(&e, &c, downs[2 * i], 3 << 20);
		/* The same bytes, moved down. */
		c.prefixes = 2;
		c.prefix[0] = c.prefix[1] = big[0];
		run_sized(&e, &c, downs[2 * i], 3 << 20);
		c.prefixes = 0;
	}
	for (unsigned int i = 0; i < COUNT(big); i++)
		free(big[i]);
}

static void platforms_and_descriptors(void **unused)
{
	static const char *const names[] = { NULL, "", "x86_64", "power9",
					     "a platform name of 40 bytes, no longer" };
	struct change c;
	struct exec e;

	(void)unused;
	for (unsigned int i = 0; i < COUNT(names); i++)
		for (unsigned int k = 0; k < COUNT(names); k++)
			for (unsigned int d = 0; d < 2 * COUNT(downs); d++) {
				default_exec(&e);
				default_change(&c);
				e.platform = names[i];
				e.base_platform = names[k];
				default_vector(&e, d % 2);
				run(&e, &c, downs[d / 2]);
			}
}

static void hides_and_never_sets(void **unused)
{
	uint64_t state = 5;

	(void)unused;
	for (unsigned int i = 0; i < 3000; i++) {
		Elf64_auxv_t out[STACK_AUX_MAX];
		struct stack_plan plan = { .execfn = 1 };
		struct change c;
		struct start s;
		struct exec e;
		size_t count;

		default_exec(&e);
		default_change(&c);
		for (unsigned int k = 0; k < e.auxc; k++)
			e.auxv[k].a_un.a_val = next_random(&state);
		/* Unknown ones, too. */
		if (one_in(&state, 2))
			e.auxv[random_below(&state, e.auxc)].a_type = 99;
		for (unsigned int k = 0; k < HWCAP_ENTRIES; k++)
			c.aux.hide.word[k] = next_random(&state) & next_random(&state);
		s = (struct start){ .auxv = e.auxv };
		e.auxv[e.auxc].a_type = AT_NULL;
		count = stack_vector(&s, &plan, &c.aux, out);
		assert_int_equal(count, e.auxc + 1);
		for (size_t k = 0; k < count; k++) {
			int entry = hwcap_index(out[k].a_type);

			assert_int_equal(out[k].a_type, e.auxv[k].a_type);
			if (entry < 0)
				continue;
			assert_int_equal(out[k].a_un.a_val & ~e.auxv[k].a_un.a_val, 0);
			assert_int_equal(out[k].a_un.a_val,
					 e.auxv[k].a_un.a_val & ~c.aux.hide.word[entry]);
		}
	}
}

/* The vector is one entry shorter than execve's; the rest stays in place. */
static void without_vdso(void **unused)
{
	struct memory m = stack_of(16 * PAGE);
	Elf64_auxv_t auxv[STACK_AUX_MAX], *copy;
	struct stack_args args;
	struct stack_plan p;
	struct change c;
	struct made old;
	struct exec e, target;
	struct start s, t;
	size_t auxc;

	(void)unused;
	default_exec(&e);
	default_change(&c);
	c.aux.no_vdso = true;
	args = (struct stack_args){ 0, NULL, c.skip, c.execfn };
	make_stack(&m, &e, 77, &old);
	start_read(&s, (void *)(uintptr_t)old.sp);
	assert_int_equal(stack_plan(&s, &args, &p), 0);
	auxc = stack_vector(&s, &p, &c.aux, auxv);
	copy = exact_copy(auxv, auxc * sizeof(*auxv));
	stack_build(&p, &args, auxv, auxc);
	change_exec(&e, &c, &target);
	assert_int_equal(auxc, target.auxc + 1);
	assert_int_equal(p.sp % 16, 0);
	start_read(&t, (void *)(uintptr_t)p.sp);
	assert_int_equal(t.vdso, 0);
	assert_int_equal(t.auxc, auxc);
	assert_memory_equal(t.auxv, copy, auxc * sizeof(*copy));
	for (const char *at = (const char *)(t.auxv + auxc); at < t.random; at++)
		assert_int_equal(*at, 0);
	assert_string_equal(t.execfn, c.execfn);
	assert_string_equal(t.argv[0], "program");
	free(copy);
	free_stack(&m);
}

static void reads_its_own_stack(void **unused)
{
	struct memory m = stack_of(16 * PAGE);
	struct made made;
	struct start s;
	struct exec e;

	(void)unused;
	default_exec(&e);
	e.base_platform = "base";
	default_vector(&e, true);
	make_stack(&m, &e, 5, &made);
	start_read(&s, (void *)(uintptr_t)made.sp);
	assert_int_equal(s.argc, 4);
	assert_int_equal(s.envc, 2);
	assert_int_equal(s.auxc, e.auxc + 1);
	assert_int_equal(s.exec_fd, 3);
	assert_string_equal(s.argv[1], "--mask=all");
	assert_null(s.argv[4]);
	assert_null(s.envp[2]);
	assert_string_equal(s.execfn, e.execfn);
	assert_string_equal(s.platform, "x86_64");
	assert_string_equal(s.base_platform, "base");
	assert_memory_equal(s.random, e.random, 16);
	assert_string_equal(start_getenv(&s, "HOME"), "/root");
	assert_null(start_getenv(&s, "HOM"));
	assert_null(start_getenv(&s, ""));
	free_stack(&m);
}

/* ---- stacks that no kernel makes ------------------------------------------- */

static int plan_of(const struct exec *e, unsigned long skip, void (*spoil)(struct start *s))
{
	struct memory m = stack_of(16 * PAGE);
	struct stack_args args = { 0, NULL, skip, "x" };
	struct stack_plan p;
	struct made made;
	struct start s;
	int error;

	make_stack(&m, e, 0, &made);
	start_read(&s, (void *)(uintptr_t)made.sp);
	if (spoil)
		spoil(&s);
	error = stack_plan(&s, &args, &p);
	free_stack(&m);
	return error;
}

static void no_execfn(struct start *s)
{
	s->execfn = NULL;
}

static void no_random(struct start *s)
{
	s->random = NULL;
}

static void execfn_elsewhere(struct start *s)
{
	s->execfn++;
}

static void gap_before_environment(struct start *s)
{
	s->envp[0]++;
}

static void arguments_out_of_order(struct start *s)
{
	s->argv[0] = s->envp[1];
}

static void random_above_strings(struct start *s)
{
	s->random = s->execfn;
}

static void platform_too_far(struct start *s)
{
	s->platform = s->argv[1];
}

static void too_many_entries(struct start *s)
{
	s->auxc = STACK_AUX_MAX + 1;
}

static void refuses_what_no_kernel_makes(void **unused)
{
	void (*const spoil[])(struct start *) = {
		no_execfn,
		no_random,
		execfn_elsewhere,
		gap_before_environment,
		arguments_out_of_order,
		random_above_strings,
		platform_too_far,
		too_many_entries,
	};
	struct exec e;

	(void)unused;
	default_exec(&e);
	assert_int_equal(plan_of(&e, 3, NULL), 0);
	assert_int_equal(plan_of(&e, 4, NULL), 0);
	assert_int_equal(plan_of(&e, 5, NULL), EINVAL);
	assert_int_equal(plan_of(&e, (unsigned long)-1, NULL), EINVAL);
	for (unsigned int i = 0; i < COUNT(spoil); i++)
		assert_int_equal(plan_of(&e, 3, spoil[i]), EINVAL);
}

/* Before Linux 5.18 execve passed an empty argv on as it was. */
static void refuses_no_arguments(void **unused)
{
	struct exec e;

	(void)unused;
	default_exec(&e);
	e.argc = 0;
	assert_int_equal(plan_of(&e, 0, NULL), EINVAL);
	e.envc = 0;
	assert_int_equal(plan_of(&e, 0, NULL), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_its_own_stack),
		cmocka_unit_test(the_usual_command_line),
		cmocka_unit_test(counts_from_none_to_64),
		cmocka_unit_test(lengths_from_none_to_64),
		cmocka_unit_test(prefixes_and_file_names),
		cmocka_unit_test(two_mebibytes_of_arguments),
		cmocka_unit_test(platforms_and_descriptors),
		cmocka_unit_test(hides_and_never_sets),
		cmocka_unit_test(without_vdso),
		cmocka_unit_test(refuses_what_no_kernel_makes),
		cmocka_unit_test(refuses_no_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
