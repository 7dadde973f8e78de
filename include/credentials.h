/*
 * credentials.h - what decides whether execve changes credentials
 *
 * The question itself is program_changes_credentials() of program.h; this is
 * the part of it that is a pure function.
 */
#ifndef CREDENTIALS_H
#define CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

/* Does LINE of /proc/PID/uid_map or gid_map map ID of the namespace inside? */
bool idmap_line_has(const char *line, size_t length, unsigned int id);

#endif
