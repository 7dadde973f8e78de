#!/bin/sh
# shellcheck source=test/arch/say.sh disable=SC2016,SC2086,SC3043 # inner shells; words of "$test"; local
# system.sh - in a guest: the records of cgroups, and a rule of binfmt_misc
#
# Prints TAP without a plan; its last line is "system PASSED FAILED".
. /say.sh

# ---- cgroups -------------------------------------------------------------------
top=/sys/fs/cgroup
inside() # GROUP COMMAND...
{
	local group=$1
	shift
	sh -c 'echo 0 >$0/cgroup.procs; exec "$@"' "$top/$group" "$@"
}
mkdir -p $top/set/below
is "cgroup set" "$(hwcapctl cgroup set --exact "$MASK" $top/set 2>&1; echo $?)" 0
has "cgroup get" "$(hwcapctl cgroup get $top/set/below)" "${MASK%%=*}"
for engine in loader trace; do
	is "a record, $engine" "$(inside set hwcap-exec --exact --engine=$engine -- $tool show)" "$masked"
	is "from above, $engine" "$(inside set/below hwcap-exec --exact --cgroup --engine=$engine -- $tool show)" \
		"$masked"
done
is "followed" "$(inside set/below hwcap-exec --exact --follow -- sh -c '$0 show; $0 show' $tool)" "$masked
$masked"
is "left out" "$(inside set hwcap-exec --no-cgroup -- $tool show)" "$native"
is "not below it" "$(hwcap-exec -- $tool show)" "$native"
has "the kernel has the misc controller" "$(cat $top/cgroup.controllers)" misc
echo +misc >$top/cgroup.subtree_control
is "it is on" "$(test -e $top/set/misc.max; echo $?)" 0
is "with the controller" "$(inside set/below hwcap-exec --exact -- $tool show)" "$masked"
is "nobody cannot take it away" "$(as nobody hwcapctl cgroup clear $top/set 2>/dev/null; echo $?)" 1
is "cgroup clear" "$(hwcapctl cgroup clear $top/set; echo $?)" 0
is "nothing is hidden any more" "$(inside set hwcap-exec -- $tool show)" "$native"
rmdir $top/set/below $top/set

# ---- binfmt_misc ---------------------------------------------------------------
rules=/proc/sys/fs/binfmt_misc
[ -e $rules/register ] || insmod /lib/modules/binfmt_misc.ko
[ -e $rules/register ] || mount -t binfmt_misc binfmt_misc $rules
case $(uname -r) in
6.1.*) test=--no-test ;; # no instances of namespaces yet
*) test= ;;
esac
mkdir -p /var/lib
got=$(hwcapctl binfmt register $test --mask="$MASK" --exact --no-cgroup --no-credentials 2>&1)
has "register ($test)" "$got" "registered; to undo:"
for user in plain nobody; do
	is "rule, $user: static" "$(as $user $tool show)" "$masked"
	is "rule, $user: dynamic" "$(as $user $dynamic show)" "$masked"
	is "rule, $user: a shell's" "$(as $user sh -c '$0 show' $tool)" "$masked"
	for how in vfork spawn thread fd; do
		is "rule, $user: $how" "$(as $user $tool $how $dynamic show)" "$masked"
	done
done
is "rule: the link" "$(readlink /proc/self/exe)" /bin/busybox
is "rule: status" "$(sh -c 'exit 7'; echo $?)" 7
hwcapctl binfmt status >"$work/status"
is "binfmt status" $? 0
is "unregister" "$(hwcapctl binfmt unregister; echo $?)" 0
is "nothing is hidden without the rule" "$($tool show)" "$native"
sum system
