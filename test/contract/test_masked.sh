#!/bin/bash
# the process contract with bits hidden: those, and nothing else, differ
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
exec "$srcdir/test/contract/run" -v -b "$builddir/obj/test" -l 0 \
	-w "$builddir/hwcap-exec --engine=loader --" \
	-m AT_HWCAP=0x201,AT_HWCAP2=0x2 -S "@(aslr|fixed|nobody|userns|pid1)"
