/*
 * narrow - a 32-bit program: prints AT_HWCAP of its vector, in hexadecimal
 *
 * Once for the stack and once for /proc/self/auxv. No libc, since there is
 * none for it where it is built.
 */
static long call(long number, long a, long b, long c)
{
#if defined(__arm__)
	register long r7 __asm__("r7") = number;
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;

	__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
	return r0;
#elif defined(__i386__)
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
#else
	register long r0 __asm__("r0") = number;
	register long r3 __asm__("r3") = a;
	register long r4 __asm__("r4") = b;
	register long r5 __asm__("r5") = c;

	__asm__ volatile("sc"
			 : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
			 :
			 : "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "ctr", "memory");
	return r3;
#endif
}

static unsigned int hwcap(const unsigned int *vector)
{
	for (; vector[0]; vector += 2)
		if (vector[0] == 16)
			return vector[1];
	return 0;
}

static void print(unsigned int value, char after)
{
	char text[11] = "0x";

	for (int i = 0; i < 8; i++)
		text[2 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
	text[10] = after;
	call(4, 1, (long)text, sizeof(text));
}

__attribute__((noreturn, used)) void start(unsigned int *sp)
{
	static unsigned int file[256];
	unsigned int *p = sp + 1 + sp[0] + 1;

	while (*p)
		p++;
	print(hwcap(p + 1), ' ');
	call(3, call(5, (long)"/proc/self/auxv", 0, 0), (long)file, sizeof(file) - 8);
	print(hwcap(file), '\n');
	for (;;)
		call(1, 0, 0, 0);
}

#if defined(__arm__)
__asm__(".globl _start\n_start:\tmov r0, sp\n\tb start\n");
#elif defined(__i386__)
__asm__(".globl _start\n_start:\tmov %esp, %eax\n\tand $-16, %esp\n\tpush %eax\n\tcall start\n");
#else
__asm__(".globl _start\n_start:\tmr 3, 1\n\tclrrwi 1, 1, 4\n\tstwu 1, -16(1)\n\tb start\n");
#endif
