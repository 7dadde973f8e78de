#!/bin/bash
# output.sh - hwcap-exec where its output cannot be written, and what --dry-run says
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

for what in --help --version "--dry-run /bin/true"; do
	# shellcheck disable=SC2086
	exits "$what into a full disk: status" 125 sh -c 'exec "$@" >/dev/full' sh "$HWCAP_EXEC" $what
	like "$what into a full disk: says why" "$(cat "$tmp/err")" '^hwcap-exec: .*No space left'
	is "$what into a full disk: in one line" "$(wc -l <"$tmp/err")" 1
	# shellcheck disable=SC2086
	exits "$what with standard output closed" 125 sh -c 'exec "$@" >&-' sh "$HWCAP_EXEC" $what
done
is "--dry-run finds what only a later directory of PATH has" \
	"$(PATH=/nonexistent:$PATH "$HWCAP_EXEC" -n true | head -n 1)" "program $(type -P true)"

# dry NAME ENGINE PLAN COMMAND...: says ENGINE, with PLAN lines of a plan
dry()
{
	local name=$1 engine=$2 plan=$3
	shift 3
	exits "--dry-run, $name" 0 "$@"
	is "--dry-run, $name: engine" "$(sed -n 's/^engine //p' "$tmp/out")" "$engine"
	is "--dry-run, $name: plan" "$(grep -c '^load \|^interp ' "$tmp/out")" "$plan"
	is "--dry-run, $name: mask" "$(grep ^mask "$tmp/out")" "mask AT_HWCAP=0x1"
	like "--dry-run, $name: vector" "$(cat "$tmp/out")" '^AT_HWCAP 0x[0-9a-f]+ -> 0x'
}
n=(-n --no-cgroup --exact --mask=AT_HWCAP=1)
dry "the loader" loader 2 "$HWCAP_EXEC" -e loader "${n[@]}" true
dry "a tracer" trace 0 "$HWCAP_EXEC" -e trace "${n[@]}" true
dry "followed" trace 0 "$HWCAP_EXEC" -f "${n[@]}" true
printf '\177ELF\1\1\1%057d' 0 >"$tmp/narrow"
chmod 755 "$tmp/narrow"
dry "a 32-bit program" trace 0 "$HWCAP_EXEC" "${n[@]}" "$tmp/narrow"
is "it is the program" "$(head -n 1 "$tmp/out")" "program $tmp/narrow"
exits "--dry-run, a 32-bit program and the loader" 126 "$HWCAP_EXEC" -e loader "${n[@]}" "$tmp/narrow"
printf '\0\1' >"$tmp/other"
chmod 755 "$tmp/other"
exits "--dry-run, no program" 126 "$HWCAP_EXEC" "${n[@]}" "$tmp/other"
if [ "$(id -u)" = 0 ]; then
	cp "$(type -P true)" "$tmp/setid"
	chown 1 "$tmp/setid"
	chmod 4755 "$tmp/setid"
	dry "a set-id program" trace 0 "$HWCAP_EXEC" "${n[@]}" "$tmp/setid"
	cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
	if [ "$("$HWCAP_EXEC" -n true | grep ^engine)" = "engine loader" ]; then
		dry "unprivileged" "trace, or loader in a copy where there is no ptrace" 2 setpriv --reuid=65534 --regid=65534 --clear-groups \
			env -- "$tmp/hwcap-exec" "${n[@]}" true
	else
		skip "--dry-run, unprivileged" "a security module is active, or root cannot set the link"
	fi
else
	skip "--dry-run, a set-id program" "needs root to make one"
fi

# Control bytes of a name reach no terminal; a line stays one.
odd=$'new\nline\033[31m'
seen=new.012line.033.31m
mkdir "$tmp/$odd"
cp "$(type -P true)" "$tmp/$odd/program"
printf 'neither\0nor' >"$tmp/$odd/broken"
printf '#!/nonexistent/%s\n' $'\033[31m' >"$tmp/$odd/script"
chmod 755 "$tmp/$odd/broken" "$tmp/$odd/script"
for program in broken script nothing; do
	for engine in loader trace; do
		"$HWCAP_EXEC" -e $engine "$tmp/$odd/$program" 2>"$tmp/err"
		is "$engine, control bytes in the name of what is $program: one line" "$(wc -l <"$tmp/err")" 1
		is "$engine, control bytes, $program: none is printed" "$(tr -d '\n[:print:]' <"$tmp/err")" ""
		like "$engine, control bytes, $program: they are told" "$(cat "$tmp/err")" "^hwcap-exec: $tmp/$seen/$program: "
	done
done
"$HWCAP_EXEC" -v "$tmp/$odd/program" 2>"$tmp/err"
like "--verbose: control bytes" "$(cat "$tmp/err")" "$seen/program, mask none\$"
is "--verbose: one line" "$(wc -l <"$tmp/err")" 1
"$HWCAP_EXEC" -e loader -n "$tmp/$odd/program" $'an\nargument\033' >"$tmp/out"
is "--dry-run: control bytes" "$(grep -c "$seen/program\|an.012argument.033" "$tmp/out")" 4
is "--dry-run: none is printed" "$(tr -d '\n[:print:]' <"$tmp/out")" ""
like "--dry-run: the argument" "$(cat "$tmp/out")" '^argv\[1\] an.012argument.033$'
"$HWCAP_EXEC" --mask=$'sse\a' true 2>"$tmp/err"
like "a SPEC with one" "$(cat "$tmp/err")" "'sse.007'"
exec 9>>"$tmp/$odd/program"
"$HWCAP_EXEC" -e loader "$tmp/$odd/program" 2>"$tmp/err"
like "open for writing, which shows late: control bytes" "$(cat "$tmp/err")" "^hwcap-exec: $tmp/$seen/program: open for writing"
is "open for writing: one line" "$(wc -l <"$tmp/err")" 1
exec 9>&-
"$HWCAPCTL" dump >"$tmp/$odd/dump" && "$HWCAPCTL" common "$tmp/$odd/dump" >"$tmp/out"
is "hwcapctl: in its result" "$(cut -f 1 "$tmp/out")" "$tmp/new\012line\033[31m/dump"

for target in "/dev/full" "&-"; do
	is "--verbose, standard error >$target: the program runs" \
		"$(eval '"$HWCAP_EXEC" --verbose echo ran 2>'"$target")" ran
done
done_testing
