#!/bin/bash
# the tests of the contract can fail
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=$PWD}"
exec "$srcdir/test/contract/self-test" "$builddir/obj/test"
