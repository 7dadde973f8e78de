/*
 * ctl_dump.h - a machine's capabilities as a small text file
 *
 * Line one is `hwcap-exec dump 1`, the last is `end`. Between them, in this
 * order: `arch ARCH`; a line `ENTRY 0xVALUE` for each entry of the vector and
 * `features NAMES` after it, for human readers; `other NAME VALUE` for what
 * tells of the CPU but no mask can change. Readers take any NAME, so that a new
 * one needs no new version.
 */
#ifndef CTL_DUMP_H
#define CTL_DUMP_H

#include "ctl.h"

enum { DUMP_OTHERS = 32 };

struct dump {
	char arch[16];
	struct ctl_vector vector;
	unsigned int others;
	struct {
		char name[32], value[64];
	} other[DUMP_OTHERS];
};

/* This machine's. */
void dump_own(const struct ctl *ctl, struct dump *d);

/* Read FILE. Returns an exit status and has said what is wrong. */
int dump_read(const char *file, struct dump *d);

void dump_print(const struct dump *d);

/* The value of NAME, NULL if there is none. */
const char *dump_other(const struct dump *d, const char *name);

/* Print names, and numbers of what has none, of entry I's BITS. */
void dump_print_names(const struct hwcap_table *t, int i, uint64_t bits);

#endif
