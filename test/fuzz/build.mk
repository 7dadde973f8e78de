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
