#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elfgen.h"
#include "mutant.h"

#include ELFGEN_ARCH

enum { TABLE = 64, HEADERS = 24, FIELDS = 16, PAGE = 0x1000, CODE = 0x800, DATA = 0x1000 };

struct field {
	const char *name;
	unsigned char at, size;
};

#define EH(f)                                                             \
	{                                                                 \
#f, offsetof(Elf64_Ehdr, f), sizeof(((Elf64_Ehdr *)0)->f) \
	}
#define PH(f)                                                             \
	{                                                                 \
#f, offsetof(Elf64_Phdr, f), sizeof(((Elf64_Phdr *)0)->f) \
	}

static const struct field header[] = { EH(e_type),    EH(e_machine),   EH(e_version),
				       EH(e_entry),   EH(e_phoff),     EH(e_shoff),
				       EH(e_flags),   EH(e_ehsize),    EH(e_phentsize),
				       EH(e_phnum),   EH(e_shentsize), EH(e_shnum),
				       EH(e_shstrndx) };
static const struct field segment[] = { PH(p_type),  PH(p_flags),  PH(p_offset), PH(p_vaddr),
					PH(p_paddr), PH(p_filesz), PH(p_memsz),  PH(p_align) };
static const char *const run_name[RUN_SETTINGS] = { "nobody", "random", "argument", "levels",
						    "as",     "stack",  "nofile",   "data" };
static const char *const directory[DIRECTORIES] = { "plain", "noexec", "nosuid" };

enum { P_TYPE, P_FLAGS, P_OFFSET, P_VADDR, P_PADDR, P_FILESZ, P_MEMSZ, P_ALIGN };
enum { E_TYPE, E_ENTRY = 3, E_PHOFF = 4, E_PHNUM = 9 };

/* ---- a generator that is the same everywhere ------------------------------ */

struct dice {
	uint64_t state;
};

/* splitmix64 */
static uint64_t draw(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t below(struct dice *d, uint64_t n)
{
	return draw(d) % n;
}

static bool one_in(struct dice *d, uint64_t n)
{
	return !below(d, n);
}

static uint64_t pick(struct dice *d, const uint64_t *from, size_t n)
{
	return from[below(d, n)];
}
#define PICK(d, from) pick(d, from, sizeof(from) / sizeof((from)[0]))

static uint64_t any_number(struct dice *d)
{
	static const uint64_t edge[] = { 0,
					 1,
					 2,
					 PAGE,
					 0x10000,
					 0x200000,
					 0x400000,
					 0x10000000,
					 1ul << 31,
					 1ul << 32,
					 1ul << 40,
					 1ul << 46,
					 1ul << 47,
					 1ul << 48,
					 1ul << 62,
					 1ul << 63,
					 ELFGEN_TASK_SIZE,
					 0x555555554000,
					 0x7ffff7fff000,
					 0x7ffffffde000 };
	static const int64_t off[] = { 0, 0, 0, 1, -1, 8, -PAGE, PAGE, -3 * PAGE, PAGE - 1, 0x800 };
	uint64_t n;

	switch (below(d, 6)) {
	case 0: return draw(d) >> below(d, 64);
	case 1: n = (draw(d) >> below(d, 64)) & -(uint64_t)PAGE; break;
	case 2: n = 1ul << below(d, 64); break;
	case 3: return below(d, 0x4000);
	default: n = PICK(d, edge); break;
	}
	return n + (uint64_t)off[below(d, sizeof(off) / sizeof(off[0]))];
}

/* ---- settings, at random --------------------------------------------------- */

static struct setting *add(struct mutant *m, int file, enum setting_kind kind, unsigned int index,
			   uint64_t value)
{
	struct setting *s = &m->setting[m->settings];

	if (m->settings == MUTANT_SETTINGS)
		return s - 1;
	*s = (struct setting){ (unsigned char)file, (unsigned char)kind, index, value };
	m->settings++;
	return s;
}

static void add_field(struct mutant *m, int file, unsigned int ph, unsigned int field,
		      uint64_t value)
{
	add(m, file, SET_SEGMENT, ph * FIELDS + field, value);
}

static uint64_t address(struct dice *d, uint64_t base)
{
	if (one_in(d, 5))
		return any_number(d);
	return base + below(d, 16) * PAGE + (one_in(d, 5) ? below(d, PAGE) : 0);
}

/* A PT_LOAD (or another) in slot PH that is mostly as a linker makes them. */
static void whole_segment(struct mutant *m, struct dice *d, int file, unsigned int ph,
			  uint64_t base)
{
	static const uint64_t types[] = { PT_LOAD,      PT_LOAD,         PT_LOAD, PT_LOAD, PT_LOAD,
					  PT_GNU_STACK, PT_GNU_PROPERTY, PT_TLS,  PT_PHDR, PT_NOTE };
	uint64_t vaddr = address(d, base), size = below(d, 0x3000);
	uint64_t offset = below(d, 3) * PAGE;

	add_field(m, file, ph, P_TYPE, PICK(d, types));
	add_field(m, file, ph, P_FLAGS, one_in(d, 4) ? draw(d) & 15 : one_in(d, 2) ? 6 : 5);
	add_field(m, file, ph, P_VADDR, vaddr);
	add_field(m, file, ph, P_OFFSET, one_in(d, 8) ? any_number(d) : offset + vaddr % PAGE);
	add_field(m, file, ph, P_FILESZ, one_in(d, 4) ? 0 : size);
	add_field(m, file, ph, P_MEMSZ, size + (one_in(d, 2) ? 0 : below(d, 0x5000)));
	if (one_in(d, 3))
		add_field(m, file, ph, P_ALIGN, 1ul << below(d, 48));
}

static uint64_t field_value(struct dice *d, unsigned int field, uint64_t base)
{
	static const uint64_t types[] = { PT_NULL,      PT_LOAD, PT_LOAD,         PT_DYNAMIC,
					  PT_INTERP,    PT_NOTE, PT_GNU_PROPERTY, PT_PHDR,
					  PT_GNU_STACK, PT_TLS,  PT_GNU_RELRO };

	switch (field) {
	case P_TYPE: return one_in(d, 12) ? draw(d) : PICK(d, types);
	case P_FLAGS: return one_in(d, 8) ? draw(d) : draw(d) & 7;
	case P_VADDR: return address(d, base);
	case P_ALIGN: return one_in(d, 3) ? any_number(d) : 1ul << below(d, 64);
	case P_OFFSET: return one_in(d, 2) ? any_number(d) : below(d, 4) * PAGE;
	default: return one_in(d, 2) ? any_number(d) : below(d, 0x4000);
	}
}

static uint64_t header_value(struct dice *d, unsigned int field, uint64_t base)
{
	switch (field) {
	case E_TYPE: return one_in(d, 3) ? draw(d) & 0xffff : 2 + below(d, 2);
	case E_ENTRY: return one_in(d, 3) ? any_number(d) : base + CODE + below(d, 4) * PAGE;
	case E_PHOFF: return one_in(d, 3) ? any_number(d) : TABLE + below(d, 3) * 56;
	case E_PHNUM: return one_in(d, 4) ? any_number(d) : below(d, HEADERS);
	default: return any_number(d);
	}
}

/* The whole image at another address, as a linker with -Ttext-segment does. */
static void rebase(struct mutant *m, struct dice *d, int file)
{
	uint64_t to = one_in(d, 2) ? any_number(d) & -(uint64_t)PAGE :
				     (draw(d) >> (17 + below(d, 32))) & -(uint64_t)PAGE;

	add_field(m, file, 1, P_VADDR, to);
	add_field(m, file, 2, P_VADDR, to + DATA);
	add(m, file, SET_HEADER, E_ENTRY, to + CODE);
}

static void change_elf(struct mutant *m, struct dice *d, int file, uint64_t base)
{
	unsigned int field;

	switch (below(d, 13)) {
	case 0:
	case 1:
		field = (unsigned int)below(d, sizeof(header) / sizeof(header[0]));
		add(m, file, SET_HEADER, field, header_value(d, field, base));
		break;
	case 2: add(m, file, SET_BYTE, (uint32_t)below(d, 64 + 6 * 56), draw(d) & 0xff); break;
	case 3:
		add(m, file, SET_SIZE, 0,
		    one_in(d, 3) ? any_number(d) & 0xfffff : below(d, 0x1400));
		break;
	case 4: rebase(m, d, file); break;
	case 5: whole_segment(m, d, file, (unsigned int)below(d, 4), base); break;
	case 6:
	case 7:
		field = 4 + (unsigned int)below(d, 3);
		add(m, file, SET_HEADER, E_PHNUM, field + 1);
		whole_segment(m, d, file, field, base);
		break;
	default:
		field = (unsigned int)below(d, sizeof(segment) / sizeof(segment[0]));
		add_field(m, file, (unsigned int)below(d, 5), field, field_value(d, field, base));
		break;
	}
}

static void change_surroundings(struct mutant *m, struct dice *d)
{
	static const uint64_t mode[] = { 0,    0644, 0100,  0111,  0555,  0711,  0700,
					 0744, 0710, 01755, 04755, 02755, 02745, 06711 };
	static const uint64_t as[] = { PAGE,     1 << 16,  1 << 18,   1 << 20,  4 << 20,
				       16 << 20, 64 << 20, 1ul << 32, 1ul << 45 };
	static const uint64_t stack[] = { 1,       PAGE,    4 * PAGE, 1 << 16,   1 << 17,
					  1 << 18, 1 << 20, 64 << 20, 1ul << 33, UINT64_MAX };
	static const uint64_t argument[] = { 1, 15, 4095, 4096, 100000, 131071, 131072 };
	int file = (int)below(d, 2);

	switch (below(d, 8)) {
	case 0: add(m, file, SET_MODE, 0, PICK(d, mode)); break;
	case 1: add(m, file, SET_MODE, 0, draw(d) & 07777); break;
	case 2: add(m, file, SET_DIRECTORY, 0, below(d, DIRECTORIES)); break;
	case 3: add(m, 0, SET_RUN, RUN_ARGUMENT, PICK(d, argument)); break;
	case 4: add(m, 0, SET_RUN, RUN_AS, PICK(d, as)); break;
	case 5: add(m, 0, SET_RUN, RUN_STACK, PICK(d, stack)); break;
	case 6: add(m, 0, SET_RUN, RUN_NOFILE, 1 + below(d, 12)); break;
	default: add(m, 0, SET_RUN, RUN_DATA, PICK(d, as)); break;
	}
}

/* ---- scripts ---------------------------------------------------------------- */

static void put(struct mutant *m, const char *s, size_t n)
{
	if (n > MUTANT_TEXT - m->text_size)
		n = MUTANT_TEXT - m->text_size;
	memcpy(m->text + m->text_size, s, n);
	m->text_size += n;
}

static void put_run(struct mutant *m, char c, size_t n)
{
	while (n--)
		put(m, &c, 1);
}

static void put_piece(struct mutant *m, struct dice *d)
{
	static const char *const piece[] = { " ",
					     "\t",
					     "  ",
					     "\n",
					     "\r\n",
					     "@",
					     "a",
					     "-x",
					     "one",
					     "#!",
					     "#",
					     "/",
					     "./",
					     "plain/p",
					     "\x7f"
					     "ELF",
					     "\xff" };
	const char *p;

	switch (below(d, 12)) {
	case 0: put_run(m, '\0', 1); break;
	case 1: put_run(m, "/ a\t"[below(d, 4)], below(d, 300)); break;
	case 2:
		/* Up to about where the line is cut. */
		if (m->text_size < 250)
			put_run(m, "/ a\t"[below(d, 4)], 250 + below(d, 10) - m->text_size);
		break;
	default:
		p = piece[below(d, sizeof(piece) / sizeof(piece[0]))];
		put(m, p, strlen(p));
		break;
	}
}

static void make_script(struct mutant *m, struct dice *d)
{
	m->base = -1;
	if (!one_in(d, 20))
		put(m, "#!", 2);
	if (!one_in(d, 3)) {
		put_run(m, ' ', below(d, 3));
		if (one_in(d, 6))
			put_run(m, '/', 240 - below(d, 12));
		put(m, "@", 1);
	}
	for (uint64_t n = below(d, 4); n; n--)
		put_piece(m, d);
	if (!one_in(d, 4))
		put(m, "\n", 1);
	if (one_in(d, 3))
		add(m, 0, SET_RUN, RUN_LEVELS, below(d, 7));
}

/* ---- mutants ---------------------------------------------------------------- */

static int find_base(const char *name)
{
	for (size_t i = 0; i < elfgen_count(); i++)
		if (!strcmp(elfgen_name(i), name))
			return (int)i;
	return -1;
}

static void choose_base(struct mutant *m, struct dice *d)
{
	static const char *const template[] = { "static", "static-pie", "pie", "nopie",
						"interp-exec" };

	m->base = find_base(template[below(d, sizeof(template) / sizeof(template[0]))]);
	while (one_in(d, 4)) {
		m->base = (int)below(d, elfgen_count());
		if (elfgen_kind_of((size_t)m->base) == ELFGEN_ELF)
			break;
	}
	if (elfgen_kind_of((size_t)m->base) != ELFGEN_ELF)
		m->base = find_base("static");
}

/* Where the templates put file FILE. */
static uint64_t base_address(const struct mutant *m, int file)
{
	const char *name = m->base < 0 ? "" : elfgen_name((size_t)m->base);

	if (file)
		return strncmp(name, "interp-exec", 11) ? 0 : 0x10000000;
	return strstr(name, "pie") && strcmp(name, "nopie") ? 0 : 0x400000;
}

void mutant_make(struct mutant *m, uint64_t seed, uint64_t number)
{
	struct dice d = { seed * 0x2545f4914f6cdd1d + number };
	uint64_t changes;

	*m = (struct mutant){ 0 };
	draw(&d);
	if (one_in(&d, 10))
		make_script(m, &d);
	else
		choose_base(m, &d);
	add(m, 0, SET_RUN, RUN_NOBODY, below(&d, 2));
	add(m, 0, SET_RUN, RUN_RANDOM, one_in(&d, 4));
	changes = m->base < 0 ? one_in(&d, 4) : 1 + below(&d, 2) * below(&d, 4);
	while (changes--) {
		int file = m->base < 0 || (elfgen_has_interp((size_t)m->base) && one_in(&d, 2));

		change_elf(m, &d, file, base_address(m, file));
	}
	while (one_in(&d, 4))
		change_surroundings(m, &d);
}

uint64_t mutant_run(const struct mutant *m, enum run_setting what)
{
	uint64_t value = 0;

	for (size_t i = 0; i < m->settings; i++)
		if (m->setting[i].kind == SET_RUN && m->setting[i].index == (uint32_t)what)
			value = m->setting[i].value;
	return value;
}

static uint64_t of_file(const struct mutant *m, int file, enum setting_kind kind, uint64_t other)
{
	for (size_t i = 0; i < m->settings; i++)
		if (m->setting[i].kind == kind && m->setting[i].file == file)
			other = m->setting[i].value;
	return other;
}

unsigned int mutant_mode(const struct mutant *m, int file)
{
	return (unsigned int)of_file(m, file, SET_MODE, 0755);
}

const char *mutant_path(const struct mutant *m, int file)
{
	static const char *const path[2][DIRECTORIES] = {
		{ "/plain/p", "/noexec/p", "/nosuid/p" }, { "/plain/i", "/noexec/i", "/nosuid/i" }
	};

	return path[file][of_file(m, file, SET_DIRECTORY, DIR_PLAIN) % DIRECTORIES];
}

/* ---- as text, and back ------------------------------------------------------ */

static int print_setting(const struct setting *s, char *to, size_t size)
{
	unsigned long v = s->value;

	switch (s->kind) {
	case SET_HEADER:
		return snprintf(to, size, " %d.%s=%#lx", s->file, header[s->index].name, v);
	case SET_SEGMENT:
		return snprintf(to, size, " %d.ph%u.%s=%#lx", s->file, s->index / FIELDS,
				segment[s->index % FIELDS].name, v);
	case SET_BYTE: return snprintf(to, size, " %d.byte%u=%#lx", s->file, s->index, v);
	case SET_SIZE: return snprintf(to, size, " %d.size=%#lx", s->file, v);
	case SET_MODE: return snprintf(to, size, " %d.mode=%#lo", s->file, v);
	case SET_DIRECTORY: return snprintf(to, size, " %d.directory=%s", s->file, directory[v]);
	default: return snprintf(to, size, " %s=%#lx", run_name[s->index], v);
	}
}

void mutant_print(const struct mutant *m, char *line)
{
	size_t n = (size_t)snprintf(line, MUTANT_LINE, "base=%s",
				    m->base < 0 ? "text" : elfgen_name((size_t)m->base));

	if (m->base < 0)
		n += (size_t)snprintf(line + n, MUTANT_LINE - n, " text=");
	for (size_t i = 0; i < m->text_size; i++)
		n += (size_t)snprintf(line + n, MUTANT_LINE - n, "%02x", (unsigned char)m->text[i]);
	for (size_t i = 0; i < m->settings; i++)
		n += (size_t)print_setting(&m->setting[i], line + n, MUTANT_LINE - n);
}

static int find_field(const struct field *f, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, name))
			return (int)i;
	return -1;
}

static int parse_text(struct mutant *m, const char *hex)
{
	unsigned int byte;

	m->text_size = 0;
	for (; *hex; hex += 2) {
		if (sscanf(hex, "%2x", &byte) != 1 || m->text_size == MUTANT_TEXT)
			return -1;
		m->text[m->text_size++] = (char)byte;
	}
	return 0;
}

/* NAME without the number of the file. */
static int parse_of_file(struct mutant *m, int file, const char *name, const char *value)
{
	unsigned long v = strtoul(value, NULL, 0);
	char field[32];
	unsigned int i;
	int f = find_field(header, sizeof(header) / sizeof(header[0]), name);

	if (f >= 0) {
		add(m, file, SET_HEADER, (unsigned int)f, v);
	} else if (sscanf(name, "ph%u.%31s", &i, field) == 2) {
		f = find_field(segment, sizeof(segment) / sizeof(segment[0]), field);
		if (f < 0 || i >= HEADERS)
			return -1;
		add_field(m, file, i, (unsigned int)f, v);
	} else if (sscanf(name, "byte%u", &i) == 1 && i < ELFGEN_MAX) {
		add(m, file, SET_BYTE, i, v);
	} else if (!strcmp(name, "size") && v < ELFGEN_MAX) {
		add(m, file, SET_SIZE, 0, v);
	} else if (!strcmp(name, "mode")) {
		add(m, file, SET_MODE, 0, v);
	} else if (!strcmp(name, "directory")) {
		for (v = 0; v < DIRECTORIES - 1 && strcmp(directory[v], value);)
			v++;
		add(m, file, SET_DIRECTORY, 0, v);
	} else {
		return -1;
	}
	return 0;
}

static int parse_word(struct mutant *m, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return -1;
	*value++ = 0;
	if (!strcmp(word, "base")) {
		m->base = find_base(value);
		return m->base < 0 && strcmp(value, "text") ? -1 : 0;
	}
	if (!strcmp(word, "text"))
		return parse_text(m, value);
	if ((*word == '0' || *word == '1') && word[1] == '.')
		return parse_of_file(m, *word - '0', word + 2, value);
	for (unsigned int i = 0; i < RUN_SETTINGS; i++)
		if (!strcmp(word, run_name[i])) {
			add(m, 0, SET_RUN, i, strtoul(value, NULL, 0));
			return 0;
		}
	return -1;
}

int mutant_parse(struct mutant *m, const char *line)
{
	char copy[MUTANT_LINE], *rest = copy, *word;

	*m = (struct mutant){ .base = -1 };
	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " \n")))
		if (*word && parse_word(m, word))
			return -1;
	return 0;
}

/* ---- as files ---------------------------------------------------------------- */

static void write_field(unsigned char *b, size_t at, size_t size, uint64_t value)
{
	memcpy(b + at, &value, size);
}

/* Apply what concerns FILE to its bytes; returns the new size. */
static size_t apply(const struct mutant *m, int file, unsigned char *b, size_t size)
{
	for (size_t i = 0; i < m->settings; i++) {
		const struct setting *s = &m->setting[i];
		const struct field *f;
		size_t ph = s->index / FIELDS;

		if (s->file != file)
			continue;
		if (s->kind == SET_HEADER) {
			f = &header[s->index];
			write_field(b, f->at, f->size, s->value);
		} else if (s->kind == SET_SEGMENT) {
			f = &segment[s->index % FIELDS];
			write_field(b, TABLE + ph * sizeof(Elf64_Phdr) + f->at, f->size, s->value);
		} else if (s->kind == SET_BYTE) {
			b[s->index] = (unsigned char)s->value;
		} else if (s->kind == SET_SIZE) {
			if (s->value > size)
				memset(b + size, 0, s->value - size);
			size = s->value;
		}
	}
	return size;
}

static int write_file(const char *root, const char *path, const void *bytes, size_t size,
		      unsigned int mode)
{
	char name[512];
	int fd;

	snprintf(name, sizeof(name), "%s%s", root, path);
	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (write(fd, bytes, size) != (ssize_t)size || fchmod(fd, mode)) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static size_t expand(const struct mutant *m, const char *interp, unsigned char *b)
{
	size_t n = 0;

	for (size_t i = 0; i < m->text_size; i++)
		if (m->text[i] == '@')
			n += (size_t)sprintf((char *)b + n, "%s", interp);
		else
			b[n++] = (unsigned char)m->text[i];
	return n;
}

/* A script, those that it goes through, and a static program at their end. */
static int write_scripts(const struct mutant *m, const char *root, unsigned char *b)
{
	const char *interp = mutant_path(m, 1);
	size_t size = elfgen_program((size_t)find_base("static"), NULL, b);
	char name[32], line[128];

	size = apply(m, 1, b, size);
	if (write_file(root, interp, b, size, mutant_mode(m, 1)))
		return -1;
	snprintf(name, sizeof(name), "%s", interp);
	for (unsigned int i = 1; i <= mutant_run(m, RUN_LEVELS) && i < 16; i++) {
		snprintf(line, sizeof(line), "#!%s a%u\n", name, i);
		snprintf(name, sizeof(name), "/plain/%u", i);
		if (write_file(root, name, line, strlen(line), 0755))
			return -1;
	}
	size = expand(m, name, b);
	return write_file(root, mutant_path(m, 0), b, size, mutant_mode(m, 0));
}

int mutant_write(const struct mutant *m, const char *root)
{
	static unsigned char b[ELFGEN_MAX];
	size_t size;

	if (m->base < 0)
		return write_scripts(m, root, b);
	if (elfgen_has_interp((size_t)m->base)) {
		size = elfgen_interp((size_t)m->base, b);
		size = apply(m, 1, b, size);
		if (write_file(root, mutant_path(m, 1), b, size, mutant_mode(m, 1)))
			return -1;
	}
	size = elfgen_program((size_t)m->base, mutant_path(m, 1), b);
	size = apply(m, 0, b, size);
	return write_file(root, mutant_path(m, 0), b, size, mutant_mode(m, 0));
}
