#!/bin/sh
# shellcheck disable=SC3043 # busybox has local
# feature.sh - what hwcap-exec is for, in a guest: programs take another path
#
# FEATURE and MASK, its number, are what is hidden from /bin/dispatch, which
# runs its instruction where it finds it; with LACKS=yes this processor has
# none. TARGET is as in check.
set -u
: "${FEATURE:?}" "${MASK:?}" "${TARGET:?}" "${LACKS:=no}"

fail()
{
	echo "not ok - $*"
	exit 1
}

masked()
{
	local spec="$1"
	shift
	hwcap-exec --engine=loader --mask="$spec" -- "$@"
}

# differs NAME NATIVE MASKED: or is the same, where there is nothing to hide
differs()
{
	echo "# $1: native $(echo "$2" | head -c 100 | tr '\n' ' ')| masked $(echo "$3" | head -c 100 | tr '\n' ' ')"
	case $2-$3 in
	-* | *-) fail "$1: says nothing" ;;
	esac
	if [ "$LACKS" = yes ]; then
		[ "$2" = "$3" ] || fail "$1: nothing to hide, but a difference"
	else
		[ "$2" != "$3" ] || fail "$1: the mask changes nothing"
	fi
}

# Signals reach a program whose ABI is not ours (ppc64).
handler >/dev/null || fail "signal handlers, natively"
masked none /bin/handler >/dev/null || fail "signal handlers, masked"

# One of ours, by number and by name.
native=$(dispatch) || fail "dispatch, natively: $native"
hidden=$(hwcap-exec --engine=loader --exact --mask="$MASK" -- /bin/dispatch) || fail "dispatch, masked: $hidden"
differs dispatch "$native" "$hidden"
case $hidden in
*without*) ;;
*) fail "dispatch, masked: $hidden" ;;
esac
[ "$(masked "$FEATURE" /bin/dispatch)" = "$hidden" ] || fail "dispatch, $FEATURE masked by name"

# Where there is such a register, dump tells what it says.
if [ "$TARGET" = arm64 ]; then
	hwcapctl dump --force >/tmp/dump || fail "hwcapctl dump"
	grep '^other .*\(zva\|line\)' /tmp/dump | sed 's/^/# /'
	for fact in dc-zva dcache-line-min icache-line-min; do
		grep -q "^other $fact [0-9]*\$" /tmp/dump || fail "dump has $fact"
	done
fi

# --enforce: what is hidden traps, in the program and in what it starts.
if [ "$TARGET" = riscv ] && [ "$native" = "with v" ]; then
	[ "$(masked v /bin/dispatch force)" = "with v" ] || fail "a mask alone is advice"
	for engine in loader trace; do
		hwcap-exec --engine=$engine --enforce --mask=v -- /bin/dispatch force
		[ $? = 132 ] || fail "--enforce, $engine: it traps"
		words=$(hwcap-exec --engine=$engine --enforce --mask=v -- \
			sh -c 'dispatch; dispatch force; echo $?' 2>&1 | grep -v Illegal | tr '\n' ' ')
		[ "$words" = "without v 132 " ] || fail "--enforce, $engine: inherited"
		[ "$(hwcap-exec --engine=$engine --enforce --mask=none -- /bin/dispatch)" = "with v" ] ||
			fail "--enforce, $engine: nothing hidden, nothing off"
	done
	echo "# --enforce: the vector unit is off"
elif [ "$TARGET" = riscv ]; then
	hwcap-exec --engine=loader --enforce --mask=v -- true || fail "--enforce without a vector unit"
fi

# glibc's functions in several variants.
if [ -x /bin/chosen ]; then
	native=$(chosen /bin/chosen) || fail "chosen, natively"
	case $TARGET in
	arm64)
		hidden=$(masked sve /bin/chosen /bin/chosen)
		differs "string functions without sve" "$native" "$hidden"
		case $native-$hidden in
		*sve*-*sve*) fail "string functions: SVE is used without sve" ;;
		esac ;;
	*)
		LACKS=no
		hidden=$(masked arch_2_07 /bin/chosen /bin/chosen)
		differs "string functions without arch_2_07" "$native" "$hidden"
		case $hidden in
		*power[89]* | *power10*) fail "string functions: POWER8's are used without arch_2_07" ;;
		esac ;;
	esac
	[ "$(masked none /bin/chosen /bin/chosen)" = "$native" ] || fail "string functions: other ones under no mask"
fi

# OpenSSL's own words for what it found: bit 2 is AES (arm64), vcrypto (ppc64).
if [ -x /bin/openssl ]; then
	case $TARGET in
	arm64) feature=aes ;;
	*) feature=vcrypto ;;
	esac
	LACKS=no
	native=$(openssl info -cpusettings 2>&1) || fail "openssl, natively: $native"
	hidden=$(masked $feature /bin/openssl info -cpusettings 2>&1) || fail "openssl, masked: $hidden"
	differs "openssl without $feature" "$native" "$hidden"
	[ $((0x${native##*=0x} & 4)) = 4 ] || fail "openssl does not find $feature"
	[ $((0x${hidden##*=0x} & 4)) = 0 ] || fail "openssl finds $feature"
	echo abc >/tmp/abc
	for command in "dgst -sha256" "enc -aes-128-ctr -K 00 -iv 00"; do
		# shellcheck disable=SC2086 # words
		openssl $command </tmp/abc >/tmp/native 2>/dev/null || fail "openssl $command, natively"
		# shellcheck disable=SC2086 # words
		masked all /bin/openssl $command </tmp/abc >/tmp/hidden 2>/dev/null ||
			fail "openssl $command, masked"
		[ -s /tmp/native ] || fail "openssl $command says nothing"
		[ "$(md5sum </tmp/native)" = "$(md5sum </tmp/hidden)" ] ||
			fail "openssl $command gives something else with all masked"
	done
fi
exit 0
