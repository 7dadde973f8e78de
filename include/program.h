/*
 * program.h - the file to run, opened and checked as execve does
 *
 * Opens a program, follows `#!` lines to the ELF file that will be mapped and
 * keeps what those lines put before the arguments. The file checked is the
 * file mapped: every check is on the descriptor. Nothing is changed; the
 * process can still report and exit.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "script.h"
#include "start.h"

enum {
	/* First bytes of a file, in one read, where there is room: header, and
	 * the program headers of nearly every file. */
	PROGRAM_HEAD = 1024,
	/* Each `#!` level takes one argument away and puts up to three there. */
	PROGRAM_PREFIX = 1 + 2 * SCRIPT_LEVELS + 1,
};

/* One open executable. */
struct program_file {
	int fd; /* O_CLOEXEC; whoever closes it sets -1 */
	uint64_t size;
	unsigned int mode, uid, gid;
	unsigned char *head; /* of the owner, 8-byte aligned: room for its first bytes */
	size_t head_room, head_size;
};

struct program {
	const char *path;   /* as execve gets it: AT_EXECFN */
	const char *loaded; /* path of the ELF file: PATH or an interpreter */
	const char *name;   /* of the process; NULL: PATH's last component */
	unsigned int prefixes;
	const char *prefix[PROGRAM_PREFIX]; /* what stands for argv[0] */
	struct program_file file;
	/* The `#!` lines so far, then the head of the file. */
	_Alignas(8) unsigned char heads[(SCRIPT_LEVELS + 1) * SCRIPT_LINE];
};

enum {
	PROGRAM_SHELL = 1, /* text without `#!` runs by /bin/sh, as in execvp */
	PROGRAM_QUIET = 2, /* there may be no such file: D gets no text then */
};

/*
 * Open PATH (relative to the working directory) with ARGV0 as argv[0]. The
 * strings must outlive *P. Returns 0; or -1 with D filled, D->error the errno
 * execve would have given, and nothing left open.
 */
int program_open(struct diag *d, struct program *p, const char *path, const char *argv0,
		 unsigned int flags);

/*
 * Take FD, a program that the kernel has opened and checked for execution,
 * in place of opening PATH. Only its first bytes are read: no `#!` line is
 * followed. FD is closed on failure. Returns as program_open().
 */
int program_take(struct diag *d, struct program *p, int fd, const char *path, const char *argv0);

/*
 * Find NAME along SEARCH, the value of PATH, as execvp(3) does and open it.
 * BUFFER (program_find_size() bytes) holds the path found. Errors as
 * program_open's.
 */
#define PROGRAM_DEFAULT_PATH "/bin:/usr/bin"
size_t program_find_size(const char *name, const char *search);
int program_find(struct diag *d, struct program *p, const char *name, const char *argv0,
		 const char *search, unsigned int flags, char *buffer);

/*
 * Open one executable file for mapping: regular, x bit, not noexec. Returns 0
 * or a positive errno.
 */
int program_file_open(struct program_file *f, const char *path);

/*
 * Would executing F natively change credentials? Set-id bits or a
 * security.capability attribute that count here. 1 yes, 0 no.
 */
int program_changes_credentials(const struct start *s, const struct program_file *f);

/* Does this process have CAP_DAC_OVERRIDE? */
bool program_may_override(void);

/* Is the open file FD open for writing somewhere (ETXTBSY)? Best effort. */
bool program_is_busy(int fd);

#endif
