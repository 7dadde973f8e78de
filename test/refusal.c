#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "refusal.h"

/*
 * Is MESSAGE about ERROR? What is wrong with a file's contents may be told
 * better than errno can; then it must only not be another errno's text.
 */
static bool names_reason(const char *message, int error)
{
	static const int all[] = {
		ENOENT, EACCES,  EPERM,        EIO,     E2BIG,   ETXTBSY, ELOOP,
		EINVAL, ENOTDIR, ENAMETOOLONG, ENOEXEC, ELIBBAD, ENOMEM,  EISDIR
	};

	static const struct {
		int error;
		const char *text;
	} better[] = { { ENOENT, "not found" },
		       { ENOTDIR, "not found in PATH" },
		       { ELOOP, "levels" },
		       { EACCES, "names no interpreter" },
		       { EIO, "end of the file" } };

	if (strcasestr(message, strerror(error)))
		return true;
	for (size_t i = 0; i < sizeof(better) / sizeof(better[0]); i++)
		if (better[i].error == error && strcasestr(message, better[i].text))
			return true;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcasestr(message, strerror(all[i])))
			return false;
	if (error == ELIBBAD || error == EIO)
		return strcasestr(message, "interp") != NULL;
	return error == ENOEXEC || error == EINVAL;
}

static bool one_line(const char *s)
{
	const char *end = strchr(s, '\n');

	return end && !end[1];
}

const char *refusal_check(int status, const char *out, const char *err, int error,
			  bool may_be_absent)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (*out)
		return "it wrote something";
	if (code != 126 && !(code == 127 && may_be_absent))
		return "status is neither 126 nor, for a missing file, 127";
	if (strncmp(err, "hwcap-exec: ", 12))
		return "message does not begin with the name";
	if (!one_line(err))
		return "message is not one line";
	if (error && !names_reason(err, error))
		return "message does not name the reason";
	return NULL;
}
