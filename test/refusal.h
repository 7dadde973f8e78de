/*
 * refusal.h - what hwcap-exec must say where execve refuses or kills
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <stdbool.h>

/*
 * Is this how to refuse what execve refuses with ERROR (0: kills)? STATUS as
 * from waitpid. MAY_BE_ABSENT: the error can mean that there is no such
 * program. Returns NULL, or a complaint.
 */
const char *refusal_check(int status, const char *out, const char *err, int error,
			  bool may_be_absent);

#endif
