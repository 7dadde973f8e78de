#!/bin/sh
# shellcheck disable=SC3043,SC2086 # busybox has local; lists of words
# rows.sh - the process contract in a guest: native against masked
#
# Runs in the guest's busybox. PROGRAMS is the directory of the contract's
# programs, ENGINE the option that says how they are masked. Every probe in a few
# situations; prints what compare prints, and as its last line "rows PASSED
# FAILED PROGRAMS".
set -u
: "${PROGRAMS:=/contract}" "${HWCAP_EXEC:=/bin/hwcap-exec}" "${MASK:=}" "${VARIANTS:=*}"
: "${SITUATIONS:=aslr fixed arguments nobody unlimited script layout}" "${EXCEPTIONS:=/exceptions}"
: "${LAYOUT_RUNS:=200}" "${ENGINE:=--engine=loader}"
work=$(mktemp -d)
chmod 1777 "$work"
rows=0 failed=0 programs=0
export PROBE_OUT="$work/out" PROBE_PPID=0000000000 PROBE_PID=0000000000
cd / || exit 1
touch "$work/used"

# run SITUATION COMMAND... PROGRAM
run()
{
	local situation=$1
	shift
	case $situation in
	aslr) as plain "$@" ;;
	arguments) as plain "$@" '' -- --mask=all ' ' -x 'a b' ;;
	fixed | nobody | unlimited) as "$situation" "$@" ;;
	nobody-fixed | blocked-fixed) as fixed as "${situation%-*}" "$@" ;;
	*) echo "rows.sh: unknown situation $situation" >&2; return 125 ;;
	esac
}

# report FILE COMMAND...: as the contract's runner does
report()
{
	local to=$1
	shift
	rm -f "$PROBE_OUT"
	(run "$@") >"$work/stdout" 2>"$work/stderr" </dev/null
	status=$?
	if [ -s "$PROBE_OUT" ]; then mv "$PROBE_OUT" "$to"; else mv "$work/stdout" "$to"; fi
}

# pair VARIANT SITUATION NAME PROGRAM
pair()
{
	local native
	report "$work/native" "$2" "$4"
	native=$status
	report "$work/masked" "$2" $HWCAP_EXEC $ENGINE --exact ${MASK:+--mask=$MASK} -- "$4"
	programs=$((programs + 1))
	# What dies as soon as it is executed may as well be refused.
	if [ "$native" = 139 ] && [ "$status" = 126 ]; then
		rows=$((rows + 1))
		return
	fi
	if [ "$native" != "$status" ] || [ "$native" != 0 ]; then
		echo "not ok - $1 $3 runs: native $native, masked $status: $(head -c 200 "$work/stderr")"
		failed=$((failed + 1))
		return
	fi
	"$PROGRAMS/compare" "$1" "$3" "$work/native" "$work/masked" "$MASK" "$EXCEPTIONS" "$work/used" \
		>"$work/result" 2>&1
	# 0 and 1 are verdicts; anything else compared nothing.
	if [ $? -gt 1 ] || ! grep -q '^ok' "$work/result"; then
		echo "not ok - $1 $3: no comparison" >>"$work/result"
	fi
	count
}

# count: what is in $work/result
count()
{
	rows=$((rows + $(grep -c '^ok' "$work/result")))
	failed=$((failed + $(grep -c '^not ok' "$work/result")))
	grep -v '^ok' "$work/result"
}

# layout VARIANT PROGRAM: where many runs place things
layout()
{
	export PROBE_LAYOUT=1
	: >"$PROBE_OUT"
	as "$LAYOUT_RUNS" "$2" && mv "$PROBE_OUT" "$work/native" && : >"$PROBE_OUT" &&
		as "$LAYOUT_RUNS" $HWCAP_EXEC --engine=loader -- "$2" && mv "$PROBE_OUT" "$work/masked" &&
		"$PROGRAMS/layout" "$1" "$work/native" "$work/masked" >"$work/result"
	grep -q '^ok' "$work/result" || echo "not ok - $1 layout: no comparison" >>"$work/result"
	unset PROBE_LAYOUT
	programs=$((programs + LAYOUT_RUNS))
	count
}

for program in "$PROGRAMS"/probe-*; do
	variant=${program##*/probe-}
	# shellcheck disable=SC2254 # a pattern
	case $variant in
	$VARIANTS) ;;
	*) continue ;;
	esac
	for situation in $SITUATIONS; do
		if [ "$situation" = layout ]; then
			case $variant in
			glibc-pie | bare-static | bare-static-pie) ;;
			*) continue ;;
			esac
			layout "$variant" "$program"
		elif [ "$situation" = script ]; then
			case $variant in
			glibc-pie | bare-static | musl-static-pie) ;;
			*) continue ;;
			esac
			printf '#! %s  one argument \nnot read\n' "$program" >"$work/script"
			chmod 755 "$work/script"
			pair "$variant" aslr script "$work/script"
		else
			pair "$variant" "$situation" "$situation" "$program"
		fi
	done
done
echo "rows $rows $failed $programs"
[ $failed = 0 ] && [ $rows != 0 ]
