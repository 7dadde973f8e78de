#include "binfmt.h"

/* include/uapi/linux/binfmts.h */
enum { PRESERVE_ARGV0 = 1 };

bool binfmt_is_mode(const struct start *s)
{
	return s->exec_fd >= 0 || (s->flags & PRESERVE_ARGV0);
}

bool binfmt_read_args(const struct start *s, struct binfmt_args *a)
{
	/* Where argv[0] is: the path itself, if the rule does not keep it. */
	const unsigned long at = s->flags & PRESERVE_ARGV0 ? 2 : 1;

	if (s->argc < 2)
		return false;
	a->path = s->argv[1];
	a->argv0 = s->argc > at ? s->argv[at] : "";
	a->skip = s->argc > at ? at + 1 : s->argc;
	return true;
}
