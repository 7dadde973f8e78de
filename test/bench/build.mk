# build.mk - make bench, make bench-check

B := $(O)/bench
bench_programs := $(B)/bench $(B)/minimal $(B)/musl-static $(B)/glibc-static
bench_cflags := -std=c11 -D_GNU_SOURCE -O2 $(WARN_CFLAGS)

$(B)/bench: $(srcdir)/test/bench/bench.c
	@mkdir -p $(@D)
	$(call quiet,HOSTCC)
	$(Q)$(HOSTCC) $(bench_cflags) -o $@ $<

$(B)/minimal: $(srcdir)/test/bench/minimal.c
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(bench_cflags) $(ABI_CFLAGS) $(MUSL_CPPFLAGS) -fno-pie -no-pie -static -nostdlib \
		-nostartfiles -fno-stack-protector -fno-asynchronous-unwind-tables \
		-Wl,--build-id=none -o $@ $< $(MUSL_LIB)/libc.a $(LIBGCC)

$(B)/musl-static: $(srcdir)/test/bench/nothing.c
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(bench_cflags) $(ABI_CFLAGS) $(MUSL_CPPFLAGS) -fno-pie -no-pie -static -nostdlib \
		-nostartfiles -o $@ $(MUSL_LIB)/crt1.o $(MUSL_LIB)/crti.o $< $(MUSL_LIB)/libc.a \
		$(LIBGCC) $(MUSL_LIB)/crtn.o

$(B)/glibc-static: $(srcdir)/test/bench/nothing.c
	@mkdir -p $(@D)
	$(call quiet,HOSTCC)
	$(Q)$(HOSTCC) $(bench_cflags) -no-pie -static -o $@ $<

# Of the same parts, linked in the same way as hwcap-exec.
ifeq ($(ARCH),x86_64)
bench_programs += $(B)/floor
endif

$(B)/floor.o: $(srcdir)/test/bench/floor.c | $(GENERATED)
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) $(CPPFLAGS) $(COMMON_CPPFLAGS) $(MUSL_CPPFLAGS) $(EXEC_CFLAGS) \
		-include $(srcdir)/include/hidden.h -c -o $@ $<

floor_objects = $(filter %/start.S.o %/leave.c.o,$(exec_objects)) $(B)/floor.o

$(B)/floor: $(B)/floor.o $(exec_objects) $(linker_script)
	$(call quiet,LINK)
	$(Q)$(CC) $(LDFLAGS) $(EXEC_LDFLAGS) -s -Wl,-T,$(linker_script) -o $@ \
		$(floor_objects) $(MUSL_LIB)/libc.a $(LIBGCC)

# BENCH_ENGINES and COMPARE: see engines.sh.
budget = $(srcdir)/test/bench/budget.tsv
bench_inputs = hwcap-exec hwcapctl $(bench_programs)

bench: $(bench_inputs)
	$(Q)$(TEST_ENVIRONMENT) $(srcdir)/test/bench/run $(ROUNDS)
	$(Q)$(srcdir)/test/bench/report.py --budget $(budget) --binary hwcap-exec $(B)/samples

# What bench and count print, as a section of doc/bench.md, and its plots.
bench-book: $(bench_inputs)
	$(Q)$(TEST_ENVIRONMENT) $(srcdir)/test/bench/run $(or $(ROUNDS),1500)
	$(Q)$(TEST_ENVIRONMENT) $(srcdir)/test/bench/count
	$(Q)$(srcdir)/test/bench/book.py --budget $(budget) --binary hwcap-exec \
		--counts $(B)/counts --doc $(srcdir)/doc $(B)/samples

# Measures if nothing was measured yet; FORMAT=--json or --csv prints the table.
$(B)/samples: | $(bench_inputs)
	$(Q)$(TEST_ENVIRONMENT) $(srcdir)/test/bench/run $(ROUNDS)

bench-check: $(B)/samples
	$(Q)$(srcdir)/test/bench/report.py $(or $(FORMAT),--check) --budget $(budget) \
		--binary hwcap-exec $(B)/samples

$(B)/depth: $(srcdir)/test/bench/depth.c
	@mkdir -p $(@D)
	$(call quiet,HOSTCC)
	$(Q)$(HOSTCC) $(bench_cflags) -o $@ $<

# In nested cgroups; DOC=DIR writes depth.md and depth.svg there.
bench-depth: hwcap-exec hwcapctl $(B)/depth $(B)/minimal
	$(Q)$(TEST_ENVIRONMENT) $(srcdir)/test/bench/depth $(ROUNDS)
	$(Q)$(srcdir)/test/bench/depth.py $(if $(DOC),--doc $(DOC)) $(B)/depth.samples

.PHONY: bench bench-book bench-check bench-depth
