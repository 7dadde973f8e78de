/* The #! line, against fs/binfmt_script.c:load_script() written down again. */
#include <stdbool.h>

#include "fuzz.h"
#include "script.h"

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *next_non_blank(char *at, const char *last)
{
	for (; at <= last; at++)
		if (!blank(*at))
			return at;
	return NULL;
}

static char *next_terminator(char *at, const char *last)
{
	for (; at <= last; at++)
		if (blank(*at) || !*at)
			return at;
	return NULL;
}

/* strnchr(): a NUL ends the search. */
static char *newline(char *at, size_t size)
{
	for (; size--; at++) {
		if (*at == '\n')
			return at;
		if (!*at)
			return NULL;
	}
	return NULL;
}

static bool kernel(char *line, struct script *s)
{
	char *last = line + SCRIPT_LINE - 1, *end = newline(line, SCRIPT_LINE), *separator;

	if (!end) {
		end = next_non_blank(line + 2, last);
		if (!end || !next_terminator(end, last))
			return false;
		end = last;
	}
	while (blank(end[-1]))
		end--;
	s->interpreter = next_non_blank(line + 2, end);
	if (!s->interpreter || s->interpreter == end)
		return false;
	s->argument = NULL;
	separator = next_terminator(s->interpreter, end);
	if (separator && *separator)
		s->argument = next_non_blank(separator, end);
	*end = 0;
	if (s->argument)
		*separator = 0;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t used = size < SCRIPT_LINE - 2 ? size : SCRIPT_LINE - 2;
	struct script ours, theirs;
	char *a = malloc(SCRIPT_LINE), b[SCRIPT_LINE] = "#!";
	int error;

	HOLDS(a);
	memcpy(b + 2, data, used);
	memcpy(a, b, SCRIPT_LINE);
	error = script_parse(a, &ours);
	HOLDS(!error == kernel(b, &theirs));
	if (!error) {
		HOLDS(!strcmp(ours.interpreter, theirs.interpreter));
		HOLDS(!ours.argument == !theirs.argument);
		HOLDS(!ours.argument || !strcmp(ours.argument, theirs.argument));
	}
	free(a);
	a = fuzz_copy(data, size, 0);
	is_script(a, size);
	is_text(a, size);
	free(a);
	return 0;
}
