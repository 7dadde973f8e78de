/* crash.c - leaves a core */
#include <stdlib.h>

int answer = 42;

__attribute__((noinline)) static void crash(int depth)
{
	if (depth == 0)
		abort();
	crash(depth - 1);
	__asm__ volatile("");
}

int main(void)
{
	crash(3);
	return 0;
}
