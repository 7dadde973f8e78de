#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf_plan.h"
#include "script.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* First byte of [from, last] that is no blank, NULL if there is none. */
static char *skip_blanks(char *from, char *last)
{
	while (from <= last && is_blank(*from))
		from++;
	return from <= last ? from : NULL;
}

/* First byte of [from, last] that ends a word, NULL if there is none. */
static char *word_end(char *from, char *last)
{
	while (from <= last && *from && !is_blank(*from))
		from++;
	return from <= last ? from : NULL;
}

/* Where the line ends. A line longer than the buffer is cut there, unless
 * the cut could be inside the interpreter's path.
 */
static char *line_end(char line[SCRIPT_LINE])
{
	char *const last = &line[SCRIPT_LINE - 1];
	char *end = memchr(line, '\n', SCRIPT_LINE);
	char *name;

	if (end)
		return end;
	name = skip_blanks(line + 2, last);
	return name && word_end(name, last) ? last : NULL;
}

int script_parse(char line[SCRIPT_LINE], struct script *script)
{
	char *end = line_end(line);
	char *separator;

	if (!end)
		return ENOEXEC;
	while (is_blank(end[-1]))
		end--;
	script->interpreter = skip_blanks(line + 2, end);
	if (!script->interpreter || script->interpreter == end)
		return ENOEXEC;
	script->argument = NULL;
	separator = word_end(script->interpreter, end);
	if (separator && *separator)
		script->argument = skip_blanks(separator, end);
	*end = '\0';
	if (script->argument)
		*separator = '\0';
	return 0;
}

bool is_text(const void *bytes, size_t size)
{
	const char *newline;

	if (size >= SELFMAG && elf_has_magic(bytes))
		return false;
	newline = memchr(bytes, '\n', size);
	return !memchr(bytes, '\0', newline ? (size_t)(newline - (const char *)bytes) : size);
}
