# Above what ET_EXEC programs use, below the zones of the mmap area and of
# position-independent programs even with 39 bits of addresses; 64K pages.
ARCH_EXEC_LDFLAGS := -Wl,--defsym=IMAGE_BASE=0x1000000000 -Wl,-z,max-page-size=0x10000
