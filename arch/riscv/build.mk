# Above what ET_EXEC programs use, below the zones of the mmap area and of
# position-independent programs even with the 38 bits of sv39.
# gp is not set: nothing may be relaxed against it.
ARCH_EXEC_LDFLAGS := -Wl,--defsym=IMAGE_BASE=0x1000000000 -Wl,-z,max-page-size=0x1000 -Wl,--no-relax
