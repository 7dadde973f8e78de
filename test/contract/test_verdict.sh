#!/bin/bash
# what execve runs and refuses, hwcap-exec runs and refuses
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
# A copy: the tree may be out of reach of another user, who runs it as well.
work=$(mktemp -d) || exit 125
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cp "$builddir/hwcap-exec" "$work/"
"$builddir/obj/test/contract/verdict" -v -x "$srcdir/test/verdict-exceptions" \
	-w "$work/hwcap-exec --engine=loader --"
