/* overflow.c - reads behind a heap block if told to */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int at = argc > 1 ? atoi(argv[1]) : 0;
	char *block = malloc(64);

	memset(block, 'x', 64);
	printf("%c\n", block[at]);
	free(block);
	return 0;
}
