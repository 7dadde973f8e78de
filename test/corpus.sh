#!/bin/bash
# corpus.sh - every installed program on --version or --help, native against masked
#
# CORPUS_WRAPPER overrides how programs are wrapped, CORPUS_MIN how many there must be.
. "$(dirname "$0")/lib.sh"

# Rearranging mounts needs root, here or in a user namespace of its own.
if [ "$(id -u)" != 0 ] && ! unshare --map-root-user --mount true 2>/dev/null; then
	skip "corpus" "neither root nor allowed to make user namespaces"
	done_testing
fi
read -ra wrapper <<<"${CORPUS_WRAPPER-$HWCAP_EXEC --mask all --}"

# The comparison has to see that this is not what cat does.
if python3 "$srcdir/test/corpus.py" --only cat --min 1 -- /bin/echo >"$tmp/out" 2>&1; then
	bail_out "a wrapper that only echoes passed"
fi
grep -q '^not ok.*/cat' "$tmp/out" || bail_out "a wrapper that only echoes went wrong otherwise: $(tail -n 1 "$tmp/out")"

python3 "$srcdir/test/corpus.py" --jobs 2 --min "${CORPUS_MIN:-600}" -- "${wrapper[@]}"
