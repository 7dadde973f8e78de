CONTRACT_ARCH_FLAGS = -mlong-double-64
# Debian's glibc has no rcrt1.o for this architecture.
CONTRACT_IMPOSSIBLE = glibc-static-pie align-200000-static-pie
ifeq ($(ENDIAN),big)
# Of musl there is no shared libc (test/arch/toolchain). Natively, the descriptor of a static PIE's entry is not relocated: ELFv1
# programs of this kind die (fs/binfmt_elf.c, reloc_func_desc).
CONTRACT_IMPOSSIBLE += bare-static-pie align-200000-bare \
	musl-pie musl-nopie align-10000-musl
endif
