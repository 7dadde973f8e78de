/* trampoline.c - calls code on its own stack: needs what -z execstack asks for */
#include <stdio.h>

static int twice(int (*f)(int), int n)
{
	return f(f(n));
}

int main(void)
{
	volatile int add = 20;
	int plus(int n)
	{
		return n + add;
	}

	printf("%d\n", twice(plus, 2));
	return 0;
}
