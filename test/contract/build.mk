# build.mk - the contract probe in all its forms, the crafted ELF files, the verdicts
#
# Included by the main Makefile, which sets srcdir, O, ARCH, CC, MUSL_CC, ...
# Stand-alone: make -f test/contract/build.mk O=build contract-programs

srcdir ?= .
O ?= build
ARCH ?= x86_64
NATIVE ?= yes
ifeq ($(origin CC),default)
CC := gcc
endif
HOSTCC ?= $(CC)
MUSL_CC ?= musl-gcc
MUSL_LIB ?= /usr/lib/$(ARCH)-linux-musl
MUSL_LIBDIR ?= $(MUSL_LIB)

CT = $(srcdir)/test/contract
CO = $(O)/contract
CONTRACT_WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -Wwrite-strings -Wpointer-arith -Wcast-align -Wundef
CONTRACT_FLAGS = -std=c11 -D_GNU_SOURCE -O1 -g $(CONTRACT_ARCH_FLAGS) $(CONTRACT_WARN) \
	-I$(CT) -DPROBE_ARCH='"arch/$(ARCH).h"'

# What the probe of this architecture is compiled with, and which variants
# there cannot be on it: CONTRACT_ARCH_FLAGS, CONTRACT_IMPOSSIBLE.
include $(CT)/arch/$(ARCH).mk

contract_parts = probe text maps process
contract_headers = $(CT)/probe.h $(CT)/arch/$(ARCH).h
contract_entry = $(CT)/arch/$(ARCH).S

# Objects: SET is LIBC-pie or LIBC-nopie.
contract_set = $(patsubst %,$(CO)/$(1)/%.o,$(contract_parts) entry $(2))

$(CO)/glibc-pie/%.o: $(CT)/%.c $(contract_headers)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(CONTRACT_FLAGS) -fPIE -c $< -o $@
$(CO)/glibc-nopie/%.o: $(CT)/%.c $(contract_headers)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(CONTRACT_FLAGS) -fno-pie -c $< -o $@
$(CO)/musl-pie/%.o: $(CT)/%.c $(contract_headers)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) $(CONTRACT_FLAGS) -fPIE -c $< -o $@
$(CO)/musl-nopie/%.o: $(CT)/%.c $(contract_headers)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) $(CONTRACT_FLAGS) -fno-pie -c $< -o $@
BARE_FLAGS = $(CONTRACT_FLAGS) -DPROBE_BARE -ffreestanding -fno-stack-protector
$(CO)/bare-pie/%.o: $(CT)/%.c $(contract_headers)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(BARE_FLAGS) -fPIE -c $< -o $@
$(CO)/bare-nopie/%.o: $(CT)/%.c $(contract_headers)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(BARE_FLAGS) -fno-pie -c $< -o $@
$(CO)/glibc-pie/entry.o $(CO)/glibc-nopie/entry.o: $(contract_entry) $(CT)/arch/$(ARCH).h
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) -c $(contract_entry) -o $@
$(CO)/musl-pie/entry.o $(CO)/musl-nopie/entry.o: $(contract_entry) $(CT)/arch/$(ARCH).h
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) -c $(contract_entry) -o $@
$(CO)/bare-pie/entry.o $(CO)/bare-nopie/entry.o: $(contract_entry) $(CT)/arch/$(ARCH).h
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) -DPROBE_BARE -c $(contract_entry) -o $@

ENTRY = -Wl,-e,probe_start
BARE_LINK = $(CC) -nostdlib -Wl,--build-id=none -Wl,-z,text $(ENTRY)
MUSL_STATIC_PIE = $(CC) -nostdlib -nostartfiles -static-pie $(ENTRY) \
	$(MUSL_LIB)/rcrt1.o $(MUSL_LIB)/crti.o
MUSL_END = $(MUSL_LIB)/libc.a -lgcc $(MUSL_LIB)/crtn.o

glibc_pie = $(call contract_set,glibc-pie,main)
glibc_nopie = $(call contract_set,glibc-nopie,main)
musl_pie = $(call contract_set,musl-pie,main)
musl_nopie = $(call contract_set,musl-nopie,main)
bare_pie = $(call contract_set,bare-pie,bare)
bare_nopie = $(call contract_set,bare-nopie,bare)

CONTRACT_VARIANTS = glibc-pie glibc-nopie glibc-static glibc-static-pie \
	musl-pie musl-nopie musl-static musl-static-pie \
	bare-static bare-static-pie bare-low bare-2m \
	interp-pie interp-nopie interp-fixed \
	execstack-pie execstack-static execstack-bare \
	align-4000-pie align-10000-pie align-200000-pie align-10000-musl \
	align-200000-static-pie align-200000-bare align-10000-static
CONTRACT_PROBES = $(addprefix $(CO)/probe-,$(filter-out $(CONTRACT_IMPOSSIBLE),$(CONTRACT_VARIANTS)))
CONTRACT_PROGRAMS = $(CONTRACT_PROBES) $(CO)/interp $(CO)/interp-at $(CO)/compare \
	$(CO)/layout $(CO)/prepare $(CO)/plain \
	$(if $(wildcard $(CT)/arch/$(ARCH)-elfgen.h),$(CO)/elfgen $(CO)/verdict)

$(CO)/probe-glibc-pie: $(glibc_pie)
	$(call quiet,CC)
	$(Q)$(CC) -pie $(ENTRY) $^ -o $@
$(CO)/probe-glibc-nopie: $(glibc_nopie)
	$(call quiet,CC)
	$(Q)$(CC) -no-pie $(ENTRY) $^ -o $@
$(CO)/probe-glibc-static: $(glibc_nopie)
	$(call quiet,CC)
	$(Q)$(CC) -static -no-pie $(ENTRY) $^ -o $@
$(CO)/probe-glibc-static-pie: $(glibc_pie)
	$(call quiet,CC)
	$(Q)$(CC) -static-pie $(ENTRY) $^ -o $@
$(CO)/probe-musl-pie: $(musl_pie)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) -pie $(ENTRY) $^ -o $@
$(CO)/probe-musl-nopie: $(musl_nopie)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) -no-pie $(ENTRY) $^ -o $@
$(CO)/probe-musl-static: $(musl_nopie)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) -static -no-pie $(ENTRY) $^ -o $@
$(CO)/probe-musl-static-pie: $(musl_pie)
	$(call quiet,CC)
	$(Q)$(MUSL_STATIC_PIE) $^ $(MUSL_END) -o $@
$(CO)/probe-bare-static: $(bare_nopie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static -no-pie $^ -o $@
$(CO)/probe-bare-static-pie $(CO)/interp: $(bare_pie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static-pie -Wl,--no-dynamic-linker $^ -o $@
$(CO)/probe-bare-low: $(bare_nopie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static -no-pie -Wl,-Ttext-segment=0x10000 $^ -o $@
$(CO)/probe-bare-2m: $(bare_nopie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static -no-pie -Wl,-Ttext-segment=0x200000 $^ -o $@
$(CO)/interp-at: $(bare_nopie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static -no-pie -Wl,-Ttext-segment=0x10000000 $^ -o $@

# These name an interpreter of ours, which reports what the kernel hands it.
contract_program = $(CT)/arch/$(ARCH)-program.S
$(CO)/probe-interp-pie: $(contract_program) $(CO)/interp
	$(call quiet,CC)
	$(Q)$(CC) -nostdlib -pie -Wl,-dynamic-linker=$(abspath $(CO)/interp) $< -o $@
$(CO)/probe-interp-nopie: $(contract_program) $(CO)/interp
	$(call quiet,CC)
	$(Q)$(CC) -nostartfiles -no-pie -Wl,--no-as-needed \
		-Wl,-dynamic-linker=$(abspath $(CO)/interp) $< -o $@
$(CO)/probe-interp-fixed: $(contract_program) $(CO)/interp-at
	$(call quiet,CC)
	$(Q)$(CC) -nostdlib -pie -Wl,-dynamic-linker=$(abspath $(CO)/interp-at) $< -o $@

$(CO)/probe-execstack-pie: $(glibc_pie)
	$(call quiet,CC)
	$(Q)$(CC) -pie -Wl,-z,execstack $(ENTRY) $^ -o $@
$(CO)/probe-execstack-static: $(glibc_nopie)
	$(call quiet,CC)
	$(Q)$(CC) -static -no-pie -Wl,-z,execstack $(ENTRY) $^ -o $@
$(CO)/probe-execstack-bare: $(bare_nopie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static -no-pie -Wl,-z,execstack $^ -o $@

contract_page = -Wl,-z,max-page-size=0x$(word 2,$(subst -, ,$(notdir $(patsubst $(CO)/probe-%,%,$@))))
$(CO)/probe-align-4000-pie $(CO)/probe-align-10000-pie $(CO)/probe-align-200000-pie: $(glibc_pie)
	$(call quiet,CC)
	$(Q)$(CC) -pie $(contract_page) $(ENTRY) $^ -o $@
$(CO)/probe-align-10000-musl: $(musl_pie)
	$(call quiet,CC)
	$(Q)$(MUSL_CC) -pie $(contract_page) $(ENTRY) $^ -o $@
$(CO)/probe-align-200000-static-pie: $(glibc_pie)
	$(call quiet,CC)
	$(Q)$(CC) -static-pie $(contract_page) $(ENTRY) $^ -o $@
$(CO)/probe-align-200000-bare: $(bare_pie)
	$(call quiet,CC)
	$(Q)$(BARE_LINK) -static-pie -Wl,--no-dynamic-linker $(contract_page) $^ -o $@
$(CO)/probe-align-10000-static: $(glibc_nopie)
	$(call quiet,CC)
	$(Q)$(CC) -static -no-pie $(contract_page) $(ENTRY) $^ -o $@

CONTRACT_TOOL = $(HOSTCC) -std=c11 -D_GNU_SOURCE -O1 -g $(CONTRACT_WARN) -Wno-missing-field-initializers -I$(srcdir)/test \
	-DELFGEN_ARCH='"contract/arch/$(ARCH)-elfgen.h"'
$(CO)/compare $(CO)/layout $(CO)/prepare $(CO)/plain: $(CO)/%: $(CT)/%.c
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CONTRACT_TOOL) $< -o $@
$(CO)/verdict: $(srcdir)/test/verdict.c $(srcdir)/test/refusal.c $(srcdir)/test/elfgen.c \
		$(srcdir)/test/refusal.h $(srcdir)/test/elfgen.h
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CONTRACT_TOOL) $(filter %.c,$^) -o $@
$(CO)/elfgen: $(srcdir)/test/elfgen.c $(srcdir)/test/elfgen-main.c $(srcdir)/test/elfgen.h
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CONTRACT_TOOL) $(srcdir)/test/elfgen.c $(srcdir)/test/elfgen-main.c -o $@

.PHONY: contract-programs
contract-programs: $(CONTRACT_PROGRAMS)

# Part of "make check" where this machine can run them.
ifeq ($(NATIVE)-$(wildcard $(contract_entry)),yes-$(contract_entry))
CHECK_PREREQUISITES += $(CONTRACT_PROGRAMS)
CHECK_SCRIPTS += $(sort $(wildcard $(CT)/test_*.sh))
endif
