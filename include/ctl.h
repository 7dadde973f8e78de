/*
 * ctl.h - what the commands of hwcapctl share
 *
 * A command lives in shim/ctl_NAME.c and has one line in the table of
 * shim/ctl.c. It prints its result on stdout, its one failure by ctl_fail(),
 * and returns an exit status: 0, CTL_FAILED, or EXIT_FAILED (125) for misuse.
 */
#ifndef CTL_H
#define CTL_H

#include <stdbool.h>
#include <stdio.h>

#include "diag.h"
#include "hwcap.h"
#include "hwtable.h"

enum {
	CTL_OK = 0,
	CTL_FAILED = 1,
};

/* What getopt_long() returns for options that have no short form. */
enum {
	CTL_OPTION_AGAIN = 256,
	CTL_OPTION_ARCH,
	CTL_OPTION_BASELINES,
	CTL_OPTION_CGROUP,
	CTL_OPTION_CGROUP_ROOT,
	CTL_OPTION_COPY,
	CTL_OPTION_CREDENTIALS,
	CTL_OPTION_EXACT,
	CTL_OPTION_FORCE,
	CTL_OPTION_FORMAT,
	CTL_OPTION_INSTANCE,
	CTL_OPTION_NAME,
	CTL_OPTION_NAMES,
	CTL_OPTION_NO_CGROUP,
	CTL_OPTION_NO_CREDENTIALS,
	CTL_OPTION_NO_TEST,
	CTL_OPTION_PID,
	CTL_OPTION_PRINT,
	CTL_OPTION_PROGRAM,
	CTL_OPTION_REPAIR,
	CTL_OPTION_REPLACE,
	CTL_OPTION_UNREADABLE,
	CTL_OPTION_USER,
};

struct ctl {
	const unsigned long *auxv; /* our own vector as the kernel left it */
};

struct ctl_command {
	const char *name;
	const char *summary;
	const char *arguments; /* after the name, in the usage line */
	const char *options;   /* lines of --help, without -h and -V */
	int (*run)(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
};

int ctl_list(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_show(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_binfmt(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_cgroup(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_check(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_common(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_dump(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_matrix(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);
int ctl_explain(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv);

/* "hwcapctl: TEXT" on stderr, one line. Returns STATUS. */
int ctl_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What -h, -V or a wrong option (anything else) is answered with. */
int ctl_common_option(const struct ctl_command *self, int option);

/* Misuse: TEXT, then where the usage is explained. */
int ctl_misuse(const struct ctl_command *self, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Tables of every architecture, in the order of COUNT indexes; that of the
 * one this build is for is the first. False past the last.
 */
bool ctl_table(unsigned int index, struct hwcap_table *t);

/* That of ARCH (aliases too; NULL is ours). False if there is none. */
bool ctl_table_of(const char *arch, struct hwcap_table *t);

/* The four words of a vector, and which entries it has at all. */
struct ctl_vector {
	struct hwcaps value;
	bool has[HWCAP_ENTRIES];
	bool narrow; /* of a 32-bit process: names do not apply */
};

void ctl_own_vector(const struct ctl *ctl, struct ctl_vector *v);

/* That of process PID ("self" is allowed). Returns an exit status. */
int ctl_process_vector(const char *pid, struct ctl_vector *v);

/* A name, its control bytes as \ooo: others may have chosen it. */
void ctl_print_name(FILE *f, const char *s);

/* S as a JSON string, quotes included. */
void ctl_json_string(FILE *f, const char *s);

/*
 * BITS as a SPEC of numbers, `AT_HWCAP=0x1,AT_HWCAP2=0x2`, entries without
 * bits left out; `none` if there are no bits.
 */
void ctl_print_spec(FILE *f, const struct hwcaps *bits);

/* The same as a JSON object with all four entries, values as strings. */
void ctl_json_words(FILE *f, const struct hwcaps *bits);

/*
 * The kernel's own list of the CPU's features, which no mask changes; NULL
 * where /proc/cpuinfo has none. The caller frees it.
 */
char *ctl_cpu_features(void);

/* Is WORD in such a list? */
bool ctl_has_word(const char *list, const char *word);

static inline bool ctl_has_bit(const struct hwcaps *h, unsigned int entry, unsigned int bit)
{
	return h->word[entry] >> bit & 1;
}

#endif
