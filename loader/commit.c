#include <errno.h>
#include <string.h>

#include "commit.h"
#include "process.h"
#include "sys.h"

typedef void leave_fn(const struct arch_leave *how);

struct way_out {
	struct zones zones;
	uint64_t brk;
	struct arch_entry entry;
	struct arch_leave_site site;
};

static int map_images(struct diag *d, struct load *l, struct zones *z)
{
	if (map_program(d, z, &l->program))
		return -1;
	if (!l->has_interp)
		return 0;
	if (map_interp(d, z, l->interp, !l->program.bias))
		return -1;
	sys_close(l->interp->fd);
	l->interp->fd = -1;
	return 0;
}

/* Search what is executable and readable of IMAGE. */
static bool find_site_in(const struct image *image, struct arch_leave_site *site)
{
	for (unsigned int i = 0; i < image->elf.header.e_phnum; i++) {
		const Elf64_Phdr *ph = &image->elf.phdr[i];
		uint64_t at = ph->p_vaddr + image->bias, size = ph->p_filesz;

		if (ph->p_type != PT_LOAD || (ph->p_flags & (PF_R | PF_X)) != (PF_R | PF_X))
			continue;
		/* Beyond the end of the file is SIGBUS. */
		if (ph->p_offset >= image->elf.size)
			continue;
		if (size > image->elf.size - ph->p_offset)
			size = image->elf.size - ph->p_offset;
		arch_find_leave_site((const unsigned char *)at, size, at, site);
		if (site->at)
			return true;
	}
	return false;
}

static int find_site(struct diag *d, const struct load *l, const struct zones *z,
		     struct arch_leave_site *site)
{
	uint64_t size;
	const unsigned char *code = vdso_code(&z->vdso, &size);

	*site = (struct arch_leave_site){ 0 };
	/* Its first page has been touched already, for its headers. */
	if (code &&
	    !arch_find_leave_site(code, size < z->page ? size : z->page, z->vdso.text, site))
		arch_find_leave_site(code, size, z->vdso.text, site);
	if (site->at)
		return 0;
	if (l->has_interp && find_site_in(l->interp, site))
		return 0;
	if (find_site_in(&l->program, site))
		return 0;
	return diag(d, EXIT_CANNOT_RUN, ENOEXEC,
		    "%s: neither the vDSO nor the program has a system call to "
		    "leave by",
		    l->program.path);
}

/* Will SIZE bytes at address AT of IMAGE be there to read? */
static bool image_has(const struct image *image, uint64_t at, size_t size)
{
	for (unsigned int i = 0; i < image->elf.header.e_phnum; i++) {
		const Elf64_Phdr *ph = &image->elf.phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_R) &&
		    at - ph->p_vaddr < ph->p_memsz && ph->p_memsz - (at - ph->p_vaddr) >= size)
			return true;
	}
	return false;
}

/* start_thread()'s arguments. */
static int find_entry(struct diag *d, const struct load *l, struct arch_entry *entry)
{
	const struct image *first = l->has_interp ? l->interp : &l->program;
	const unsigned int flags = l->program.elf.header.e_flags;
	size_t descriptor = arch_descriptor_size(flags);

	*entry = (struct arch_entry){
		.pc = first->plan.entry + first->bias,
		.base = l->has_interp ? first->bias : 0,
		.flags = flags,
		.hwcap = l->request->start->hwcap,
	};
	if (entry->pc < l->space.task &&
	    (!descriptor || image_has(first, first->plan.entry, descriptor)))
		return 0;
	return diag(d, EXIT_CANNOT_RUN, ENOEXEC, "%s: entry point is outside the address space",
		    first->path);
}

static void fill_aux(const struct load *l, const struct zones *z, struct stack_aux *aux)
{
	const struct image *program = &l->program;

	*aux = (struct stack_aux){
		.phdr = program->plan.phdr + program->bias,
		.phent = sizeof(Elf64_Phdr),
		.phnum = program->elf.header.e_phnum,
		.base = l->has_interp ? l->interp->bias : 0,
		.entry = program->plan.entry + program->bias,
		.vdso = z->vdso.text,
		.no_vdso = l->request->no_vdso,
		.hide = l->request->hide,
	};
}

/* bprm_finalize/setup_arg_pages(): only the program's PT_GNU_STACK counts. */
static bool wants_exec_stack(const struct load *l)
{
	const struct elf_plan *p = &l->program.plan;

	return p->exec_stack_set ? p->exec_stack : ARCH_DEFAULT_EXEC_STACK;
}

static long make_stack_executable(uint64_t last_page, uint64_t page)
{
	return sys_mprotect(last_page, page, PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN);
}

static size_t leave_code_size(void)
{
	return (size_t)(arch_leave_end - (const char *)arch_leave);
}

static void copy_leave_code(uint64_t to)
{
	memcpy((void *)to, (const void *)arch_leave, leave_code_size());
	arch_flush_code(to, leave_code_size());
}

/* A page from which the last of us leaves; it lives for three system calls. */
static bool leave_from_page(const struct zones *z, struct arch_leave *how)
{
	long r = sys_mmap(z->image + z->image_size, z->page, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	how->last = (uint64_t)r;
	how->last_size = z->page;
	return !sys_failed(r);
}

/* The last call takes the stack's permission to execute away again. */
static void leave_from_stack(const struct load *l, const struct zones *z, uint64_t last_page,
			     struct arch_leave *how)
{
	how->last = last_page;
	how->last_size = z->page;
	how->last_prot = PROT_READ | PROT_WRITE | PROT_GROWSDOWN |
			 (wants_exec_stack(l) ? PROT_EXEC : 0);
}

enum { MESSAGE_ROOM = 96 };

static const char before_path[] = "hwcap-exec: ";
static const char after_path[] = ": open for writing (text file busy), or refused as "
				 "this process's program\n";

__attribute__((cold, noinline)) static size_t put_escaped(char *to, size_t size, const char *path)
{
	struct text t;

	text_init(&t, to, size);
	text_add(&t, "%s%.*s", before_path, (int)(size - MESSAGE_ROOM), path);
	text_add_raw(&t, after_path);
	return t.length;
}

/*
 * What is said if the link is refused, which shows only once our image is
 * gone: deny_write_access(), as a rule. TO has SIZE bytes for PATH and the rest.
 */
static size_t put_message(char *to, size_t size, const char *path)
{
	char *at = to + sizeof(before_path) - 1;

	memcpy(to, before_path, sizeof(before_path) - 1);
	for (const char *c = path; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return put_escaped(to, size, path);
		*at++ = *c;
	}
	memcpy(at, after_path, sizeof(after_path) - 1);
	return (size_t)(at - to) + sizeof(after_path) - 1;
}

/*
 * The exe link wants our image gone first, so the code that does it runs from
 * a copy at *CODE: in the room given there, on the stack, or in a page. False
 * where memory that was written to may not be executed (PR_SET_MDWE, systemd's
 * MemoryDenyWriteExecute): no link then.
 */
static bool prepare_link(const struct load *l, const struct way_out *out, uint64_t last_page,
			 struct arch_leave *how, uint64_t *code)
{
	const struct zones *z = &out->zones;

	if (arch_site_protects(&out->site)) {
		if (make_stack_executable(last_page, z->page))
			return false;
		leave_from_stack(l, z, last_page, how);
	} else {
		if (!leave_from_page(z, how) ||
		    (wants_exec_stack(l) && make_stack_executable(last_page, z->page)))
			return false;
		*code = how->last;
	}
	copy_leave_code(*code);
	how->unmap = z->image;
	how->unmap_size = z->image_size;
	how->fd = l->program.fd;
	return true;
}

/* Without the link all is done but the last step, from where we are. */
static int prepare_plain(struct diag *d, const struct load *l, const struct way_out *out,
			 uint64_t last_page, struct arch_leave *how, uint64_t *code)
{
	const struct zones *z = &out->zones;
	long r = wants_exec_stack(l) ? make_stack_executable(last_page, z->page) : 0;

	if (r)
		return diag(d, EXIT_CANNOT_RUN, (int)-r,
			    "%.256s: unable to make its stack executable", l->program.path);
	if (program_is_busy(l->program.fd))
		return diag(d, EXIT_CANNOT_RUN, ETXTBSY,
			    "%.256s: open for writing (text file busy)", l->program.path);
	sys_close(l->program.fd);
	how->last = z->image;
	how->last_size = z->image_size;
	*code = (uint64_t)arch_leave;
	return 0;
}

/*
 * By which way out, and what the kernel is told before. Returns 0,
 * LOAD_NO_LINK, or -1 with D filled.
 */
static int prepare_leave(struct diag *d, const struct load *l, const struct way_out *out,
			 uint64_t last_page, struct process_map *map, struct arch_leave *how,
			 uint64_t *code)
{
	const bool same = elf_is_ours(&l->program.elf) && process_runs(l->program.fd);
	const bool link = !same && process_may_set_link() &&
			  prepare_link(l, out, last_page, how, code);

	if (!link && !same && l->request->need_link)
		return LOAD_NO_LINK;
	if (process_set(d, l->program.path, map, link ? l->program.fd : -1))
		return -1;
	if (!link)
		return prepare_plain(d, l, out, last_page, how, code);
	how->mm_map = (uint64_t)map;
	how->mm_map_size = sizeof(*map);
	return 0;
}

/*
 * Everything that is still needed once the stack is being written is in this
 * frame, below the new stack: stack_build() may write over all frames above.
 */
__attribute__((noinline)) static int commit_below(struct diag *d, const struct load *l,
						  const struct way_out *out,
						  const struct stack_args *from,
						  size_t strings_size)
{
	Elf64_auxv_t auxv[l->request->start->auxc];
	const char *prefix[STACK_PREFIX_MAX];
	char strings[strings_size];
	char *at = strings;
	struct arch_entry entry = out->entry;
	const struct arch_leave_site site = out->site;
	struct stack_args args = *from;
	struct stack_plan stack;
	struct stack_aux aux;
	struct process_map map;
	struct arch_leave how = { .fd = -1 };
	_Alignas(16) char room[leave_code_size()];
	char message[strlen(from->execfn) + 2UL * MESSAGE_ROOM];
	uint64_t code = (uint64_t)room;
	size_t auxc;
	int result;

	at = stpcpy(at, from->execfn) + 1;
	args.execfn = strings;
	args.prefix = prefix;
	for (unsigned int i = 0; i < from->prefixes; i++) {
		prefix[i] = at;
		at = stpcpy(at, from->prefix[i]) + 1;
	}
	if (stack_plan(l->request->start, &args, &stack))
		return diag(d, EXIT_FAILED, EINVAL,
			    "the initial stack is not as Linux lays it out");
	fill_aux(l, &out->zones, &aux);
	auxc = stack_vector(l->request->start, &stack, &aux, auxv);
	process_map(&l->program, &stack, out->brk, auxv, auxc, &map);
	result = prepare_leave(d, l, out, page_down(stack.end - 1, out->zones.page), &map, &how,
			       &code);
	if (result)
		return result;
	how.message = (uint64_t)message;
	how.message_size = put_message(message, sizeof(message), from->execfn);
	if (process_set_name(d,
			     l->request->program->name ? l->request->program->name : args.execfn))
		return -1;
	stack_build(&stack, &args, auxv, auxc);
	entry.sp = stack.sp;
	arch_leave_prepare(&how, &site, &entry);
	((leave_fn *)code)(&how);
	__builtin_unreachable();
}

static size_t strings_size(const struct stack_args *args)
{
	size_t size = strlen(args->execfn) + 1;

	for (unsigned int i = 0; i < args->prefixes; i++)
		size += strlen(args->prefix[i]) + 1;
	return size;
}

/* An argv[0] that stays where it is need not be copied. */
static void fill_args(const struct load *l, struct stack_args *args)
{
	const struct load_request *r = l->request;
	const struct program *p = r->program;

	*args = (struct stack_args){
		.prefixes = p->prefixes, .prefix = p->prefix, .skip = r->skip, .execfn = p->path
	};
	if (p->prefixes == 1 && r->skip && p->prefix[0] == r->start->argv[r->skip - 1]) {
		args->prefixes = 0;
		args->skip--;
	}
}

int commit(struct diag *d, struct load *l)
{
	struct way_out out;
	struct stack_args args;
	struct stack_plan stack;
	uint64_t here = (uint64_t)__builtin_frame_address(0), pad = 1;

	fill_args(l, &args);
	if (stack_plan(l->request->start, &args, &stack))
		return diag(d, EXIT_FAILED, EINVAL,
			    "the initial stack is not as Linux lays it out");
	zones_read(l->request->start, &l->space, stack.end, &out.zones);
	if (map_images(d, l, &out.zones) || find_entry(d, l, &out.entry) ||
	    find_site(d, l, &out.zones, &out.site))
		return -1;
	out.brk = map_brk(&out.zones, &l->program);
	/* Below the target's stack pointer is what the leave site consumes. */
	if (here + ARCH_LEAVE_ROOM > stack.sp)
		pad = here + ARCH_LEAVE_ROOM - stack.sp;

	char space[pad];

	__asm__ volatile("" : : "r"(space) : "memory");
	return commit_below(d, l, &out, &args, strings_size(&args));
}
