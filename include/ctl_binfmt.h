/*
 * ctl_binfmt.h - rules of binfmt_misc, and the copies of hwcap-exec they name
 *
 * A rule's interpreter is a copy of hwcap-exec with its stamp filled in, so
 * that the mask needs no file at run time. The kernel keeps the copy open
 * (flag F). Functions return an exit status and have said what went wrong,
 * unless noted otherwise.
 */
#ifndef CTL_BINFMT_H
#define CTL_BINFMT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "stamp.h"

#define BINFMT_INSTANCE "/proc/sys/fs/binfmt_misc"

enum { BINFMT_HEAD = 20 }; /* up to e_machine, which is what a rule looks at */

/* ---- copies (ctl_binfmt_copy.c) -------------------------------------------- */

struct binfmt_image {
	unsigned char *bytes; /* the whole file */
	size_t size;
	struct stamp *stamp; /* its stamp, as it was read; freed with BYTES */
	size_t stamp_at;
};

/* Read PATH, which has to be hwcap-exec or a copy of it. */
int binfmt_image_read(const char *path, struct binfmt_image *image);
void binfmt_image_free(struct binfmt_image *image);

/* Do both come from the same hwcap-exec, whatever they are stamped with? */
bool binfmt_image_same(const struct binfmt_image *a, const struct binfmt_image *b);

/* Write IMAGE, with its stamp, to the new executable file PATH; or to PATH whole. */
int binfmt_image_create(const struct binfmt_image *image, const char *path);
int binfmt_image_write(const struct binfmt_image *image, const char *path);

/* ---- rules (ctl_binfmt_rule.c) --------------------------------------------- */

struct binfmt_rule {
	const char *name, *interpreter;
	bool credentials;
	const unsigned char *head; /* first bytes of a native ELF file */
};

enum { BINFMT_LINE_MAX = 1920 }; /* the kernel's: MAX_REGISTER_LENGTH */

/* As written to `register` and in binfmt.d, without newline. 0 or -1 (too long). */
int binfmt_rule_line(const struct binfmt_rule *rule, char *line, size_t size);

/* As a file for update-binfmts. */
void binfmt_rule_update_binfmts(const struct binfmt_rule *rule);

/* Whose an instance is. Nothing registered in a foreign one can be undone. */
enum binfmt_owner { BINFMT_INITIAL, BINFMT_OWN, BINFMT_FOREIGN, BINFMT_UNKNOWN };

struct binfmt_instance {
	const char *path;
	int dir; /* O_PATH */
	bool enabled;
};

int binfmt_instance_open(const char *path, struct binfmt_instance *instance);
void binfmt_instance_close(struct binfmt_instance *instance);
enum binfmt_owner binfmt_instance_owner(const struct binfmt_instance *instance);

/* What the kernel shows of a registered rule. */
struct binfmt_entry {
	bool enabled;
	char interpreter[PATH_MAX];
	char flags[8];
};

/* 1, 0 if there is none of that NAME, -1 if it cannot be read. */
int binfmt_entry_read(const struct binfmt_instance *instance, const char *name,
		      struct binfmt_entry *entry);

/* These two return 0 or an errno and say nothing. */
int binfmt_add(const struct binfmt_instance *instance, const struct binfmt_rule *rule);
int binfmt_remove(const struct binfmt_instance *instance, const char *name);

/* Add and remove a rule that matches nothing. */
int binfmt_try_undo(const struct binfmt_instance *instance);

/*
 * Warn of rules whose interpreters are native programs: with flag O or C in
 * theirs, a second interpreter is ENOEXEC (fs/exec.c:exec_binprm()).
 */
void binfmt_warn_of_others(const struct binfmt_instance *instance, const unsigned char *head);

/* ---- trying them out (ctl_binfmt_test.c) ------------------------------------ */

/*
 * Execute an unmarked program and look at its vector: nothing of HIDE may be
 * in it. Says nothing. 0, or -1.
 */
int binfmt_check_exec(const struct hwcaps *hide);

/* The other end of it: `hwcapctl binfmt vector AT_HWCAP=...`. */
int binfmt_check_vector(const struct hwcaps *vector, int argc, char **argv);

/* RULE in an instance of its own, in a new user and mount namespace. */
int binfmt_self_test(const struct binfmt_instance *instance, const struct binfmt_rule *rule,
		     const struct hwcaps *hide);

#endif
