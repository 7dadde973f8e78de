/*
 * handler - does the kernel find this program's signal handlers?
 *
 * On ppc64 a handler is an address or, in ELFv1, a descriptor of it and its
 * TOC: which of them, the kernel decides by the program that it executed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static volatile int expected = 42; /* reached through the TOC */

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (expected == 42 && info->si_signo == number && info->si_pid == getpid())
		seen++;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	if (sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
		return 2;
	action.sa_flags |= SA_ONSTACK;
	if (sigaltstack(&(stack_t){ .ss_sp = malloc(65536), .ss_size = 65536 }, NULL) ||
	    sigaction(SIGUSR2, &action, NULL) || raise(SIGUSR2))
		return 2;
	printf("%d signals handled\n", (int)seen);
	return seen != 2;
}
