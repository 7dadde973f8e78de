# Between the mmap zone (below 0x7fff...) and the zone of position-independent
# programs (from 0x5555...). Pages of the file and of memory are both 4 KiB.
ARCH_EXEC_LDFLAGS := -Wl,--defsym=IMAGE_BASE=0x700000000000 -Wl,-z,max-page-size=0x1000
