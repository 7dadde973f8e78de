/*
 * dispatch - choose between two ways to do the same by AT_HWCAP, and run it
 *
 * Prints the way taken. The one with the feature executes an instruction that
 * needs it. With an argument it takes that one whatever AT_HWCAP says, on riscv.
 */
#include <stdio.h>
#include <sys/auxv.h>

#if defined(__aarch64__)
static const char *run(int force)
{
	unsigned long lanes;

	(void)force;
	if (!(getauxval(AT_HWCAP) & 1UL << 22))
		return "without sve";
	__asm__ volatile(".arch_extension sve\n\tcntd %0" : "=r"(lanes));
	return lanes ? "with sve" : "broken";
}
#elif defined(__riscv)
static const char *run(int force)
{
	unsigned long lanes;

	if (!force && !(getauxval(AT_HWCAP) & 1UL << 21))
		return "without v";
	/* vsetvli %0, zero, e8, m1, ta, ma */
	__asm__ volatile(".insn i 0x57, 7, %0, x0, 0xc0" : "=r"(lanes));
	return lanes ? "with v" : "broken";
}
#elif defined(__powerpc64__)
static const char *run(int force)
{
	unsigned long random;

	(void)force;
	if (!(getauxval(AT_HWCAP2) & 1UL << 23))
		return "without arch_3_00";
	/* modsd: new in ISA 3.0 */
	__asm__ volatile(".machine push\n\t.machine power9\n\tmodsd %0, %1, %2\n\t.machine pop"
			 : "=r"(random)
			 : "r"(17L), "r"(5L));
	return random == 2 ? "with arch_3_00" : "broken";
}
#else
static const char *run(int force)
{
	(void)force;
	return getauxval(AT_HWCAP2) & 2 ? "with fsgsbase" : "without fsgsbase";
}
#endif

int main(int argc, char **argv)
{
	const char *way = run(argc > 1);

	(void)argv;
	puts(way);
	return way[0] != 'w';
}
