#!/bin/bash
# corpus.sh - every installed program on --version or --help, native against masked
#
# CORPUS_WRAPPER overrides how programs are wrapped, CORPUS_MIN how many there must be.
. "$(dirname "$0")/lib.sh"

# Rearranging mounts needs root, here or in a user namespace of its own.
user=--map-root-user
[ "$(id -u)" != 0 ] || user=
# shellcheck disable=SC2086 # nothing, or an option
if ! unshare $user --mount --net --pid --fork true 2>"$tmp/err"; then
	skip "corpus" "no namespaces to run it in: $(cat "$tmp/err")"
	done_testing
fi
read -ra wrapper <<<"${CORPUS_WRAPPER-$HWCAP_EXEC --mask all --}"

# The comparison has to see that this is not what cat does.
if python3 "$srcdir/test/corpus.py" --only cat --min 1 -- /bin/echo >"$tmp/out" 2>&1; then
	bail_out "a wrapper that only echoes passed"
fi
grep -q '^not ok.*/cat' "$tmp/out" || bail_out "a wrapper that only echoes went wrong otherwise: $(tail -n 1 "$tmp/out")"

python3 "$srcdir/test/corpus.py" --jobs 2 --min "${CORPUS_MIN:-600}" -- "${wrapper[@]}"
