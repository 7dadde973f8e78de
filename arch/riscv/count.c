/*
 * Without Zbb the compiler counts bits by calls to libgcc, whose table is
 * found through a global offset table that nobody relocates here.
 */
int __ctzdi2(unsigned long x);

int __ctzdi2(unsigned long x)
{
	int n = 0;

	for (; n < 64 && !(x >> n & 1); n++)
		continue;
	return n;
}
