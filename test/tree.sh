#!/bin/bash
# tree.sh - rules about the source text that no compiler checks
. "$(dirname "$0")/lib.sh"

cd "$srcdir" || bail_out "no source directory"

# none NAME PATTERN FILE...: no line matches.
none()
{
	local name=$1 pattern=$2 found
	shift 2
	found=$(grep -nE -- "$pattern" "$@" /dev/null)
	is "$name" "$found" ""
}

mapfile -t generic < <(find loader shim include -name '*.[chS]')
mapfile -t sources < <(find loader shim include arch -name '*.[chS]')
mapfile -t scripts < <(find test .ci -type f ! -name '*.tsv' ! -path test/tree.sh)

none "no architecture conditional outside arch/" \
	'^[[:space:]]*#[[:space:]]*(el)?if.*(__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__powerpc|__PPC|__riscv|__BYTE_ORDER__)' \
	"${generic[@]}"
none "no waiting by the clock in tests" '(^|[^_[:alnum:]])(u?sleep|nanosleep) [0-9]+([^ 0-9]| [^&]|$)' "${scripts[@]}"
none "no failure is waved through in tests" '\|\|[[:space:]]*(true|:)([[:space:];)]|$)' "${scripts[@]}"
none "no unfinished places" 'TO''DO|FIX''ME|(^|[^X])X''XX([^X]|$)' "${scripts[@]}" "${sources[@]}"
none "no trailing blanks" '[[:blank:]]$' "${sources[@]}"
none "indentation is by tabs" '^ {8}' "${sources[@]}"

long=$(wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }')
is "no source file over 600 lines" "$long" ""
headers=$(for header in include/*.h; do
	[ "$(head -c 2 "$header")" = '/*' ] || echo "$header"
done)
is "every header opens with what it promises" "$headers" ""

# Rules can be broken: each pattern must find what it is there for.
printf '#ifdef __x86_64__\n' >"$tmp/bad.c"
grep -qE '^[[:space:]]*#[[:space:]]*(el)?if.*__x86_64__' "$tmp/bad.c" && pass "the search finds" || fail "the search finds"

done_testing
