# lib.sh - what the shell tests share: TAP, the programs under test, waiting
# shellcheck shell=bash disable=SC2034
#
# A test sources this, calls the functions below, and ends with done_testing.
# Variables set here: HWCAP_EXEC, HWCAPCTL (the built programs), tmp (a
# directory of its own, removed at the end). test/run gives srcdir, builddir,
# ARCH, CC, MUSL_CC, READELF, STRIP, OBJCOPY.
set -u
# The distribution's programs, not what a user's version manager puts first.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

: "${srcdir:=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}" "${builddir:=$PWD}"
: "${HWCAP_EXEC:=$builddir/hwcap-exec}" "${HWCAPCTL:=$builddir/hwcapctl}"
: "${CC:=gcc}" "${READELF:=readelf}" "${STRIP:=strip}" "${OBJCOPY:=objcopy}" "${ARCH:=x86_64}"

tmp=$(mktemp -d "${TMPDIR:-/tmp}/hwcap-test.XXXXXX")
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

tests=0 failures=0

pass()
{
	tests=$((tests + 1))
	echo "ok $tests - $*"
}

fail()
{
	tests=$((tests + 1)) failures=$((failures + 1))
	echo "not ok $tests - $*"
}

# skip NAME REASON: only for what the machine cannot do, never for what a
# package would bring.
skip()
{
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# Indent FILE... as TAP comments.
show()
{
	sed 's/^/#   /' "$@"
}

# ok NAME COMMAND...: the command succeeds.
ok()
{
	local name=$1 status
	shift
	"$@" >"$tmp/ok.out" 2>&1
	status=$?
	if [ $status = 0 ]; then
		pass "$name"
	else
		fail "$name"
		echo "#   exit status $status of: $*"
		show "$tmp/ok.out"
	fi
}

# is NAME GOT WANTED: the strings are equal.
is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		printf 'got:    %s\nwanted: %s\n' "$2" "$3" | show
	fi
}

# like NAME GOT ERE: the string matches.
like()
{
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		pass "$1"
	else
		fail "$1"
		printf 'got:  %s\nlike: %s\n' "$2" "$3" | show
	fi
}

# exits NAME STATUS COMMAND...: ends with STATUS; output is in $tmp/out and
# $tmp/err.
exits()
{
	local name=$1 wanted=$2 got
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	is "$name" "$got" "$wanted"
	[ "$got" = "$wanted" ] || show "$tmp/err"
}

# wait_for SECONDS COMMAND...: poll until the command succeeds.
wait_for()
{
	local until=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		if read -rt 0.05 <> <(:); then
			return 1 # cannot be: nothing writes there
		fi
	done
}

bail_out()
{
	echo "Bail out! $*"
	exit 1
}

done_testing()
{
	echo "1..$tests"
	[ $failures = 0 ] && [ $tests != 0 ]
	exit
}
