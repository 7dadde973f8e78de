#!/bin/bash
# systemd.sh - the examples in contrib/systemd do what they say
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

contrib=$srcdir/contrib/systemd
units=$tmp/units
mkdir -p "$units/example.service.d"
printf '%s\n' '[Unit]' 'Description=Example' '[Service]' 'ExecStart=/usr/bin/sleep infinity' >"$units/example.service"
# systemd-analyze wants the program to be there.
sed "s,/usr/bin/hwcap-exec,$HWCAP_EXEC," "$contrib/example.service.d/hwcap.conf" \
	>"$units/example.service.d/hwcap.conf"
SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no "$units/example.service" >"$tmp/out" 2>&1
is "the drop-in: systemd-analyze has no objection" "$? $(cat "$tmp/out")" "0 "
echo 'ExecStrat=x' >>"$units/example.service.d/hwcap.conf"
SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no "$units/example.service" >"$tmp/out" 2>&1
like "it would have one to a mistake" "$(cat "$tmp/out")" ExecStrat
command=$(sed -n 's/^ExecStart=\(.\)/\1/p' "$contrib/example.service.d/hwcap.conf")
like "the drop-in runs it under the cgroup's mask" "$command" '^/usr/bin/hwcap-exec --cgroup -- '

# tmpfiles.d, on another directory than the root cgroup.
base=
for directory in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ "$(stat -f -c %T "$directory" 2>/dev/null)" != cgroup2fs ] || base=$directory
done
if [ -z "$base" ] || [ "$(id -u)" != 0 ] || ! mkdir "$base/hwcap-tmpfiles.$$" 2>/dev/null; then
	skip "the tmpfiles.d example stamps a cgroup" "needs root and a writable cgroup2 hierarchy"
	done_testing
fi
base=$base/hwcap-tmpfiles.$$
trap 'rmdir "$base"; rm -rf "$tmp"' EXIT
sed "s,^t /sys/fs/cgroup ,t $base ," "$contrib/hwcap-mask.conf" >"$tmp/hwcap-mask.conf"
exits "systemd-tmpfiles takes the example" 0 systemd-tmpfiles --create "$tmp/hwcap-mask.conf"
is "it says nothing" "$(cat "$tmp/out" "$tmp/err")" ""
is "the record is there" "$("$HWCAPCTL" cgroup get "$base" | tail -1)" $'AT_HWCAP2\t0x00000000000002\t0x00000000000002'
is "it counts" "$("$HWCAP_EXEC" --cgroup="$base" -n /bin/true | grep ^mask)" "mask AT_HWCAP2=0x2"
is "it is what set writes" "$(getfattr --only-values -n security.hwcap_mask "$base" 2>/dev/null)" "$(
	"$HWCAPCTL" cgroup set AT_HWCAP2=2 "$base"
	getfattr --only-values -n security.hwcap_mask "$base" 2>/dev/null)"
done_testing
