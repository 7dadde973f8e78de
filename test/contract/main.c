/* main.c - the probe under a C library: report what the entry stub saved */
#include <stdlib.h>
#include <string.h>

#include "probe.h"

int main(void)
{
	/* A C library that runs uses its heap, constructors and exit handlers. */
	char *p = malloc(100);

	if (!p)
		return 2;
	memset(p, 1, 100);
	free(p);
	return probe_main((const unsigned long *)probe_entry.sp);
}
