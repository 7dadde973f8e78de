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

# ENGINE: loader, trace, follow, or child: what --follow's first program executes.
ENGINE ?= loader
fuzz_how_loader = -w '$(fuzz_wrapper) --engine=loader --'
fuzz_how_trace = -u -w '$(fuzz_wrapper) --engine=trace --'
fuzz_how_follow = -u -w '$(fuzz_wrapper) --follow --'
fuzz_how_child = -c -w '$(fuzz_wrapper) --follow --'
fuzz_wrapper = $(CURDIR)/hwcap-exec --mask=AT_HWCAP=0x201 --no-cgroup

# Reproducible: mutant number I of SEED is always the same program.
.PHONY: fuzz-diff
fuzz-diff: hwcap-exec $(FO)/diff
	$(Q)$(FO)/diff -m 0x201 $(fuzz_how_$(ENGINE)) -x $(FZ)/exceptions -n $(N) -s $(SEED) -f $(FIRST) -j $(JOBS)

# Part of "make check" where this machine can run them.
ifeq ($(NATIVE)-$(wildcard $(contract_entry)),yes-$(contract_entry))
CHECK_PREREQUISITES += $(FO)/diff
CHECK_SCRIPTS += $(FZ)/test_diff.sh
endif

# ---- each parser, guided by coverage -----------------------------------------
# libFuzzer with AddressSanitizer and UBSan; corpora in corpus/NAME.

FUZZ_CC ?= clang
SECONDS_EACH ?= 10
FUZZERS = elf script spec options cgroup dump binfmt
FUZZ_PROGRAMS = $(addprefix $(FO)/fuzz_,$(FUZZERS))
FUZZ_FLAGS = -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
fuzz_objects = $(patsubst %,$(FO)/lib/%.o,$(UNIT_SOURCES) shim/ctl.c)

$(FO)/lib/shim/ctl.c.o: FUZZ_FLAGS += -Dmain=ctl_main -Wno-main

$(FO)/lib/%.c.o: $(srcdir)/%.c | $(GENERATED)
	@mkdir -p $(@D)
	$(call quiet,FUZZCC)
	$(Q)$(FUZZ_CC) $(UNIT_INCLUDES) -DHWCAP_EXEC_VERSION='"$(VERSION)"' $(FUZZ_FLAGS) \
		-fsanitize=fuzzer-no-link,address,undefined $(DEPFLAGS) -c -o $@ $<
$(FO)/libfuzzed.a: $(fuzz_objects)
	$(call quiet,AR)
	$(Q)rm -f $@ && ar rc $@ $^
$(FUZZ_PROGRAMS): $(FO)/%: $(FZ)/%.c $(FZ)/fuzz.h $(FO)/libfuzzed.a
	$(call quiet,FUZZLD)
	$(Q)$(FUZZ_CC) $(UNIT_INCLUDES) $(FUZZ_FLAGS) -Wall -Wextra -fsanitize=fuzzer,address,undefined \
		$< $(FO)/libfuzzed.a -o $@

.PHONY: fuzz
fuzz: $(FUZZ_PROGRAMS)
	$(Q)SECONDS_EACH='$(SECONDS_EACH)' FUZZERS='$(FUZZERS)' $(run_tests) $(abspath $(FZ))/fuzz.sh
CHECK_ALL_TARGETS += fuzz
