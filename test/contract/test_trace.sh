#!/bin/bash
# every row of the process contract under a tracer; the layout is the kernel's own
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
exec "$srcdir/test/contract/run" -v -b "$builddir/obj/test" -l 0 \
	-x "$(cd "$srcdir" && pwd)/test/contract/exceptions-trace" \
	-w "$builddir/hwcap-exec --no-cgroup --engine=trace --"
