# build.mk - tests of the other architectures; see test/arch/check

#: check-arch       every architecture: build, contract on real kernels in qemu
check-arch:
	$(Q)TEST_TIMEOUT=3600 $(run_tests) $(srcdir)/test/arch/check

# Without address space randomisation every difference is one of ours. With it,
# files aligned to 64K on smaller pages lie now this way, now that, natively too.
#: check-arch-fixed the same where addresses are fixed: the quick form
check-arch-fixed:
	$(Q)TEST_TIMEOUT=3600 ARCH_SITUATIONS=fixed $(run_tests) $(srcdir)/test/arch/check

# hwcap.tsv of every architecture against the newest kernel headers.
CHECK_SCRIPTS += $(srcdir)/test/arch/uapi

# One tarball per architecture, of programs that need nothing else.
dist-static:
	$(Q)builddir='$(CURDIR)' VERSION='$(VERSION)' $(srcdir)/test/arch/dist

CHECK_ALL_TARGETS += check-arch-fixed
.PHONY: check-arch check-arch-fixed dist-static
