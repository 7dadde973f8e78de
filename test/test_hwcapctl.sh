#!/bin/bash
# hwcapctl list, show, explain: text, JSON, exit statuses
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

ctl=$HWCAPCTL

# misuse NAME TEXT ARG...: exit status 125, TEXT on stderr, stdout empty
misuse()
{
	local name=$1 text=$2
	shift 2
	exits "$name: 125" 125 "$ctl" "$@"
	like "$name: says why" "$(cat "$tmp/err")" "$text"
	is "$name: nothing on stdout" "$(cat "$tmp/out")" ""
}

# json NAME FILTER WANTED ARG...: jq -c FILTER of the output is WANTED
json()
{
	local name=$1 filter=$2 wanted=$3
	shift 3
	"$ctl" "$@" >"$tmp/json" 2>"$tmp/err"
	is "$name" "$(jq -c "$filter" "$tmp/json" 2>&1)" "$wanted"
}

# ---- the program -------------------------------------------------------------
like "--version" "$("$ctl" --version)" '^hwcapctl \(hwcap-exec\) [0-9]+\.[0-9]+'
like "--help names the commands" "$("$ctl" --help)" '^  explain +show what'
for command in list show explain cgroup dump common check matrix; do
	like "$command --help" "$("$ctl" $command --help)" "^Usage: hwcapctl $command "
	is "$command --version" "$("$ctl" $command -V)" "$("$ctl" --version)"
	misuse "$command --nix" "$command: unrecognized option" $command --nix
	exits "$command into a full disk" 1 sh -c "'$ctl' $command --help >/dev/full"
done
misuse "no command" "no command given"
misuse "unknown command" "unknown command 'frob'" frob
misuse "unknown option" "unknown option '--frob'" --frob
misuse "control bytes stay off the terminal" "unknown command 'a.033b'" $'a\033b'

# ---- list ----------------------------------------------------------------------
is "list has a header and every feature" "$("$ctl" list | wc -l)" \
	"$(($("$ctl" list --names | wc -l) + 1))"
json "list --json parses" '.features | length' "$("$ctl" list --names | wc -l)" list --json
json "list --json: types" '[.features[] | [.entry, .bit, .name, .present, .masked | type]] | unique |
	all(.[0] == "string" and .[1] == "number" and .[2] == "string" and .[3] == "boolean")' true \
	list --json
for arch in x86_64 arm64 ppc64 riscv; do
	ok "list --arch=$arch" "$ctl" list --arch=$arch
	json "list --arch=$arch --json" .arch "\"$arch\"" list --arch=$arch --json
done
for pair in amd64:x86_64 aarch64:arm64 ppc64le:ppc64 riscv64:riscv; do
	json "list --arch=${pair%:*}" .arch "\"${pair#*:}\"" list --arch="${pair%:*}" --json
done
foreign=riscv
[ "$ARCH" != riscv ] || foreign=arm64
json "another architecture's features are not known to be present" \
	'[.features[] | .present, .masked] | unique' '[null]' list --arch=$foreign --json
json "names are unique" '[.features[].name] | length == (unique | length)' true list --arch=arm64 --json
ok "baselines" sh -c "'$ctl' list --arch=riscv --baselines | grep -qx @rv64gc"
misuse "list --arch=vax" "unknown architecture 'vax'" list --arch=vax
misuse "list with an argument" "no argument: 'sse'" list sse
misuse "list --json --names" "exclude each other" list --json --names

# present is what the kernel put into the vector
bits=$(od -An -v -tu8 -w16 /proc/self/auxv | awk '$1 == 16 { print $2 }')
json "present is the vector" '[.features[] | select(.entry == "AT_HWCAP" and .present) | .bit]' \
	"$(jq -cn --arg n "$bits" '[range(0; 53) | select((($n | tonumber) / pow(2; .) | floor) % 2 == 1)]')" \
	list --json
if grep -Eq '^(flags|Features)' /proc/cpuinfo; then
	json "nothing is masked in a native run" '[.features[] | .masked] | unique' '[false]' list --json
else
	skip "nothing is masked in a native run" "/proc/cpuinfo lists no features"
fi

if [ "$ARCH" = x86_64 ] && [ -x "$HWCAP_EXEC" ]; then
	"$HWCAP_EXEC" --mask sse2 -- "$ctl" list --json >"$tmp/json"
	is "what hwcap-exec hides is masked, and nothing else" \
		"$(jq -c '[.features[] | select(.masked) | .name]' "$tmp/json")" '["sse2"]'
fi

# ---- show ----------------------------------------------------------------------
vector=$("$ctl" show)
like "show prints a SPEC a line" "$vector" '^AT_HWCAP=0x[0-9a-f]+$'
hex=$(sed -n 's/^AT_HWCAP=//p' <<<"$vector")
is "show agrees with /proc/self/auxv" $((hex)) "$bits"
json "show --json: the words are those of the text" '.entries[0].value' "\"$hex\"" show --json
sleep 100 &
child=$!
json "show PID --json" .pid $child show $child --json
is "show PID is the same vector" "$("$ctl" show $child)" "$vector"
kill $child

# A 32-bit process has a vector of 32-bit pairs, and bits of other meaning.
if [ "$ARCH" = x86_64 ]; then
	cat >"$tmp/narrow.S" <<-'END'
	.globl _start
	_start:	mov $29, %eax	# pause
		int $0x80
		jmp _start
	END
	"$CC" -m32 -nostdlib -static -no-pie -Wl,--build-id=none -o "$tmp/narrow" "$tmp/narrow.S" ||
		bail_out "unable to build a 32-bit program"
	"$tmp/narrow" 2>/dev/null &
	child=$!
	# shellcheck disable=SC2016 # for the inner shell
	if wait_for 10 bash -c '[ "/proc/$0/exe" -ef "$1" ]' $child "$tmp/narrow"; then
		json "show of a 32-bit process" '[.bits, .entries[0].features, .entries[0].unnamed == .entries[0].value]' \
			'[32,[],true]' show $child --json
		is "its text has no names" "$("$ctl" show $child | grep -vc '^AT_HWCAP2*=0x[0-9a-f]*$')" 0
		kill $child
	else
		skip "show of a 32-bit process" "this kernel runs no 32-bit program"
	fi
fi

spec=$("$ctl" show --json | jq -r .spec)
words()
{
	jq -c '.architectures[0].mask' "$tmp/json"
}
"$ctl" explain --json "$spec" >"$tmp/json"
is "show --json .spec is a SPEC" \
	"$(jq -r '.architectures[0].mask | [.AT_HWCAP, .AT_HWCAP2] | join(" ")' "$tmp/json")" \
	"$(sed -n 's/^AT_HWCAP2*=//p' <<<"$vector" | paste -sd ' ')"
numbers=$(grep '^AT_' <<<"$vector" | paste -sd ,)
names=$(grep '^  ' <<<"$vector" | tr -d ' ' | paste -sd ,)
"$ctl" explain --exact --json "$numbers" >"$tmp/json"
first=$(words)
"$ctl" explain --exact --json "$names" >"$tmp/json"
is "names and numbers that show prints mean the same" "$(words)" "$first"
if [ -x "$HWCAP_EXEC" ]; then
	is "--keep with what show prints leaves the vector as it is" \
		"$("$HWCAP_EXEC" --exact --keep "$numbers" -- "$ctl" show)" "$vector"
	is "--mask with what show prints leaves nothing" \
		"$("$HWCAP_EXEC" --mask "$names" -- "$ctl" show | grep -vx 'AT_HWCAP[234]*=0x0')" ""
fi

misuse "show x" "'x' is not a process id" show x
misuse "show 1 2" "one PID" show 1 2
misuse "show ../self" "not a process id" show ../self
misuse "show -1" "unrecognized option" show -1
misuse "show 0" "not a process id" show 0
exits "show of no process: 1" 1 "$ctl" show 999999999
like "show of no process says so" "$(cat "$tmp/err")" "999999999: no such process"

# ---- explain -------------------------------------------------------------------
json "closure of --mask" '[.architectures[0].features[] | [.name, .why]]' \
	'[["sse","named"],["sse2","requires sse"]]' explain --arch=x86_64 --json sse
json "closure of --keep" '[.architectures[0].features[] | [.name, .why]] | sort' \
	'[["fpu","required by sse2"],["fxsr","required by sse2"],["sse","required by sse2"],["sse2","named"]]' \
	explain --arch=x86_64 --keep --json sse2
json "--exact" '[.architectures[0].features[].name]' '["sse"]' explain --arch=x86_64 --exact --json sse
json "mask of --keep" '.architectures[0].mask.AT_HWCAP3' '"0xffffffffffffffff"' \
	explain --arch=x86_64 --keep --json sse
json "arm64: cpuid goes with any mask" \
	'[.architectures[0].features[] | select(.name == "cpuid") | .why]' \
	'["hidden with any mask"]' explain --arch=arm64 --json AT_HWCAP2=0x1
json "arm64: --exact leaves cpuid" '.architectures[0].mask.AT_HWCAP' '"0x0"' \
	explain --arch=arm64 --exact --json AT_HWCAP2=0x1
json "every architecture that SPEC names" '[.architectures[].arch]' '["x86_64","arm64","riscv"]' \
	explain --arch=x86_64 --json 'sse,aarch64:sve,riscv64:v'
json "an unprefixed item that is unknown there" '[.architectures[].errors | length]' '[0,1]' \
	explain --arch=x86_64 --json 'fsgsbase,arm64:sve'
misuse "bad item of another architecture" "arm64: unknown feature 'svee' \(did you mean 'sve'" \
	explain --arch=x86_64 sse,arm64:svee
misuse "bad item of this one" "x86_64: unknown feature 'fsgbase' \(did you mean 'fsgsbase'" \
	explain --arch=x86_64 fsgbase
misuse "unknown architecture in SPEC" "unknown architecture 'vax'" explain vax:sse
misuse "overflow" "does not fit into 64 bits" explain AT_HWCAP=0x10000000000000000
misuse "empty SPEC" "empty item" explain ""
misuse "no SPEC" "one SPEC" explain
misuse "two SPECs" "one SPEC" explain none none
misuse "baseline without --keep" "use it with --keep" explain --arch=x86_64 @x86-64
misuse "feature that no entry tells of" "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F" \
	explain --arch=x86_64 avx512f
like "text: mask line is a SPEC" "$("$ctl" explain --arch=x86_64 sse)" '^  mask AT_HWCAP=0x6000000$'
like "text: no mask" "$("$ctl" explain none)" '^  mask none$'
for arch in x86_64 arm64 ppc64 riscv; do
	"$ctl" list --arch=$arch --names >"$tmp/names"
	ok "every name of $arch is a SPEC" "$ctl" explain --arch=$arch "$(paste -sd , "$tmp/names")"
	for baseline in $("$ctl" list --arch=$arch --baselines); do
		ok "$arch: $baseline" "$ctl" explain --keep --arch=$arch "$baseline"
	done
done
done_testing
