#!/bin/bash
# cluster.sh - dump, common, check, matrix: one feature set for several machines
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

ctl=$HWCAPCTL
own=$tmp/own.dump
exits "dump" 0 "$ctl" dump
cp "$tmp/out" "$own"
is "dump: first line" "$(head -1 "$own")" "hwcap-exec dump 1"
is "dump: last line" "$(tail -1 "$own")" "end"
is "dump: the same again" "$("$ctl" dump)" "$(cat "$own")"
is "dump: values of show" "$(grep ^AT_ "$own" | tr ' ' =)" "$("$ctl" show | grep ^AT_)"
like "dump: page size" "$(cat "$own")" "^other AT_PAGESZ $(getconf PAGESIZE)\$"
exits "dump under a mask refuses" 1 "$HWCAP_EXEC" --no-cgroup --mask=all -- "$ctl" dump
like "dump under a mask: why" "$(cat "$tmp/err")" 'looks like a mask|vector hides it'
first=$("$ctl" matrix | head -1)
exits "dump with one feature hidden refuses" 1 "$HWCAP_EXEC" --no-cgroup --mask="$first" -- "$ctl" dump
exits "dump --force" 0 "$HWCAP_EXEC" --no-cgroup --mask=all -- "$ctl" dump --force
exits "dump of something" 125 "$ctl" dump x

exits "check: this machine has what it has" 0 "$ctl" check "$own"
"$HWCAP_EXEC" --no-cgroup --exact --mask="$first" -- "$ctl" check "$own" >"$tmp/out"
is "check: a hidden feature is missing: 1" $? 1
like "check: says which" "$(cat "$tmp/out")" "^AT_HWCAP2?: missing $first\$"
exits "check of nothing" 1 "$ctl" check "$tmp/nowhere"

# broken NAME SED REASON: a dump that is not one
broken()
{
	sed "$2" "$own" >"$tmp/broken.dump"
	exits "broken dump, $1: 1" 1 "$ctl" check "$tmp/broken.dump"
	like "broken dump, $1: why" "$(cat "$tmp/err")" "$3"
}
broken "cut off" '$d' 'cut off'
broken "of a later version" '1s/1$/2/' 'line 1: no dump of version 1'
broken "architecture" '2s/arch .*/arch vax/' 'line 2: no known architecture'
broken "number" 's/^AT_HWCAP 0x.*/AT_HWCAP 0x1ffffffffffffffff/' 'line 3: no number of 64 bits'
broken "no hexadecimal number" 's/^AT_HWCAP 0x.*/AT_HWCAP 12/' 'line 3: no number of 64 bits'
broken "entry" 's/^AT_HWCAP 0/AT_HWCAP7 0/' 'line 3: unknown line'
broken "more after the end" '$a\
end' 'more after the end'
: >"$tmp/empty"
exits "an empty dump" 1 "$ctl" check "$tmp/empty"
exits "what never ends" 1 timeout 20 "$ctl" check /dev/zero
like "what never ends: why" "$(cat "$tmp/err")" 'line 1: too long'
head -c -1 "$own" >"$tmp/no-newline"
is "no newline at the end" "$("$ctl" common "$tmp/no-newline")" "$tmp/no-newline"$'\t'none

# Three machines: this one without some of its features each.
mapfile -t features < <("$ctl" matrix)
masks=("${features[0]}" "${features[1]}" none)
for i in 0 1 2; do
	"$HWCAP_EXEC" --no-cgroup --exact --mask="${masks[i]}" -- "$ctl" dump --force >"$tmp/$i"
done
"$ctl" common "$tmp"/{0,1,2} >"$tmp/common"
is "common: a line for each" "$(cut -f1 "$tmp/common")" "$(printf '%s\n' "$tmp"/{0,1,2})"
for i in 0 1 2; do
	spec=$(sed -n "$((i + 1))s/.*\t//p" "$tmp/common")
	"$HWCAP_EXEC" --no-cgroup --exact --mask="${masks[i]}" --mask="$spec" -- "$ctl" show >"$tmp/vector.$i"
done
is "common: machine 1 and 2 end up equal" "$(cat "$tmp/vector.0")" "$(cat "$tmp/vector.1")"
is "common: machine 2 and 3 end up equal" "$(cat "$tmp/vector.1")" "$(cat "$tmp/vector.2")"
isnt() { if [ "$2" != "$3" ]; then pass "$1"; else fail "$1"; fi; }
isnt "common: and less than before" "$(cat "$tmp/vector.2")" "$("$ctl" show)"
keep=$("$ctl" common --keep "$tmp"/{0,1,2})
is "common --keep: the same by one SPEC" \
	"$("$HWCAP_EXEC" --no-cgroup --exact --keep="$keep" -- "$ctl" show)" "$(cat "$tmp/vector.0")"
"$ctl" common --dump "$tmp"/{0,1,2} >"$tmp/all.dump"
for i in 0 1 2; do
	"$HWCAP_EXEC" --no-cgroup --exact --mask="${masks[i]}" -- "$ctl" check "$tmp/all.dump" >"$tmp/out" 2>&1
	is "common --dump: machine $i has all of it" $? 0
done
is "common --json" "$("$ctl" common --json "$tmp"/{0,1,2} | jq -r .keep)" "$keep"
is "common of one" "$("$ctl" common "$own")" "$own"$'\t'none
sed 's/^other AT_PAGESZ .*/other AT_PAGESZ 65536/; $i\
other hwprobe-3 0x5' "$tmp/2" >"$tmp/3"
"$ctl" common "$tmp/0" "$tmp/3" >"$tmp/out" 2>"$tmp/err"
like "common warns of what no mask changes" "$(cat "$tmp/err")" 'no mask changes AT_PAGESZ: 4096 in .*, 65536 in'
like "common warns of what one alone has" "$(cat "$tmp/err")" 'no mask changes hwprobe-3: none in .*, 0x5 in'

# Recorded elsewhere: CPUs of an arm64 cluster.
printf '%s\n' 'hwcap-exec dump 1' 'arch arm64' 'AT_HWCAP 0xecfffffb' 'AT_HWCAP2 0x7f877fff' end >"$tmp/arm.max"
printf '%s\n' 'hwcap-exec dump 1' 'arch arm64' 'AT_HWCAP 0x887' 'AT_HWCAP2 0x0' end >"$tmp/arm.a72"
is "common on arm64: no machine keeps cpuid" "$("$ctl" common --keep "$tmp/arm.max" "$tmp/arm.a72")" AT_HWCAP=0x83
is "common on arm64: equal ones keep it" "$("$ctl" common --keep "$tmp/arm.a72" "$tmp/arm.a72")" AT_HWCAP=0x887
sed '$i\
other dc-zva 64' "$tmp/arm.a72" >"$tmp/arm.64"
sed '$i\
other dc-zva 128' "$tmp/arm.a72" >"$tmp/arm.128"
"$ctl" common "$tmp/arm.64" "$tmp/arm.128" >"$tmp/out" 2>"$tmp/err"
like "common warns of DC ZVA" "$(cat "$tmp/err")" 'no mask changes dc-zva: 64 in .*, 128 in'
sed '$i\
other dc-zva 128' "$own" >"$tmp/zva.dump"
"$ctl" check "$tmp/zva.dump" >"$tmp/out" 2>"$tmp/err"
if [ "$ARCH" = arm64 ]; then
	like "dump: DC ZVA and cache lines" "$(cat "$own")" '^other (dc-zva|[di]cache-line-min) [0-9]+$'
else
	like "check warns of DC ZVA" "$(cat "$tmp/err")" 'no mask changes dc-zva: 128 in .*, none in this machine'
fi
exits "common of two architectures" 1 "$ctl" common "$tmp/arm.max" "$own"
like "common of two architectures: why" "$(cat "$tmp/err")" 'nothing in common'
exits "check of another architecture" 1 "$ctl" check "$tmp/arm.max"

for spec in $("$ctl" matrix); do
	"$HWCAP_EXEC" --no-cgroup --mask="$spec" -- "$ctl" show >"$tmp/out" || fail "matrix: $spec"
	! cmp -s "$tmp/out" <("$ctl" show) || fail "matrix: $spec hides nothing"
done
is "matrix --json" "$("$ctl" matrix --json | jq -r '.[]')" "$("$ctl" matrix)"
done_testing
