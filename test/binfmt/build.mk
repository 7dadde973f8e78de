# build.mk - make check-binfmt: programs under a rule of binfmt_misc

BM := $(O)/binfmt
binfmt_programs := $(BM)/look $(BM)/exec

$(binfmt_programs): $(BM)/%: $(srcdir)/test/binfmt/%.c
	@mkdir -p $(@D)
	$(call quiet,MUSLCC)
	$(Q)$(MUSL_CC) -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -static -o $@ $<

# The contract's build.mk comes after this one.
check-binfmt: all $(binfmt_programs) $$(CONTRACT_PROGRAMS)
	$(Q)$(run_tests) $(abspath $(srcdir))/test/binfmt/test_binfmt.sh

CHECK_ALL_TARGETS += check-binfmt

.PHONY: check-binfmt
#: check-binfmt     programs under a rule of binfmt_misc, in a namespace
