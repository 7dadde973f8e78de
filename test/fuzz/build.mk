# build.mk - fuzzing: against execve, and of each parser

FZ = $(srcdir)/test/fuzz
FO = $(O)/fuzz

N ?= 100000
SEED ?= 1
FIRST ?= 0
JOBS ?= 2

fuzz_diff_sources = $(FZ)/diff.c $(FZ)/mutant.c $(FZ)/observe.c $(srcdir)/test/elfgen.c $(srcdir)/test/refusal.c
$(FO)/diff: $(fuzz_diff_sources) $(FZ)/mutant.h $(FZ)/observe.h $(srcdir)/test/elfgen.h $(srcdir)/test/refusal.h
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CONTRACT_TOOL) -O2 -static -I$(FZ) $(fuzz_diff_sources) -o $@

FUZZ_WRAPPER = $(CURDIR)/hwcap-exec --engine=loader --no-cgroup --

# Reproducible: mutant number I of SEED is always the same program.
.PHONY: fuzz-diff
fuzz-diff: hwcap-exec $(FO)/diff
	$(Q)$(FO)/diff -w '$(FUZZ_WRAPPER)' -x $(FZ)/exceptions -n $(N) -s $(SEED) -f $(FIRST) -j $(JOBS)

# Part of "make check" where this machine can run them.
ifeq ($(NATIVE)-$(wildcard $(contract_entry)),yes-$(contract_entry))
CHECK_PREREQUISITES += $(FO)/diff
CHECK_SCRIPTS += $(FZ)/test_diff.sh
endif
