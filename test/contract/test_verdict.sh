#!/bin/bash
# what execve runs and refuses, hwcap-exec runs and refuses
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
exec "$builddir/obj/test/contract/verdict" -v -x "$srcdir/test/verdict-exceptions" \
	-w "$builddir/hwcap-exec --engine=loader --"
