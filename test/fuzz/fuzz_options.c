/* A command line: words that end with a NUL. */
#include "fuzz.h"
#include "options.h"

enum { WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = fuzz_copy(data, size, 1), *argv[WORDS + 1];
	struct options o;
	struct diag d = { 0 };
	unsigned long argc = 0;
	int r;

	for (size_t at = 0; at <= size && argc < WORDS; at += strlen(words + at) + 1)
		argv[argc++] = words + at;
	argv[argc] = NULL;
	r = options_parse(&d, argc, argv, &o);
	HOLDS(r == 0 || (r == -1 && d.status == 125 && *d.text));
	HOLDS(r || o.action != ACTION_RUN || (o.first >= 1 && o.first < argc));
	free(words);
	return 0;
}
