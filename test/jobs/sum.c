/* sum.c - floating point, threads, argv and environment, thread-local storage */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int local;

static void *work(void *argument)
{
	double *sum = argument;

	for (local = 1; local <= 100000; local++)
		*sum += 1.0 / local;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	double sums[4] = { 0 };

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		printf("%.12f\n", sums[i]);
	}
	for (int i = 0; i < argc; i++)
		puts(argv[i]);
	puts(getenv("HOME") ? "has a HOME" : "has no HOME");
	free(malloc(1 << 20));
	return 0;
}
