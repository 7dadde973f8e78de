/* elfgen - write crafted ELF files: elfgen --list, elfgen NAME FILE */
#include <stdio.h>
#include <string.h>

#include "elfgen.h"

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < elfgen_count(); i++)
			puts(elfgen_name(i));
		return 0;
	}
	for (size_t i = 0; argc == 3 && i < elfgen_count(); i++) {
		if (strcmp(argv[1], elfgen_name(i)))
			continue;
		if (!elfgen_write(i, argv[2]))
			return 0;
		perror(argv[2]);
		return 1;
	}
	fprintf(stderr, "usage: elfgen --list | elfgen NAME FILE\n");
	return 125;
}
