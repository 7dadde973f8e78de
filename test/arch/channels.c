/*
 * channels - which ways beside the vector tell of a feature
 *
 * Prints a word for each: what the system call says, and whether there is a
 * vDSO.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *word(long result)
{
	return result >= 0 ? "answers" : strerrorname_np(errno);
}

int main(void)
{
#if defined(__aarch64__)
	enum { SVE_SET_VL = 50, SVE_GET_VL, SME_SET_VL = 63, SME_GET_VL };

	printf("sve %s %s sme ", word(prctl(SVE_GET_VL)), word(prctl(SVE_SET_VL, 16)));
	printf("%s %s ", word(prctl(SME_GET_VL)), word(prctl(SME_SET_VL, 16)));
#elif defined(__riscv)
	struct {
		long long key;
		unsigned long long value;
	} pair = { 4, 0 }; /* RISCV_HWPROBE_KEY_IMA_EXT_0 */

	enum { V_SET_CONTROL = 69, V_GET_CONTROL };

	printf("hwprobe %s v %s ", word(syscall(258, &pair, 1, 0, NULL, 0)),
	       word(prctl(V_GET_CONTROL)));
	printf("%s ", word(prctl(V_SET_CONTROL, 2)));
#endif
	puts(getauxval(AT_SYSINFO_EHDR) ? "vdso" : "no vdso");
	return 0;
}
