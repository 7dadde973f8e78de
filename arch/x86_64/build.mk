# Linux 6.11 and later honour the alignment of a static PIE: 2^44 keeps
# hwcap-exec out of the zones in which the target's mappings belong, so that
# they lie as if we had never been there. Older kernels ignore it.
ARCH_EXEC_LDFLAGS := -Wl,-z,max-page-size=0x100000000000
