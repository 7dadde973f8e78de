#!/bin/bash
# arch/gen-hwcap.awk: what it refuses, and that every awk gives the same table
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

gen=$srcdir/arch/gen-hwcap.awk
header=$'entry\tbit\tmacro\tname\timplies\tsource'

# table ROW...: a table of features whose fields are separated by blanks
table()
{
	echo "$header"
	printf '%s\n' "$@" | tr ' ' '\t'
}

# refuses NAME TEXT ROW...: awk fails with TEXT, and prints no table
refuses()
{
	local name=$1 text=$2
	shift 2
	table "$@" >"$tmp/hwcap.tsv"
	exits "$name: fails" 1 awk -v arch=test -f "$gen" "$tmp/hwcap.tsv"
	like "$name: says why" "$(cat "$tmp/err")" "$text"
	is "$name: prints nothing" "$(cat "$tmp/out")" ""
}

good='AT_HWCAP 0 M_A a - src'
refuses "bit 64" "bad bit '64'" "AT_HWCAP 64 M a - src"
refuses "bit -1" "bad bit '-1'" "AT_HWCAP -1 M a - src"
refuses "bit x" "bad bit 'x'" "AT_HWCAP x M a - src"
refuses "unknown entry" "unknown entry" "AT_HWCAP5 0 M a - src"
refuses "missing field" "6 fields" "AT_HWCAP 0 M a -"
refuses "no source" "source" "AT_HWCAP 0 M a - -"
refuses "upper-case name" "bad name" "AT_HWCAP 0 M Abc - src"
refuses "name with comma" "bad name" "AT_HWCAP 0 M a,b - src"
refuses "name too long" "bad name" "AT_HWCAP 0 M abcdefghijklmnopqr - src"
refuses "name of the grammar" "grammar" "AT_HWCAP 0 M all - src"
refuses "same name" "'a' is there twice" "$good" "AT_HWCAP2 0 M_B a - src"
refuses "same bit" "bit 0 of AT_HWCAP is there twice" "$good" "AT_HWCAP 0 M_B b - src"
refuses "same bit spelt otherwise" "there twice" "$good" "AT_HWCAP 00 M_B b - src"
refuses "same macro" "'M_A' is there twice" "$good" "AT_HWCAP 1 M_A b - src"
refuses "unknown implies" "implies 'zz', which is unknown" "AT_HWCAP 0 M a zz src"
refuses "implies itself" "implies itself" "AT_HWCAP 0 M a a src"

table "$good" >"$tmp/hwcap.tsv"
for row in "b1 a:3 fields" "b1 zz src:unknown feature 'zz'" "b1 @b2 src:unknown baseline" \
	"b1 @b1 src:unknown baseline" "b1 a -:source"; do
	printf 'baseline\tfeatures\tsource\n%s\n' "$(echo "${row%%:*}" | tr ' ' '\t')" >"$tmp/baselines.tsv"
	exits "baseline '${row%%:*}' fails" 1 awk -v arch=test -f "$gen" "$tmp/hwcap.tsv" "$tmp/baselines.tsv"
	like "baseline '${row%%:*}' says why" "$(cat "$tmp/err")" "${row##*:}"
done
exits "baselines before features" 1 awk -v arch=test -f "$gen" "$tmp/baselines.tsv" "$tmp/hwcap.tsv"
exits "no architecture" 1 awk -f "$gen" "$tmp/hwcap.tsv"

# A cycle is two names for one thing: each hides and needs the other.
table "AT_HWCAP 0 M_A a b src" "AT_HWCAP 1 M_B b a src" >"$tmp/hwcap.tsv"
exits "a cycle ends" 0 awk -v arch=test -f "$gen" "$tmp/hwcap.tsv"
is "a cycle has both links" "$(grep -cE '\{ (0, 1|1, 0) \}' "$tmp/out")" 2
printf 'baseline\tfeatures\tsource\nb1\ta\tsrc\n' >"$tmp/baselines.tsv"
exits "a baseline in a cycle ends" 0 awk -v arch=test -f "$gen" "$tmp/hwcap.tsv" "$tmp/baselines.tsv"
is "a cycle closes over both" "$(grep -c '0x0000000000000003' "$tmp/out")" 1

for arch in x86_64 arm64 ppc64 riscv; do
	inputs=("$srcdir/arch/$arch/hwcap.tsv")
	for more in baselines unadvertised; do
		[ ! -e "$srcdir/arch/$arch/$more.tsv" ] || inputs+=("$srcdir/arch/$arch/$more.tsv")
	done
	awk -v arch=$arch -f "$gen" "${inputs[@]}" >"$tmp/reference.h"
	for awk in mawk "gawk --posix" original-awk "busybox awk"; do
		command -v "${awk%% *}" >/dev/null || continue
		# shellcheck disable=SC2086 # a command and its argument
		$awk -v arch=$arch -f "$gen" "${inputs[@]}" >"$tmp/other.h"
		ok "$arch: $awk gives the same table" cmp "$tmp/reference.h" "$tmp/other.h"
	done
	ok "$arch: the table compiles by itself" "$CC" -std=c11 -Wall -Wextra -Werror -fsyntax-only \
		-I"$srcdir/include" -x c "$tmp/reference.h" -Wno-unused-const-variable
	is "$arch: what is implied has a source" "$(awk -F '\t' 'NR > 1 && $5 !~ /^[-*]$/ && $6 !~ /; implies: ./ {
		print $4 }' "$srcdir/arch/$arch/hwcap.tsv")" ""
	rows=$(awk -F '\t' 'NR > 1 && !/^#/' "$srcdir/arch/$arch/hwcap.tsv" | wc -l)
	like "$arch: every row is there" "$(cat "$tmp/reference.h")" "t->count = $rows;"
done
# A larger value of an ID register's field includes what a smaller one stands for
# (Arm ARM, D24.1.3): of two features of one field, one implies the other.
is "arm64: features of one field are ordered" "$(awk -F '\t' '
	NR == 1 || /^#/ { next }
	{
		n = split($5, list, ",")
		for (i = 1; i <= n; i++)
			up[$4, list[i]] = 1
		names[++count] = $4
		if (split($6, part, "ID_") == 2)
			field[$4] = part[2]
	}
	END {
		for (k = 1; k <= count; k++)
			for (i = 1; i <= count; i++)
				if ((names[i], names[k]) in up)
					for (j = 1; j <= count; j++)
						if ((names[k], names[j]) in up)
							up[names[i], names[j]] = 1
		for (i = 1; i <= count; i++)
			for (j = 1; j < i; j++)
				if (names[i] in field && field[names[i]] == field[names[j]] &&
				    !((names[i], names[j]) in up) && !((names[j], names[i]) in up))
					print names[i], names[j], field[names[i]]
	}' "$srcdir/arch/arm64/hwcap.tsv")" ""
done_testing
