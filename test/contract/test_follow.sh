#!/bin/bash
# every row of the process contract under a supervisor, and again with bits
# hidden; the layout is the kernel's own
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
run=("$(cd "$srcdir" && pwd)/test/contract/run" -v -b "$builddir/obj/test" -l 0
	-x "$(cd "$srcdir" && pwd)/test/contract/exceptions-follow"
	-w "$builddir/hwcap-exec --follow --")
status=0
"${run[@]}" || status=1
"${run[@]}" -m AT_HWCAP=0x201,AT_HWCAP2=0x2 -S "@(aslr|nobody|userns|pid1)" || status=1
exit $status
