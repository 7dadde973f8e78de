# build.mk - tests of the other architectures; see test/arch/check

#: check-arch       every architecture: build, contract on real kernels in qemu
check-arch:
	$(Q)TEST_TIMEOUT=3600 $(run_tests) $(srcdir)/test/arch/check

# hwcap.tsv of every architecture against the newest kernel headers.
CHECK_SCRIPTS += $(srcdir)/test/arch/uapi

# One tarball per architecture, of programs that need nothing else.
dist-static:
	$(Q)builddir='$(CURDIR)' VERSION='$(VERSION)' $(srcdir)/test/arch/dist

CHECK_ALL_TARGETS += check-arch
.PHONY: check-arch dist-static
