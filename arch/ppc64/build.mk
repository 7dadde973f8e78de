# Between the zone of position-independent programs (from 4G, or 1T with the
# hash MMU's brk) and the mmap area, legacy layout too; 64K pages.
ARCH_EXEC_LDFLAGS := -Wl,--defsym=IMAGE_BASE=0x80000000000 -Wl,-z,max-page-size=0x10000
# Debian's big-endian libgcc, which counts bits, cannot be linked (configure).
ARCH_UNIT_CFLAGS := -mpopcntd
