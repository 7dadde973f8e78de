/*
 * mutant.h - a program and its surroundings, as a list of settings
 *
 * A mutant starts from a crafted file (elfgen.h) or from the text of a script
 * and is changed by settings, in order. It is made from a number, or read
 * back from the line that mutant_print() wrote. Pure but for mutant_write().
 */
#ifndef MUTANT_H
#define MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MUTANT_SETTINGS = 24, MUTANT_TEXT = 1024, MUTANT_LINE = 4096 };

/* Of a file: its bytes, size, mode and directory. Of the run: the rest. */
enum setting_kind {
	SET_HEADER,  /* INDEX: field of the ELF header */
	SET_SEGMENT, /* INDEX: program header * 16 + field */
	SET_BYTE,    /* INDEX: offset */
	SET_SIZE,
	SET_MODE,
	SET_DIRECTORY,
	SET_RUN, /* INDEX: enum run_setting */
};

enum run_setting {
	RUN_NOBODY,   /* not as root */
	RUN_RANDOM,   /* with address space randomisation */
	RUN_ARGUMENT, /* length of argv[1] */
	RUN_LEVELS,   /* of scripts between a script and the program it names */
	RUN_AS,       /* limits; 0 where not set */
	RUN_STACK,
	RUN_NOFILE,
	RUN_DATA,
	RUN_SETTINGS,
};

enum mutant_directory { DIR_PLAIN, DIR_NOEXEC, DIR_NOSUID, DIRECTORIES };

struct setting {
	unsigned char file; /* 0: the program, 1: its interpreter */
	unsigned char kind;
	uint32_t index;
	uint64_t value;
};

struct mutant {
	int base;               /* index for elfgen.h; -1: a script */
	char text[MUTANT_TEXT]; /* of a script; @ becomes its interpreter */
	size_t text_size;
	struct setting setting[MUTANT_SETTINGS];
	size_t settings;
};

void mutant_make(struct mutant *m, uint64_t seed, uint64_t number);

/* One line without newline, in LINE of MUTANT_LINE bytes; and back: 0 or -1. */
void mutant_print(const struct mutant *m, char *line);
int mutant_parse(struct mutant *m, const char *line);

uint64_t mutant_run(const struct mutant *m, enum run_setting what);
unsigned int mutant_mode(const struct mutant *m, int file);

/* Name of file FILE, from the root of the world that it lives in. */
const char *mutant_path(const struct mutant *m, int file);

/* Write the files below ROOT. 0, or -1 with errno. */
int mutant_write(const struct mutant *m, const char *root);

#endif
