#!/bin/sh
# shellcheck disable=SC3043,SC2086 # busybox has local; lists of words
# yama.sh - kernel.yama.ptrace_scope 0 to 3, in a guest: every run is masked, or refused in one line
#
# MASK hides one feature that this machine has. The scope can only be raised
# to 3 once, which comes last.
set -u
scope=/proc/sys/kernel/yama/ptrace_scope
if ! [ -w $scope ]; then
	echo "# this kernel has no Yama"
	exit 0
fi
masked=$(hwcap-exec --engine=loader --exact --mask="$MASK" -- /bin/hwcapctl show)
failed=0 passed=0
# result NAME GOT WANTED
result()
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok - yama $level, $1: got '$2', wanted '$3'"
	fi
}
runs() # NAME COMMAND...
{
	local name=$1
	shift
	result "$name" "$("$@" 2>&1)" "$masked"
}
refused() # NAME COMMAND...
{
	local name=$1 status
	shift
	"$@" >/tmp/out 2>/tmp/err
	status=$?
	result "$name" "$status $(wc -c </tmp/out) $(grep -c '^hwcap-exec: ' /tmp/err) $(wc -l </tmp/err)" "125 0 1 1"
}
exec_="hwcap-exec --exact --mask=$MASK"
# With AppArmor, which these kernels start with, auto has no other engine.
module=$(hwcap-exec --verbose -- true 2>&1 | grep -c 'security module')
for level in 0 1 2 3; do
	echo $level >$scope
	# A tracer of the engine's own is what scope 1 leaves to everyone, and 2 to root.
	case $level in
	0 | 1) runs "trace, nobody" as nobody $exec_ --engine=trace -- /bin/hwcapctl show ;;
	*) refused "trace, nobody" as nobody $exec_ --engine=trace -- /bin/hwcapctl show ;;
	esac
	# Supervisor and tree are no kin.
	case $level in
	0) runs "follow, nobody" as nobody $exec_ --follow -- sh -c '/bin/hwcapctl show' ;;
	*) refused "follow, nobody" as nobody $exec_ --follow -- sh -c '/bin/hwcapctl show' ;;
	esac
	case $level in
	3)
		refused "trace, root" $exec_ --engine=trace -- /bin/hwcapctl show
		refused "follow, root" $exec_ --follow -- sh -c '/bin/hwcapctl show' ;;
	*)
		runs "trace, root" $exec_ --engine=trace -- /bin/hwcapctl show
		runs "follow, root" $exec_ --follow -- sh -c '/bin/hwcapctl show' ;;
	esac
	runs "loader, nobody" as nobody $exec_ --engine=loader -- /bin/hwcapctl show
	case $module$level in
	13) refused "auto, root" $exec_ -- /bin/hwcapctl show ;;
	*) runs "auto, root" $exec_ -- /bin/hwcapctl show ;;
	esac
	case $module$level in
	12 | 13) refused "auto, nobody" as nobody $exec_ -- /bin/hwcapctl show ;;
	*) runs "auto, nobody" as nobody $exec_ -- /bin/hwcapctl show ;;
	esac
done
echo "# yama: $passed passed, $failed failed"
[ $failed = 0 ]
