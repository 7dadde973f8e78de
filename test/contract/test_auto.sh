#!/bin/bash
# the process contract, bits hidden, unprivileged, by the engine that is chosen there
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
exec "$srcdir/test/contract/run" -v -b "$builddir/obj/test" -l 0 \
	-x "$(cd "$srcdir" && pwd)/test/contract/exceptions-trace" \
	-w "$builddir/hwcap-exec --no-cgroup --" -m AT_HWCAP=0x201,AT_HWCAP2=0x2 \
	-S "@(nobody|nobody_fixed|nobody_nnp|groups|ambient|root_few_caps|securebits|userns_bare)"
