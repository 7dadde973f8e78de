# Above what ET_EXEC programs use, below the zones of the mmap area and of
# position-independent programs even with the 38 bits of sv39.
ARCH_EXEC_LDFLAGS := -Wl,--defsym=IMAGE_BASE=0x1000000000 -Wl,-z,max-page-size=0x1000
