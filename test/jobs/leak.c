/* leak.c - loses a block, writes a line */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char *block = malloc(100);

	memset(block, 'x', 100);
	block[99] = '\n';
	block = block[0] == 'x' ? NULL : block;
	if (write(1, "line\n", 5) != 5)
		free(block);
	return 0;
}
