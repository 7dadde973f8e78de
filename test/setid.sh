#!/bin/bash
# setid.sh - a target whose native exec would change credentials
#
# A mapper cannot gain what the set-id bit gives, so such a target is refused; where the
# bit is void for the native exec too (nosuid, no_new_privs), it runs.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip "set-id programs" "needs root to make one"
	done_testing
fi

cat >"$tmp/ids.c" <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	printf("%d %d %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(), (int)getegid());
	return 0;
}
C
$CC -O1 -o "$tmp/ids" "$tmp/ids.c"
for kind in setuid setgid plain caps; do
	cp "$tmp/ids" "$tmp/$kind"
done
chown 1:1 "$tmp/setgid" && chmod 2755 "$tmp/setgid"
chown 0:0 "$tmp/setuid" && chmod 4755 "$tmp/setuid"
setcap cap_net_bind_service+ep "$tmp/caps" || bail_out "unable to set a file capability in $tmp"
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"

# setpriv's own capabilities end with an exec; env makes sure of it.
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups env -- "$@"
}
masked()
{
	"$tmp/hwcap-exec" --engine=loader --mask=all -- "$@"
}
run=("$tmp/hwcap-exec" --engine=loader --mask=all --)

is "natively the bit works here" "$(as_nobody "$tmp/setuid")" "65534 0 65534 65534"
for kind in setuid setgid caps; do
	exits "$kind: refused for nobody" 126 as_nobody "${run[@]}" "$tmp/$kind"
	is "$kind: nothing ran" "$(cat "$tmp/out")" ""
	like "$kind: the message names the program" "$(cat "$tmp/err")" "^hwcap-exec: $tmp/$kind: "
	is "$kind: one line" "$(wc -l <"$tmp/err")" 1
done
exits "setgid: refused for root" 126 "${run[@]}" "$tmp/setgid"
is "setuid to root runs for root, whom it changes nothing" "$(masked "$tmp/setuid")" "0 0 0 0"
is "a plain program runs" "$(as_nobody "${run[@]}" "$tmp/plain")" "65534 65534 65534 65534"

for kind in setuid setgid caps; do
	is "$kind: runs under no_new_privs" \
		"$(as_nobody setpriv --no-new-privs "${run[@]}" "$tmp/$kind")" "65534 65534 65534 65534"
	if ! unshare --mount true 2>/dev/null; then
		skip "$kind: runs on a nosuid mount" "unable to make a mount namespace (a chroot?)"
		continue
	fi
	# shellcheck disable=SC2016 # $1 is the inner shell's
	is "$kind: runs on a nosuid mount" "$(unshare --mount sh -c '
		mount --bind "$1" "$1" && mount -o remount,bind,nosuid "$1" && shift &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups env -- "$@"' \
		sh "$tmp" "${run[@]}" "$tmp/$kind")" "65534 65534 65534 65534"
done

# Root has all capabilities but where a file's are all it gets natively.
is "caps: run for root" "$("${run[@]}" "$tmp/caps")" "0 0 0 0"
exits "caps: refused for root in effect only" 126 setpriv --ruid=65534 --euid=0 "${run[@]}" "$tmp/caps"
exits "caps: refused where root is no one special" 126 setpriv --securebits=+noroot "${run[@]}" "$tmp/caps"

# Capabilities by our own file are not the program's: execve takes them away.
cp "$HWCAP_EXEC" "$tmp/hwcap-exec-capable"
setcap cap_net_raw+ep "$tmp/hwcap-exec-capable"
exits "file capabilities of our own: refused" 125 as_nobody "$tmp/hwcap-exec-capable" --engine=loader -- "$tmp/plain"
like "and named" "$(cat "$tmp/err")" "file capabilities of hwcap-exec"
is "ambient ones are the program's" "$(setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=+net_raw --ambient-caps=+net_raw "$tmp/hwcap-exec" --engine=loader -- \
	sed -n 's/^CapPrm:.//p' /proc/self/status)" 0000000000002000

# A script's own set-id bit never counts; its interpreter's does.
printf '#!%s/setuid\n' "$tmp" >"$tmp/script"
printf '#!/bin/sh\necho ran\n' >"$tmp/setuid-script"
chmod 755 "$tmp/script"
chmod 4755 "$tmp/setuid-script"
exits "script of a setuid interpreter: refused" 126 as_nobody "${run[@]}" "$tmp/script"
is "setuid script: runs" "$(as_nobody "${run[@]}" "$tmp/setuid-script")" "ran"

done_testing
