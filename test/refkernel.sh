#!/bin/bash
# refkernel.sh - next to a kernel that masks by itself (misc.mask)
#
# HWCAP_EXEC_REFKERNEL names the image of an x86_64 kernel with misc.mask in
# its misc controller and everything else that is needed built in. It is
# booted under qemu-system-x86_64: once to compare what its file does with
# what the records do, then as three machines with different CPUs.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

if [ "$ARCH" != x86_64 ] || [ ! -r "${HWCAP_EXEC_REFKERNEL-}" ]; then
	skip "a kernel with misc.mask" "HWCAP_EXEC_REFKERNEL names no x86_64 kernel"
	done_testing
fi

root=$tmp/root
mkdir -p "$root"/{bin,proc,sys,dev,tmp,run}
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$HWCAP_EXEC" "$root/bin/hwcap-exec"
cp "$HWCAPCTL" "$root/bin/hwcapctl"
cp "$srcdir/test/refkernel-init" "$root/init"
# busybox's unshare knows no cgroup namespaces.
cat >"$tmp/namespace.c" <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc < 2 || unshare(CLONE_NEWCGROUP | CLONE_NEWNS) || umount2("/sys/fs/cgroup", MNT_DETACH) ||
	    mount("none", "/sys/fs/cgroup", "cgroup2", 0, 0))
		return 125;
	execvp(argv[1], argv + 1);
	return 127;
}
C
cat >"$tmp/as_nobody.c" <<'C'
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc < 2 || setgid(65534) || setuid(65534))
		return 125;
	execvp(argv[1], argv + 1);
	return 127;
}
C
"$CC" -O1 -static -o "$root/bin/as_nobody" "$tmp/as_nobody.c" || bail_out "no static program"
"$CC" -O1 -static -o "$root/bin/namespace" "$tmp/namespace.c" || bail_out "no static program"
"$CC" -O1 -static -o "$root/bin/misc-mask" "$srcdir/test/misc-mask.c" || bail_out "no static program"
cp "$srcdir/test/fixtures/misc-mask.tsv" "$root"
for applet in sh mount mkdir rmdir cat echo grep cut head tail chown poweroff sed; do
	ln -s busybox "$root/bin/$applet"
done
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$tmp/initrd"

# boot LOG CPU WORD...: what /init printed, without the kernel's lines
boot()
{
	local log=$1 cpu=$2
	shift 2
	timeout 120 qemu-system-x86_64 -M q35 -accel tcg -cpu "$cpu" -m 1024 -nodefaults -display none \
		-no-reboot -kernel "$HWCAP_EXEC_REFKERNEL" -initrd "$tmp/initrd" \
		-append "console=ttyS0 quiet panic=-1 $*" -serial "file:$log.raw" </dev/null >"$log.qemu" 2>&1
	tr -d '\r' <"$log.raw" | sed -n 's/^@@ //p' >"$log"
	[ -s "$log" ] || { show "$log.qemu" "$log.raw"; bail_out "it does not boot"; }
}

for mode in compare writes v1 hybrid; do
	boot "$tmp/log" max mode=$mode
	while IFS= read -r line; do
		case $line in
		'ok '*) pass "$mode: ${line#ok }" ;;
		'not ok '*) fail "$mode: ${line#not ok }" ;;
		*) echo "#   $line" ;;
		esac
	done <"$tmp/log"
	is "$mode: it came to its end" "$(tail -1 "$tmp/log")" "# end"
done

# Three machines.
cpus=("qemu64,-pse36" Nehalem max)
for i in 0 1 2; do
	boot "$tmp/dump.$i" "${cpus[i]}" mode=dump
done
"$HWCAPCTL" common "$tmp"/dump.{0,1,2} >"$tmp/common" 2>"$tmp/err"
show "$tmp/common"
for i in 0 1 2; do
	spec=$(sed -n "$((i + 1))s/.*\t//p" "$tmp/common")
	boot "$tmp/vector.$i" "${cpus[i]}" mode=run "spec=$spec"
done
is "${cpus[0]} and ${cpus[1]}: the same vector" "$(cat "$tmp/vector.0")" "$(cat "$tmp/vector.1")"
is "${cpus[1]} and ${cpus[2]}: the same vector" "$(cat "$tmp/vector.1")" "$(cat "$tmp/vector.2")"
if cmp -s "$tmp/dump.0" "$tmp/dump.2"; then
	fail "the CPUs differ"
else
	pass "the CPUs differ"
fi
done_testing
