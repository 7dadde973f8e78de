/* wait.c - makes the file argv[1], then waits for the end of standard input */
#include <fcntl.h>
#include <unistd.h>

int answer = 42;

int main(int argc, char **argv)
{
	char byte;

	if (argc > 1)
		close(open(argv[1], O_CREAT | O_WRONLY, 0600));
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
