/*
 * probe.h - the parts of the contract probe
 *
 * The probe runs with or without a C library and uses none: raw system calls
 * and its own output buffer. A report is lines of "ROW KEY VALUE": the row of
 * the process contract, what is reported, and the value in a form in which
 * two native runs agree although the kernel placed things elsewhere.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include PROBE_ARCH

#define SC0(n)             sc6((n), 0, 0, 0, 0, 0, 0)
#define SC(n, a, b, c)     sc6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SC4(n, a, b, c, d) sc6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

enum { MAX_MAPS = 256 };

struct region {
	unsigned long start, end, offset;
	char perms[8];
	char file[32]; /* device and inode, as in maps */
	char name[256];
	char flags[128];
};

struct probe {
	const unsigned long *sp;
	unsigned long argc, envc;
	char **argv, **envp;
	const unsigned long *aux;
	unsigned long aux_words; /* with the AT_NULL pair */
	unsigned long page;
	unsigned long personality;
	int fixed;      /* ADDR_NO_RANDOMIZE: report addresses, too */
	int bare;       /* no C library ran before */
	long pid, ppid; /* as the runner announced them, or 0 */
	unsigned long maps;
	struct region map[MAX_MAPS];
};

/* Hidden: found without a global offset table, which nobody relocates here. */
#pragma GCC visibility push(hidden)

/* text.c: the report */
void out_char(char c);
void out_text(const char *s);
void out_hex(unsigned long v);
void out_dec(long v);
void out_bytes(const char *s, size_t n);
void key(int row, const char *name);
void key_n(int row, const char *name, unsigned long n);
void end(void);
void line_hex(int row, const char *name, unsigned long v);
void line_dec(int row, const char *name, long v);
void line_text(int row, const char *name, const char *v);
int out_flush(int fd);
size_t length(const char *s);
int same(const char *a, const char *b);
int starts(const char *s, const char *prefix);
unsigned long number(const char **s, unsigned base);
long slurp(const char *path, char *buffer, size_t size);

/* maps.c: names for addresses */
void maps_read(struct probe *p);
const struct region *region_of(const struct probe *p, unsigned long a);
const char *probe_zone_of(unsigned long a);
void out_address(const struct probe *p, unsigned long a);
void report_maps(struct probe *p);

/* process.c: what the kernel keeps */
void report_process(struct probe *p);
void report_memory_use(struct probe *p);

/* probe.c */
extern struct probe_entry probe_entry;
int probe_main(const unsigned long *sp);
const char *probe_getenv(const struct probe *p, const char *name);
unsigned long probe_aux(const struct probe *p, unsigned long type);

#pragma GCC visibility pop

#endif
