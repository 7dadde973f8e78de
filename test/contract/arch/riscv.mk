CONTRACT_ARCH_FLAGS =
# Debian's glibc has no rcrt1.o for this architecture.
CONTRACT_IMPOSSIBLE = glibc-static-pie align-200000-static-pie
