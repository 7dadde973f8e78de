/* race.c - two threads and one word, with or without an atomic */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int plain;
static atomic_int counted;
static int racing;

static void *work(void *argument)
{
	(void)argument;
	for (int i = 0; i < 100000; i++) {
		if (racing)
			plain++;
		counted++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	racing = argc > 1 && strcmp(argv[1], "race") == 0;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", counted);
	return 0;
}
