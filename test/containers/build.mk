# build.mk - make check-containers: entrypoints, hook and runtime, by every engine

CN := $(O)/containers
containers_programs := $(CN)/look-static $(CN)/look-musl $(CN)/look-glibc

$(CN)/look-static: $(srcdir)/test/binfmt/look.c
	@mkdir -p $(@D)
	$(call quiet,MUSLCC)
	$(Q)$(MUSL_CC) -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -static -o $@ $<
$(CN)/look-musl: $(srcdir)/test/binfmt/look.c
	@mkdir -p $(@D)
	$(call quiet,MUSLCC)
	$(Q)$(MUSL_CC) -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -o $@ $<
$(CN)/look-glibc: $(srcdir)/test/binfmt/look.c
	@mkdir -p $(@D)
	$(call quiet,CC)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -o $@ $<

check-containers: all $(containers_programs)
	$(Q)$(run_tests) $(abspath $(srcdir))/test/containers/test_containers.sh \
		$(abspath $(srcdir))/test/containers/test_engines.sh \
		$(abspath $(srcdir))/test/containers/test_migration.sh

CHECK_ALL_TARGETS += check-containers

.PHONY: check-containers
#: check-containers entrypoints, hook and runtime, by runc, podman, docker, containerd and nspawn; CRIU
