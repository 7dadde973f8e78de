#!/bin/bash
# test_diff.sh - differential fuzzing, its quick form, and that it can fail
. "$(dirname "$0")/../lib.sh"

diff=$builddir/obj/test/fuzz/diff
common="$HWCAP_EXEC --no-cgroup --mask=AT_HWCAP=0x201"
wrapper="$common --engine=loader --"

if ! unshare --mount --pid --net --ipc --uts --fork true 2>/dev/null; then
	skip "differential fuzzing" "unable to make namespaces (not root, or a chroot?)"
	done_testing
fi

# clean NAME WRAPPER ARGUMENT...: no difference
clean()
{
	local name=$1 words=$2
	shift 2
	if "$diff" -m 0x201 -w "$words" -x "$srcdir/test/fuzz/exceptions" "$@" >"$tmp/diff.out" 2>&1; then
		pass "$name: $(tail -n 1 "$tmp/diff.out")"
	else
		fail "$name"
		grep -v '^ok' "$tmp/diff.out" | head -n 60 | show
	fi
}

# engine NAME COUNT WRAPPER ARGUMENT...: regressions, and COUNT mutants
engine()
{
	local name=$1 count=$2
	shift 2
	clean "$name: regressions" "$@" -r "$srcdir/test/fuzz/regressions"
	clean "$name: $count mutants" "$@" -n "$count" -s "${FUZZ_SEED:-20240229}" -j 2
}
engine "loader" 5000 "$wrapper"
engine "trace" 2000 "$common --engine=trace --" -u
engine "follow" 1000 "$common --follow --" -u
engine "follow, a descendant" 1000 "$common --follow --" -c

# Every known difference is there, and is taken for what it is.
declare -A how=([loader]="$wrapper" [trace]="$common --engine=trace --" [follow]="$common --follow --" [child]="$common --follow --")
declare -A also=([loader]=-v [trace]=-uv [follow]=-uv [child]=-cv)
while read -r kind engine line; do
	like "limit: $kind, $engine: $line" \
		"$(echo "$line" | "$diff" -m 0x201 "${also[$engine]}" -w "${how[$engine]}" -x "$srcdir/test/fuzz/exceptions" -r - 2>&1)" \
		"^ok - .* # known: $kind\$"
done < <(grep -v '^#' "$srcdir/test/fuzz/limits")
is "all of them" "$(grep -v '^#' "$srcdir/test/fuzz/limits" | cut -d ' ' -f 1 | sort -u)" \
	"$(grep -v '^#' "$srcdir/test/fuzz/exceptions" | cut -d ' ' -f 1 | sort -u)"

"$diff" -u -m 1 -w "$common --follow --" -n 20 -s 1 >"$tmp/diff.out" 2>&1
is "another mask is found out, untraced" "$?" 1
like "and named" "$(cat "$tmp/diff.out")" '^not ok - mutant [0-9]+ of seed 1: auxv 16 '

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
