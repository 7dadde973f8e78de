#!/bin/bash
# test_binfmt.sh - every program of an instance under hwcap-exec
#
# All of it happens in a user and a mount namespace, whose binfmt_misc is an
# instance of its own: a mistake in a rule for native programs takes away every
# exec of the instance it is in. Users 0 to 99999 are mapped to themselves.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

me=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
bm=/proc/sys/fs/binfmt_misc
programs=$builddir/obj/test/binfmt

# ---- outside: make the namespace ---------------------------------------------

in_new_namespace() { [ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]; }

if [ -z "${BINFMT_INSIDE-}" ]; then
	if [ "$(id -u)" != 0 ]; then
		skip "programs under binfmt_misc" "needs root to map users into a namespace"
		done_testing
	fi
	if ! unshare -Urm mount -t binfmt_misc none /tmp 2>/dev/null; then
		skip "programs under binfmt_misc" "no instance in a user namespace (before Linux 6.7?)"
		done_testing
	fi
	cgroup=
	for directory in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ "$(stat -f -c %T "$directory" 2>/dev/null)" != cgroup2fs ] ||
			cgroup=$directory/hwcap-binfmt.$$
	done
	if [ -n "$cgroup" ] && mkdir "$cgroup" 2>/dev/null; then
		"$HWCAPCTL" cgroup set AT_HWCAP=0x2 "/${cgroup##*/}" || cgroup=
	else
		cgroup=
	fi
	mkfifo "$tmp/go"
	# shellcheck disable=SC2016 # the inner shell's
	BINFMT_INSIDE=1 BINFMT_CGROUP=$cgroup unshare -Um --propagation private bash -c \
		'read -r _ <"$1"; exec bash "$2"' - "$tmp/go" "$me" &
	inner=$!
	wait_for 10 in_new_namespace $inner || bail_out "no user namespace"
	echo "0 0 100000" >/proc/$inner/uid_map
	echo "0 0 100000" >/proc/$inner/gid_map
	echo go >"$tmp/go"
	wait $inner
	status=$?
	[ -z "$cgroup" ] || rmdir "$cgroup"
	exit $status
fi

# ---- inside -------------------------------------------------------------------

outer_device=$(stat -c %d $bm)
mount -t binfmt_misc none $bm || bail_out "unable to mount binfmt_misc"
# From here on a rule meets this namespace only.
[ "$(stat -c %d $bm)" != "$outer_device" ] && [ -e $bm/register ] || bail_out "not an own instance"

mkdir "$tmp/bin" "$tmp/copies"
for program in "$programs/look" "$programs/exec" "$HWCAP_EXEC" "$HWCAPCTL"; do
	install -m 755 "$program" "$tmp/bin/"
done
chmod 755 "$tmp/copies"
look=$tmp/bin/look exec=$tmp/bin/exec exe=$tmp/bin/hwcap-exec
# What carries the marker is not under the rule.
marked=$tmp/bin/exec-marked
cp "$exec" "$marked"
mark() { printf '\200' | dd of="$1" bs=1 seek=8 conv=notrunc status=none; }
mark "$marked"
ctl="$tmp/bin/hwcapctl binfmt"
copy=$tmp/copies/hwcap-exec
native_hwcap=$("$look" | sed -n 's/^hwcap //p') native_hwcap2=$("$look" | sed -n 's/^hwcap2 //p')
hide=AT_HWCAP=0x201,AT_HWCAP2=0x2
masked_hwcap=$(printf %x $((0x$native_hwcap & ~0x201)))

fact() { sed -n "s/^$1 //p"; }
register() { $ctl register --copy="$copy" "$@"; }
unregister() { $ctl unregister 2>/dev/null; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }
# rule FLAGS [PATH]: one by hand
rule()
{
	$ctl print --copy="${2:-$copy}" --name=byhand | sed "s/:[A-Z]*\$/:$1/" |
		tr -d '\n' >"$tmp/rule"
	cat "$tmp/rule" >$bm/register
}
no_rule() { echo -1 >"$bm/byhand"; }

# ---- registering ----------------------------------------------------------------

exits "status without a rule" 1 $ctl status
like "it says so" "$(cat "$tmp/out")" "not registered"
exits "unregister without a rule" 1 $ctl unregister
exits "register" 0 register --mask=$hide --exact
like "it says how to undo it" "$(cat "$tmp/out")" "echo -1 >$bm/hwcap-exec"
is "and it is in effect" "$("$look" | fact hwcap)" "$masked_hwcap"
exits "status with it" 0 $ctl status
like "status: the mask" "$(cat "$tmp/out")" "^mask +AT_HWCAP=0x201,AT_HWCAP2=0x2\$"
like "status: the flags" "$(cat "$tmp/out")" "^flags +POF\$"
is "status --json is JSON" "$($ctl status --json | jq -r '.registered, .flags, .mask.AT_HWCAP')" \
	$'true\nPOF\n0x201'
exits "register twice" 1 register --mask=all
like "it names both ways out" "$(cat "$tmp/err")" "--replace.*--again"
exits "register --replace" 0 register --mask=AT_HWCAP=0x200 --exact --replace
is "replaced" "$("$look" | fact hwcap)" "$(printf %x $((0x$native_hwcap & ~0x200)))"
exits "no other rule is left" 1 test -e "$bm/hwcap-exec-next"
printf x >>"$exe"
like "an upgrade shows" "$($ctl status)" "^copy +of another hwcap-exec"
exits "register --again" 0 $ctl register --again
like "renewed" "$($ctl status)" "^copy +current"
is "with the same mask" "$("$look" | fact hwcap)" "$(printf %x $((0x$native_hwcap & ~0x200)))"
exits "--again takes no mask" 125 $ctl register --again --mask=all
echo 0 >$bm/status
exits "status while rules are disabled" 1 $ctl status
like "it says so" "$(cat "$tmp/out")" "all rules disabled"
exits "register while rules are disabled" 1 register --replace
like "it says how to enable them" "$(cat "$tmp/err")" "echo 1 >$bm/status"
echo 1 >$bm/status
exits "unregister" 0 $ctl unregister
is "unregistered" "$("$look" | fact hwcap)" "$native_hwcap"
exits "--again without a rule" 1 $ctl register --again

# One that calls itself for ever is never registered, nor is what is not ours.
cp "$exe" "$tmp/bin/hwcap-exec-unmarked"
printf '\0' | dd of="$tmp/bin/hwcap-exec-unmarked" bs=1 seek=8 conv=notrunc status=none
exits "marker removed" 1 register --program="$tmp/bin/hwcap-exec-unmarked"
like "the reason" "$(cat "$tmp/err")" "lost the marker"
exits "another program" 1 register --program="$look"
rule POF "$tmp/bin/hwcap-exec-unmarked"
would=$("$marked" as "$look" look)
no_rule
is "marker removed: what would happen" "$would" "errno 8"
cp "$exe" "$tmp/bin/hwcap-exec-broken" # its entry is 0
printf '\0\0\0\0\0\0\0\0' | dd of="$tmp/bin/hwcap-exec-broken" bs=1 seek=24 conv=notrunc status=none
exits "an interpreter that does not work" 1 register --program="$tmp/bin/hwcap-exec-broken"
like "is noticed" "$(cat "$tmp/err")" "test program did not run"
exits "and without the test" 1 register --program="$tmp/bin/hwcap-exec-broken" --no-test
like "is noticed, too" "$(cat "$tmp/err")" "the rule was removed again"
mkdir "$tmp/noexec" && mount -t tmpfs -o noexec,mode=755 none "$tmp/noexec"
exits "a copy on a noexec file system" 1 register --copy="$tmp/noexec/hwcap-exec"
like "is refused by the kernel" "$(cat "$tmp/err")" "noexec"
umount "$tmp/noexec"
is "none of them is registered" "$(ls $bm)" $'register\nstatus'
exits "not an instance" 1 register --instance=/tmp
exits "--print registers nothing" 0 register --print
is "really" "$(ls $bm)" $'register\nstatus'

# /proc as the initial user namespace has it.
initial()
{
	unshare -m bash -c 'mount -t tmpfs none /mnt && mkdir -p /mnt/self /mnt/sys/fs/binfmt_misc &&
		echo "0 0 4294967295" >/mnt/self/uid_map && ln -s "$1" /mnt/self/exe &&
		mount --bind '$bm' /mnt/sys/fs/binfmt_misc && mount --rbind /mnt /proc && shift && exec "$@"' \
		- "$tmp/bin/hwcapctl" "$@"
}
exits "initial instance: a choice is demanded" 125 initial $ctl register --copy="$copy"
like "both choices are named" "$(cat "$tmp/err")" "--credentials .*--no-credentials"
is "nothing was registered" "$(ls $bm)" $'register\nstatus'
exits "initial instance: chosen" 0 initial $ctl register --copy="$copy" --credentials --no-test
is "with flag C" "$(sed -n 's/^flags: //p' $bm/hwcap-exec)" POCF
unregister
exits "an instance of the namespace above" 1 unshare -Urm $ctl register --copy="$copy"
like "is not ours" "$(cat "$tmp/err")" "belongs to another user namespace"
is "nothing was registered there" "$(ls $bm)" $'register\nstatus'

# The files that are shipped are what is printed.
is "contrib: binfmt.d" "$(grep -v '^#' "$srcdir/contrib/binfmt/$ARCH.conf")" "$($ctl print --credentials)"
is "contrib: update-binfmts" "$(cat "$srcdir/contrib/binfmt/$ARCH.update-binfmts")" \
	"$($ctl print --credentials --format=update-binfmts)"

# ---- what a program sees, by flags ------------------------------------------------

# Everything but the hidden bits: as natively, except for what flags cannot give.
as_native()
{
	sed -e "s/^hwcap $native_hwcap/hwcap $masked_hwcap/" \
		-e "s/^hwcap2 $native_hwcap2/hwcap2 $(printf %x $((0x$native_hwcap2 & ~2)))/"
}
$ctl copy --mask=$hide --exact --no-cgroup "$copy" || bail_out "unable to make a copy"
(exec -a other "$look" one "" two) >"$tmp/native"
as_native <"$tmp/native" >"$tmp/wanted"
for flags in P PO POF POC POCF PF; do
	rule $flags
	(exec -a other "$look" one "" two) >"$tmp/got" 2>&1
	is "flags $flags: as native but for the mask" "$(cat "$tmp/got")" "$(cat "$tmp/wanted")"
	no_rule
done
sed "s|^argv.0. other|argv[0] $look|" "$tmp/wanted" >"$tmp/wanted.path"
for flags in O OF OC OCF "" F; do
	rule "$flags"
	(exec -a other "$look" one "" two) >"$tmp/got" 2>&1
	is "flags ${flags:-none}: argv[0] is the path" "$(cat "$tmp/got")" "$(cat "$tmp/wanted.path")"
	no_rule
done

# ---- a rule for all that follows ----------------------------------------------------

exits "register for what follows" 0 register --mask=$hide --exact --no-cgroup --no-credentials
is "the environment hides nothing" "$(HWCAP_EXEC_MASK=all "$look" | fact hwcap)" "$masked_hwcap"
is "nor does it disturb" "$(HWCAP_EXEC_MASK=nonsense "$look" | fact hwcap)" "$masked_hwcap"
for name in --mask=all -x -h -- -; do
	cp "$look" "$tmp/$name"
	is "a program called $name" "$(cd "$tmp" && "$exec" as "$name" "$name" --help | fact 'argv\[1\]')" --help
done
is "an empty argv" "$("$exec" as "$look" | grep ^argv)" "argv[0] "
natively() { echo 0 >$bm/hwcap-exec; "$@"; echo 1 >$bm/hwcap-exec; }
is "no descriptor more, with none open" "$("$look" <&- 2>&- | grep ^fd)" "$(natively "$look" <&- 2>&- | grep ^fd)"
is "nor with some" "$("$look" 7</dev/null 3>/dev/null | grep ^fd)" \
	"$(natively "$look" 7</dev/null 3>/dev/null | grep ^fd)"
printf '#!%s first arg\n' "$look" >"$tmp/script"
chmod 755 "$tmp/script"
is "a script" "$("$tmp/script" more | grep -E '^(argv|execfn|comm|hwcap )')" \
	"argv[0] $look
argv[1] first arg
argv[2] $tmp/script
argv[3] more
hwcap $masked_hwcap
execfn $tmp/script
comm script"
for i in 1 2 3 4 5 6; do
	printf '#!%s\n' "$tmp/level$((i - 1))" >"$tmp/level$i"
	chmod 755 "$tmp/level$i"
done
cp "$look" "$tmp/level0"
is "four levels of scripts" "$("$tmp/level4" | fact hwcap)" "$masked_hwcap"
is "limit: five are too many, the interpreter is one" "$("$exec" as "$tmp/level5" x)" "errno 40"
is "natively, six are" "$(natively "$exec" as "$tmp/level5" x | fact comm)$(natively "$exec" as "$tmp/level6" x)" \
	"level5errno 40"
chmod 711 "$tmp/level0"
is "execute-only" "$(as_nobody "$tmp/level0" | fact hwcap)" "$masked_hwcap"

cp "$look" "$tmp/osabi"
printf '\003' | dd of="$tmp/osabi" bs=1 seek=7 conv=notrunc status=none
is "OSABI 3" "$("$tmp/osabi" | fact hwcap)" "$masked_hwcap"
printf '\005' | dd of="$tmp/osabi" bs=1 seek=6 conv=notrunc status=none
is "EI_VERSION 5" "$("$tmp/osabi" | fact hwcap)" "$masked_hwcap"
printf '\001' | dd of="$tmp/osabi" bs=1 seek=8 conv=notrunc status=none
is "ABIVERSION 1" "$("$tmp/osabi" | fact hwcap)" "$masked_hwcap"
printf '\200' | dd of="$tmp/osabi" bs=1 seek=8 conv=notrunc status=none
is "limit: who sets the marker is not masked" "$("$tmp/osabi" | fact hwcap)" "$native_hwcap"

# shellcheck disable=SC2016 # the inner shell's
is "limit: nor is who mounts an instance of his own" \
	"$(unshare -Urm sh -c 'mount -t binfmt_misc none "$1" && exec "$2"' - $bm "$look" | fact hwcap)" "$native_hwcap"
if [ "$ARCH" = x86_64 ]; then
	python3 - "$tmp/narrow" <<'P'
import os, struct, sys
code = bytes.fromhex("b801000000bb2a000000cd80")  # exit(42)
head = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
load = struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 4096)
open(sys.argv[1], "wb").write(head + load + code)
os.chmod(sys.argv[1], 0o755)
P
	exits "limit: a 32-bit program is left alone" 42 "$tmp/narrow"
fi

# By descriptor. The kernel gives a close-on-exec one to no interpreter.
native_fd_comm=$(natively "$exec" fd "$look" a | fact comm)
native_memfd_comm=$(natively "$exec" memfd "$look" a | fact comm)
is "by descriptor" "$("$exec" fd "$look" a | fact hwcap)" "$masked_hwcap"
is "by descriptor: the name" "$("$exec" fd "$look" a | fact comm)" "$native_fd_comm"
is "in memory" "$("$exec" memfd "$look" a | fact hwcap)" "$masked_hwcap"
is "in memory: the name" "$("$exec" memfd "$look" a | fact comm)" "$native_memfd_comm"
is "limit: by a close-on-exec descriptor it is ENOENT" "$("$exec" cloexec "$look" a)" "errno 2"
exits "limit: a descriptor must be free" 139 bash -c "ulimit -n 3; exec $look"

# Without credentials.
cp "$look" "$tmp/setuid"
cp "$look" "$tmp/setcap"
chmod 4755 "$tmp/setuid"
setcap cap_net_raw+ep "$tmp/setcap"
for kind in setuid setcap; do
	exits "no credentials: $kind is refused" 126 as_nobody "$tmp/$kind"
	like "$kind: with a reason" "$(cat "$tmp/err")" "^hwcap-exec: $tmp/$kind: .*without credentials"
	is "no credentials: $kind under no_new_privs" \
		"$(as_nobody setpriv --no-new-privs "$tmp/$kind" | fact euid)" 65534
done
is "set-id, for root" "$("$tmp/setuid" | fact euid)" 0

# A root file system with nothing of ours, no /proc and no /sys.
mkdir "$tmp/root"
cp "$look" "$tmp/root/look"
is "in a chroot" "$(chroot "$tmp/root" /look | fact hwcap)" "$masked_hwcap"
is "in a chroot, another user" "$(chroot --userspec=65534:65534 "$tmp/root" /look | fact hwcap)" "$masked_hwcap"
mv "$copy" "$copy.gone"
is "with the interpreter's file gone" "$("$look" | fact hwcap)" "$masked_hwcap"
like "status then" "$($ctl status)" "^copy +unknown"
exits "unregister and register --again need it" 1 $ctl register --again
mv "$copy.gone" "$copy"

# Self-execution: with the link set, as natively; without, a clear end.
is "/proc/self/exe" "$(readlink /proc/self/exe)" "$(readlink -f "$(type -P readlink)")"
is "a program that executes itself" \
	"$(perl -e 'exec {"/proc/self/exe"} "perl", "-e", "print qq(again)"')" again
like "limit: for who may not set the link" "$(as_nobody readlink /proc/self/exe)" "/hwcap-exec\$"
like "limit: and it says what is wrong" \
	"$(as_nobody busybox sh -c 'exec -a sh /proc/self/exe -c true' 2>&1)" "^hwcap-exec: started as"

# hwcap-exec itself is never under the rule.
is "limit: hwcap-exec's loader is not under the rule" \
	"$("$exe" --no-cgroup --engine=loader --mask=AT_HWCAP=0x400 --exact -- "$look" | fact hwcap)" \
	"$(printf %x $((0x$native_hwcap & ~0x400)))"
is "its tracer adds to the rule" \
	"$("$exe" --no-cgroup --engine=trace --mask=AT_HWCAP=0x400 --exact -- "$look" | fact hwcap)" \
	"$(printf %x $((0x$native_hwcap & ~0x601)))"

# Other machines' programs, by another handler.
python3 - "$tmp/arm" <<'P'
import struct, sys, os
code = struct.pack("<III", 0xd2800ba8, 0xd2800540, 0xd4000001)  # exit(42)
head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 183, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096)
open(sys.argv[1], "wb").write(head + load + code)
os.chmod(sys.argv[1], 0o755)
P
printf '%s' ':arm:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(type -P qemu-aarch64-static):POF" >"$tmp/arm.rule"
cat "$tmp/arm.rule" >$bm/register
like "a warning of it" "$(register --replace --mask=$hide --exact --no-cgroup --no-credentials 2>&1)" \
	"^hwcapctl: note: rule arm: "
exits "limit: an interpreter under the rule" 126 bash -c "exec $tmp/arm"
echo -1 >$bm/arm
cp "$(type -P qemu-aarch64-static)" "$tmp/bin/qemu-aarch64" && mark "$tmp/bin/qemu-aarch64"
sed "s|:/[^:]*:POF|:$tmp/bin/qemu-aarch64:POF|" "$tmp/arm.rule" | tr -d '\n' >"$tmp/rule"
cat "$tmp/rule" >$bm/register
exits "an arm64 program by qemu with the marker" 42 "$tmp/arm"
is "native ones are masked" "$("$look" | fact hwcap)" "$masked_hwcap"
like "no warning of that one" "$(register --replace --mask=$hide --exact --no-cgroup --no-credentials 2>&1)" "^registered"
echo -1 >$bm/arm

# ---- the cgroup ------------------------------------------------------------------------

register --replace --mask=AT_HWCAP=0x200 --exact >/dev/null
if [ -n "$BINFMT_CGROUP" ]; then
	# shellcheck disable=SC2016 # the inner shell's
	is "the cgroup's mask is added" \
		"$(sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2"' - "$BINFMT_CGROUP" "$look" | fact hwcap)" \
		"$(printf %x $((0x$native_hwcap & ~0x202)))"
else
	skip "the cgroup's mask is added" "no writable cgroup2 hierarchy"
fi
is "no /proc: no cgroup, hence the rule's mask" "$(chroot "$tmp/root" /look | fact hwcap)" \
	"$(printf %x $((0x$native_hwcap & ~0x200)))"
install -m 755 "$look" "$tmp/static"
# One descriptor for the program, none for /proc/self/cgroup.
exits "unreadable: denied" 125 bash -c "ulimit -n 4; exec $tmp/static 3>&-"
like "unreadable: the line" "$(cat "$tmp/err")" "^hwcap-exec: $tmp/static: "
is "unreadable: one line" "$(wc -l <"$tmp/err")" 1
register --replace --mask=AT_HWCAP=0x200 --exact --unreadable=run >/dev/null
is "unreadable: run" "$(bash -c "ulimit -n 4; exec $tmp/static 3>&-" | fact hwcap)" \
	"$(printf %x $((0x$native_hwcap & ~0x200)))"

# ---- with credentials --------------------------------------------------------------------

register --replace --mask=$hide --exact --no-cgroup --credentials >/dev/null
is "credentials: setuid" "$(as_nobody "$tmp/setuid" | grep -E '^(euid|secure|hwcap )')" \
	"hwcap $masked_hwcap"$'\nsecure 1\neuid 0'
is "credentials: file capability" "$(as_nobody "$tmp/setcap" | grep -E '^(secure|hwcap )')" \
	"hwcap $masked_hwcap"$'\nsecure 1'
is "credentials: execute-only and setuid" \
	"$(chmod 4711 "$tmp/setuid"; as_nobody "$tmp/setuid" | fact euid)" 0

# ---- a session of work ------------------------------------------------------------------

cat >"$tmp/many.py" <<'P'
import multiprocessing, subprocess, sys
def run(program):
    lines = subprocess.run([program], capture_output=True, text=True).stdout.splitlines()
    return [line for line in lines if line.startswith("hwcap ")][0]
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    with multiprocessing.Pool(2) as pool:
        print(*set(pool.map(run, sys.argv[1:] * 4)))
P
is "python's multiprocessing" "$(timeout 60 python3 "$tmp/many.py" "$look" 2>&1)" "hwcap $masked_hwcap"
is "a pipeline" "$(seq 1000 | sort -rn | head -n 900 | tail -n 1 | tr 1 x)" "x0x"
ok "apt-get --version" apt-get --version
is "perl" "$(perl -e 'print `$^X -e "print 42"`')" 42
is "find, xargs" "$(find /etc/passwd -print0 | xargs -0 -n 1 basename)" passwd
JOBS_WRAPPER="/usr/bin/env --" JOBS="gcc git java python perl busybox" bash "$srcdir/test/jobs.sh" >"$tmp/jobs.log" 2>&1
is "the jobs of jobs.sh: all run" "$?" 0
like "some at least" "$(cat "$tmp/jobs.log")" "^ok .*java"
grep '^not ok' "$tmp/jobs.log"

# ---- the whole contract ---------------------------------------------------------------------

# Natively the rule is off, in the same namespaces: nothing else differs. Five
# levels of scripts are one too many here.
contract()
{
	"$srcdir/test/contract/run" -b "$builddir/obj/test" -l 0 -R $bm/hwcap-exec \
		-m AT_HWCAP=0x201,AT_HWCAP2=0x2 -S "@(aslr|fixed|nobody|args_odd|no_fds|pending)" -V "${BINFMT_VARIANTS-!(script-5-*)}" \
		>"$tmp/contract.log" 2>&1
}
contract
is "the process contract" "$?" 0
grep -E '^not ok|passed' "$tmp/contract.log" | show
unregister
done_testing
