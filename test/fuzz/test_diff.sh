#!/bin/bash
# test_diff.sh - differential fuzzing, its quick form, and that it can fail
. "$(dirname "$0")/../lib.sh"

diff=$builddir/obj/test/fuzz/diff
wrapper="$HWCAP_EXEC --engine=loader --no-cgroup --"

if ! unshare --mount --pid --net --ipc --uts --fork true 2>/dev/null; then
	skip "differential fuzzing" "unable to make namespaces (not root, or a chroot?)"
	done_testing
fi

# clean NAME ARGUMENT...: no difference
clean()
{
	local name=$1
	shift
	if "$diff" -w "$wrapper" -x "$srcdir/test/fuzz/exceptions" "$@" >"$tmp/diff.out" 2>&1; then
		pass "$name: $(tail -n 1 "$tmp/diff.out")"
	else
		fail "$name"
		grep -v '^ok' "$tmp/diff.out" | head -n 60 | show
	fi
}

clean "regressions" -r "$srcdir/test/fuzz/regressions"
clean "5000 mutants" -n 5000 -s "${FUZZ_SEED:-20240229}" -j 2

# A wrapper that lets the kernel execute, but not quite what it was given.
cat >"$tmp/wrong.c" <<'C'
#include <unistd.h>
int main(int argc, char **argv)
{
	return argc < 2 || execve(argv[1], argv + 1, (char *[]){ "VARIABLE=other", 0 });
}
C
$CC -O1 -static -o "$tmp/wrong" "$tmp/wrong.c"
"$diff" -w "$tmp/wrong" -n 30 -s 1 >"$tmp/diff.out" 2>&1
is "another environment is found out" "$?" 1
like "and named" "$(cat "$tmp/diff.out")" '^not ok - mutant [0-9]+ of seed 1: '
like "and reduced to a line to run again" "$(cat "$tmp/diff.out")" '^base=[a-z]'

"$diff" -w "$wrapper" -n 40 -s 9 -v 2>&1 | grep '^ok\|^base' >"$tmp/first"
"$diff" -w "$wrapper" -n 40 -s 9 -v 2>&1 | grep '^ok\|^base' >"$tmp/second"
is "the same seed gives the same mutants" "$(cat "$tmp/first")" "$(cat "$tmp/second")"

done_testing
