#!/bin/bash
# every row of the process contract, nothing hidden
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
exec "$srcdir/test/contract/run" -v -b "$builddir/obj/test" \
	-w "$builddir/hwcap-exec --engine=loader --"
