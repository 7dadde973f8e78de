/* A dump file, read as "hwcapctl common" reads it. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl_dump.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dump d;
	char name[32];
	int fd = memfd_create("dump", MFD_CLOEXEC);

	HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	memset(&d, 0, sizeof(d));
	if (!dump_read(name, &d)) {
		HOLDS(memchr(d.arch, 0, sizeof(d.arch)) && d.others <= DUMP_OTHERS);
		dump_other(&d, "platform");
		dump_print(&d);
	}
	close(fd);
	return 0;
}
