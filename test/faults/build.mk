# build.mk - fault injection: the target, and what lets system calls fail

FA = $(srcdir)/test/faults
FAO = $(O)/faults
FAULT_TARGETS = $(FAO)/target $(FAO)/target-pie
FAULT_FLAGS = -std=c11 -D_GNU_SOURCE -Os -ffreestanding -fno-stack-protector -mgeneral-regs-only \
	$(CONTRACT_WARN) $(INCLUDES)

$(FAO)/target: $(FA)/target.c $(srcdir)/arch/$(ARCH)/start.S
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(FAULT_FLAGS) -fno-pie -no-pie -static -nostdlib $^ -o $@
$(FAO)/target-pie: $(FA)/target.c $(srcdir)/arch/$(ARCH)/start.S
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(FAULT_FLAGS) -fpie -static-pie -nostdlib $^ -o $@
# The same, as an interpreter of a program that has nothing else.
$(FAO)/target-interp: $(contract_program) $(FAO)/target-pie
	$(call quiet,CC)
	$(Q)$(CC) -nostdlib -pie -Wl,-dynamic-linker=$(abspath $(FAO)/target-pie) $< -o $@
$(FAO)/inject: $(FA)/inject.c
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CONTRACT_TOOL) $< -o $@

ifeq ($(NATIVE)-$(wildcard $(contract_entry)),yes-$(contract_entry))
CHECK_PREREQUISITES += $(FAULT_TARGETS) $(FAO)/target-interp $(FAO)/inject
endif
