#include <errno.h>
#include <limits.h>
#include <string.h>

#include "arch.h"
#include "commit.h"
#include "load.h"
#include "property.h"
#include "sys.h"

/* Program headers that are at hand after the first read, else NULL. */
static const Elf64_Phdr *table_in_head(const struct program_file *f, const struct elf_file *elf,
				       size_t size)
{
	uint64_t at = elf->header.e_phoff;

	if (at % _Alignof(Elf64_Phdr) || at > f->head_size || f->head_size - at < size)
		return NULL;
	return (const Elf64_Phdr *)(const void *)(f->head + at);
}

__attribute__((cold)) static int wrong_elf(struct diag *d, const struct image *image,
					   const char *program, int error, const char *why)
{
	const struct elf_file *elf = &image->elf;
	const char *machine = elf_machine_name(elf->header.e_machine);
	const char *separator = image->path == program ? "" : ": interpreter ";
	const char *path = image->path == program ? "" : image->path;

	if (!elf_has_magic(elf->header.e_ident) || elf->header.e_machine == ARCH_MACHINE)
		return diag(d, EXIT_CANNOT_RUN, error, "%.256s%s%.256s: %s", program, separator,
			    path, why);
	if (machine)
		return diag(d, EXIT_CANNOT_RUN, error, "%.256s%s%.256s: is for %s, this is %s",
			    program, separator, path, machine, ARCH_NAME);
	return diag(d, EXIT_CANNOT_RUN, error, "%.256s%s%.256s: is for machine %d, this is %s",
		    program, separator, path, elf->header.e_machine, ARCH_NAME);
}

static int read_table(struct image *image, Elf64_Phdr *table, size_t size)
{
	long r = sys_pread(image->fd, table, size, image->elf.header.e_phoff);

	image->elf.phdr = table;
	return r == (long)size ? 0 : r < 0 ? (int)-r : EIO;
}

/* Of the file that the kernel itself starts: the interp, if there is one. */
static int read_property(struct diag *d, struct load *l, struct image *first)
{
	_Alignas(8) unsigned char note[PROPERTY_MAX + 1];
	const Elf64_Phdr *ph;
	const char *why = NULL;
	char number[16];
	size_t size;
	long r;
	int error;

	if (!ARCH_PROPERTY || !first->plan.property)
		return 0;
	ph = first->plan.property;
	size = ph->p_filesz < sizeof(note) ? ph->p_filesz : sizeof(note);
	r = sys_pread(first->fd, note, size, ph->p_offset);
	error = r < 0 ? (int)-r : property_read(note, (size_t)r, &first->exec_prot, &why);
	if (!error)
		return 0;
	return diag(d, EXIT_CANNOT_RUN, error, "%s: %s: %s", l->program.path, first->path,
		    why ? why : errno_text(error, number));
}

static int finish(struct diag *d, struct load *l)
{
	const struct load_request *r = l->request;

	l->program.exec_prot = 0;
	if (l->has_interp)
		l->interp->exec_prot = 0;
	if (read_property(d, l, l->has_interp ? l->interp : &l->program))
		return -1;
	return r->report ? r->report(d, l, r->report_to) : commit(d, l);
}

/* Its frame holds a file's head, which a static program does without. */
__attribute__((noinline)) static int load_interp(struct diag *d, struct load *l, const char *path)
{
	_Alignas(8) unsigned char head[PROGRAM_HEAD];
	const char *program = l->program.path, *why = NULL;
	struct image image, *interp = &image;
	struct program_file file = { .head = head, .head_room = sizeof(head) };
	size_t size;
	char number[16];
	int error = program_file_open(&file, path);

	interp->path = path;
	/* open_exec("") ends up at a directory; openat(2) has a check. */
	if (error == ENOENT && !*path)
		error = EACCES;
	if (error)
		return diag(d, EXIT_CANNOT_RUN, error, "%.256s: interpreter %.256s: %s", program,
			    interp->path, errno_text(error, number));
	interp->fd = file.fd;
	l->interp = interp;
	error = elf_check_header(file.head, file.head_size, file.size, ELF_INTERP, &interp->elf,
				 &size, &why);
	if (error)
		return wrong_elf(d, interp, program, error, why);
	interp->elf.phdr = table_in_head(&file, &interp->elf, size);

	Elf64_Phdr table[interp->elf.phdr ? 1 : size / sizeof(Elf64_Phdr)];

	if (!interp->elf.phdr)
		error = read_table(interp, table, size);
	if (!error && l->late)
		return wrong_elf(d, &l->program, program, ENOEXEC, l->late);
	if (!error)
		error = elf_plan(&interp->elf, ELF_INTERP, l->request->start->page_size,
				 l->space.task, &interp->plan, &why);
	if (error)
		return wrong_elf(d, interp, program, error, why ? why : errno_text(error, number));
	return finish(d, l);
}

/* SIZE bytes of the program at AT: at hand after the first read, or read. */
static int read_program(const struct load *l, void *to, size_t size, uint64_t at)
{
	const struct program_file *file = &l->request->program->file;
	long r;

	if (at <= file->head_size && size <= file->head_size - at) {
		memcpy(to, file->head + at, size);
		return 0;
	}
	r = sys_pread(file->fd, to, size, at);
	return r == (long)size ? 0 : r < 0 ? (int)-r : EIO;
}

/* Read the string of PT_INTERP, then load what it names. */
static int load_with_interp(struct diag *d, struct load *l)
{
	const struct elf_plan *p = &l->program.plan;
	char path[p->interp_size];
	const char *why;
	char number[16];
	int error = read_program(l, path, p->interp_size, p->interp_at);

	if (error)
		return diag(d, EXIT_CANNOT_RUN, error,
			    "%.256s: unable to read its interpreter's path: %s", l->program.path,
			    errno_text(error, number));
	error = elf_check_interp(path, p->interp_size, &why);
	if (error)
		return diag(d, EXIT_CANNOT_RUN, error, "%.256s: %s", l->program.path, why);
	return load_interp(d, l, path);
}

int load_run(struct diag *d, const struct load_request *request)
{
	struct program_file *file = &request->program->file;
	struct load l;
	const char *why = NULL;
	char number[16];
	size_t size;
	int error;

	l.request = request;
	l.space = arch_space((uint64_t)request->start->auxv);
	l.program.path = request->program->path;
	l.program.fd = file->fd;
	l.interp = NULL;
	error = elf_check_header(file->head, file->head_size, file->size, ELF_PROGRAM,
				 &l.program.elf, &size, &why);
	if (error)
		return wrong_elf(d, &l.program, l.program.path, error, why);
	if (!request->report && !arch_is_abi(l.program.elf.header.e_flags))
		return LOAD_OTHER_ABI;
	l.program.elf.phdr = table_in_head(file, &l.program.elf, size);

	Elf64_Phdr table[l.program.elf.phdr ? 1 : size / sizeof(Elf64_Phdr)];

	if (!l.program.elf.phdr)
		error = read_table(&l.program, table, size);
	if (!error)
		error = elf_plan(&l.program.elf, ELF_PROGRAM, request->start->page_size,
				 l.space.task, &l.program.plan, &why);
	/* execve looks at the interp first: its errors, then the killing. */
	l.late = error && why && l.program.plan.has_interp ? why : NULL;
	if (error && !l.late)
		return wrong_elf(d, &l.program, l.program.path, error,
				 why ? why : errno_text(error, number));
	l.has_interp = l.program.plan.has_interp;
	return l.has_interp ? load_with_interp(d, &l) : finish(d, &l);
}
