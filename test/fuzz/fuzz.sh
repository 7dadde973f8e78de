#!/bin/bash
# fuzz.sh - run each fuzzer for SECONDS_EACH seconds, from the corpora in the tree
#
# What it finds stays in obj/test/fuzz/found: NAME's new inputs, and the inputs that
# failed, to run again with obj/test/fuzz/fuzz_NAME FILE.
. "$(dirname "$0")/../lib.sh"

: "${SECONDS_EACH:=10}" "${FUZZERS:=elf script spec options cgroup dump binfmt}"
programs=$builddir/obj/test/fuzz

fuzz()
{
	local found=$programs/found/$1 size=$2 status
	mkdir -p "$found"
	"$programs/fuzz_$1" -max_total_time="$SECONDS_EACH" -max_len="$size" -close_fd_mask=3 \
		-print_final_stats=1 -artifact_prefix="$found-failed-" "$found" "$srcdir/test/fuzz/corpus/$1" \
		>"$tmp/$1.log" 2>&1 </dev/null
	status=$?
	echo "$status" >"$tmp/$1.status"
}

sizes=' elf:5120 script:300 spec:300 options:300 cgroup:600 dump:2000 binfmt:600 '
running=0
for name in $FUZZERS; do
	size=${sizes#*" $name:"}
	fuzz "$name" "${size%% *}" &
	running=$((running + 1))
	if [ $running = 2 ]; then
		wait -n
		running=1
	fi
done
wait
for name in $FUZZERS; do
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/$name.log")
	if [ "$(cat "$tmp/$name.status")" = 0 ] && [ "${runs:-0}" -gt 1000 ]; then
		pass "$name: $runs inputs"
	else
		fail "$name: ${runs:-0} inputs, exit status $(cat "$tmp/$name.status")"
		tail -n 40 "$tmp/$name.log" | show
	fi
done

done_testing
