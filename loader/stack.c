#include <errno.h>
#include <string.h>

#include "arch.h"
#include "stack.h"

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint64_t after_string(const char *s)
{
	return address(s) + strlen(s) + 1;
}

/*
 * The kernel lays strings out without gaps: arguments, environment, file
 * name, and a null word at the very end (bprm_stack_limits(),
 * copy_string_kernel(), __bprm_mm_init()).
 */
static bool read_strings(const struct start *s, unsigned long skip, struct stack_plan *p)
{
	uint64_t args_end;

	if (!s->execfn || !s->argc || skip > s->argc)
		return false;
	p->strings_from = address(s->argv[0]);
	args_end = after_string(s->argv[s->argc - 1]);
	p->block_from = skip < s->argc ? address(s->argv[skip]) : args_end;
	p->block_size = address(s->execfn) - p->block_from;
	if (p->block_from > args_end || (s->envc && address(s->envp[0]) != args_end))
		return false;
	p->env_start = args_end - p->block_from;
	if (s->envc)
		args_end = after_string(s->envp[s->envc - 1]);
	return args_end == address(s->execfn) && p->strings_from <= p->block_from;
}

static uint64_t string_end(const char *s, uint64_t end)
{
	return s && after_string(s) > end ? after_string(s) : end;
}

/*
 * Between the strings and the vector: the platform strings and the random
 * bytes, below a random gap (arch_align_stack()). They move as one.
 */
static bool plan_random(const struct start *s, struct stack_plan *p)
{
	uint64_t end, gap, align;

	if (!s->random)
		return false;
	p->random_from = address(s->random);
	end = p->random_from + 16;
	end = string_end(s->platform, end);
	end = string_end(s->base_platform, end);
	if (end > p->strings_from || end - p->random_from > STACK_PLATFORM_MAX)
		return false;
	p->random_size = end - p->random_from;
	/* A kernel without arch_align_stack() does not align either. */
	align = end % ARCH_STACK_ALIGN ? 1 : ARCH_STACK_ALIGN;
	gap = (p->strings_from - end) & ~(align - 1);
	end = (p->strings - gap) & ~(align - 1);
	p->random = end - p->random_size;
	p->platform_shift = (int64_t)(p->random - p->random_from);
	return true;
}

int stack_plan(const struct start *s, const struct stack_args *args, struct stack_plan *p)
{
	uint64_t words;

	*p = (struct stack_plan){ .envc = s->envc };
	if (!read_strings(s, args->skip, p))
		return EINVAL;
	p->end = after_string(s->execfn) + sizeof(uint64_t);
	p->execfn = p->end - sizeof(uint64_t) - strlen(args->execfn) - 1;
	p->block = p->execfn - p->block_size;
	p->env_start += p->block;
	p->strings = p->block;
	for (unsigned int i = 0; i < args->prefixes; i++)
		p->strings -= strlen(args->prefix[i]) + 1;
	p->argc = args->prefixes + s->argc - args->skip;
	p->pointers_from = s->argv + args->skip;
	p->pointers = s->argc - args->skip + 1 + s->envc + 1;
	if (!plan_random(s, p) || s->auxc > STACK_AUX_MAX)
		return EINVAL;
	/* STACK_ROUND(): argc, argv, NULL, envp, NULL, below the vector, which
	 * loses AT_EXECFD.
	 */
	words = 2 * (s->auxc - (s->exec_fd >= 0)) + 1 + p->argc + 1 + p->envc + 1;
	p->sp = (p->random - words * sizeof(uint64_t)) & ~(uint64_t)15;
	return 0;
}

size_t stack_vector(const struct start *s, const struct stack_plan *plan,
		    const struct stack_aux *aux, Elf64_auxv_t *to)
{
	Elf64_auxv_t *out = to;

	for (const Elf64_auxv_t *av = s->auxv;; av++) {
		int entry = hwcap_index(av->a_type);
		uint64_t value = av->a_un.a_val;

		switch (av->a_type) {
		case AT_PHDR: value = aux->phdr; break;
		case AT_PHENT: value = aux->phent; break;
		case AT_PHNUM: value = aux->phnum; break;
		case AT_BASE: value = aux->base; break;
		case AT_ENTRY: value = aux->entry; break;
		case AT_FLAGS: value &= ~1UL; break; /* AT_FLAGS_PRESERVE_ARGV0 */
		case AT_EXECFN: value = plan->execfn; break;
		case AT_RANDOM:
		case AT_PLATFORM:
		case AT_BASE_PLATFORM: value += (uint64_t)plan->platform_shift; break;
		case AT_EXECFD: continue;
		case AT_SYSINFO_EHDR:
			if (aux->no_vdso)
				continue;
			value = aux->vdso;
			break;
		default:
			if (entry >= 0)
				value &= ~aux->hide.word[entry];
		}
		out->a_type = av->a_type;
		out->a_un.a_val = value;
		out++;
		if (av->a_type == AT_NULL)
			return (size_t)(out - to);
	}
}

/*
 * Pointers to the strings that move as one block, moved with them. False where
 * they would lie over strings that are still to be read.
 */
static bool move_pointers(const struct stack_plan *p, char **to)
{
	char *const *from = p->pointers_from;
	const uint64_t shift = p->block - p->block_from;

	if (address(to + p->pointers) > p->block_from)
		return false;
	for (unsigned long i = 0; i < p->pointers; i++) {
		/* The two may overlap. */
		unsigned long at = to > from ? p->pointers - 1 - i : i;

		to[at] = from[at] ? (char *)(address(from[at]) + shift) : NULL;
	}
	return true;
}

/* Upwards, where some memmove(3) take it byte by byte. */
static void move_up(char *to, const char *from, size_t size)
{
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(&word, from + size - sizeof(word), sizeof(word));
		memcpy(to + size - sizeof(word), &word, sizeof(word));
	}
	while (size--)
		to[size] = from[size];
}

static void move_block(const struct stack_plan *p)
{
	char *to = (char *)p->block;
	const char *from = (const char *)p->block_from;

	if (to > from)
		move_up(to, from, p->block_size);
	else if (to < from)
		memmove(to, from, p->block_size);
}

/* One pointer per string, from STRING on; returns where the next one starts. */
static char *point_at(char *string, unsigned long count, char **pointer)
{
	for (; count; count--) {
		*pointer++ = string;
		string += strlen(string) + 1;
	}
	return string;
}

static void point_at_all(const struct stack_plan *p, char **argv)
{
	char **envp = argv + p->argc + 1;
	char *at = point_at((char *)p->strings, p->argc, argv);

	argv[p->argc] = NULL;
	point_at(at, p->envc, envp);
	envp[p->envc] = NULL;
}

static void clear(uint64_t from, uint64_t to)
{
	if (from < to)
		memset((void *)from, 0, to - from);
}

/*
 * On new pages, as the kernel has them, there is nothing between the vector,
 * the random bytes and the strings. Here there may be what was ours: pointers
 * and vector up to the old random bytes, and the old strings.
 */
static void clear_gaps(const struct stack_plan *p, uint64_t vector_end)
{
	uint64_t from = p->random + p->random_size;
	uint64_t old_end = p->random_from + p->random_size;

	clear(vector_end, p->random);
	clear(from, old_end < p->strings ? old_end : p->strings);
	clear(from > p->strings_from ? from : p->strings_from, p->strings);
}

void stack_build(const struct stack_plan *p, const struct stack_args *args,
		 const Elf64_auxv_t *auxv, size_t auxc)
{
	char random[STACK_PLATFORM_MAX];
	char *at = (char *)p->strings;
	uint64_t *sp = (uint64_t *)p->sp;
	char **argv = (char **)(sp + 1), **envp = argv + p->argc + 1;
	bool pointed;

	memcpy(random, (const void *)p->random_from, p->random_size);
	pointed = move_pointers(p, argv + args->prefixes);
	move_block(p);
	memcpy((void *)p->execfn, args->execfn, strlen(args->execfn) + 1);
	memset((char *)p->end - sizeof(uint64_t), 0, sizeof(uint64_t));
	for (unsigned int i = 0; i < args->prefixes; i++) {
		size_t size = strlen(args->prefix[i]) + 1;

		memcpy(at, args->prefix[i], size);
		at += size;
	}
	clear_gaps(p, (uint64_t)(envp + p->envc + 1) + auxc * sizeof(*auxv));
	memcpy((void *)p->random, random, p->random_size);
	/* They seed the target's canary: leave no second copy. */
	memset(random, 0, sizeof(random));
	__asm__ volatile("" : : "r"(random) : "memory");
	*sp = p->argc;
	if (pointed)
		point_at((char *)p->strings, args->prefixes, argv);
	else
		point_at_all(p, argv);
	memcpy(envp + p->envc + 1, auxv, auxc * sizeof(*auxv));
}
