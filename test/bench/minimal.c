/*
 * minimal.c - a program that does nothing: one system call, no libc start-up
 *
 * Linked statically, with musl's _Exit, which is exit_group and nothing else.
 */
#include <stdlib.h>

void _start(void);

void _start(void)
{
	_Exit(0);
}
