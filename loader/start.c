#include <string.h>

#include "start.h"

static void take_entry(struct start *s, const Elf64_auxv_t *av)
{
	uint64_t value = av->a_un.a_val;

	switch (av->a_type) {
	case AT_PAGESZ: s->page_size = value; break;
	case AT_HWCAP: s->hwcap = value; break;
	case AT_FLAGS: s->flags = value; break;
	case AT_SECURE: s->secure = value; break;
	case AT_SYSINFO_EHDR: s->vdso = value; break;
	case AT_PHDR: s->phdr = value; break;
	case AT_UID: s->uid = value; break;
	case AT_EUID: s->euid = value; break;
	case AT_RANDOM: s->random = (const char *)value; break;
	case AT_PLATFORM: s->platform = (const char *)value; break;
	case AT_BASE_PLATFORM: s->base_platform = (const char *)value; break;
	case AT_EXECFN: s->execfn = (const char *)value; break;
	case AT_EXECFD: s->exec_fd = (int)value; break;
	default: break;
	}
}

void start_read(struct start *s, void *sp)
{
	unsigned long *word = sp;
	const Elf64_auxv_t *av;

	*s = (struct start){ .argc = *word, .argv = (char **)(word + 1), .exec_fd = -1 };
	s->envp = s->argv + s->argc + 1;
	while (s->envp[s->envc])
		s->envc++;
	s->auxv = (const Elf64_auxv_t *)(s->envp + s->envc + 1);
	for (av = s->auxv; av->a_type != AT_NULL; av++)
		take_entry(s, av);
	s->auxc = (size_t)(av - s->auxv) + 1;
}

const char *start_getenv(const struct start *s, const char *name)
{
	for (char **e = s->envp; *e; e++) {
		const char *at = *e, *n = name;

		while (*n && *at == *n) {
			at++;
			n++;
		}
		if (!*n && *at == '=')
			return at + 1;
	}
	return NULL;
}
