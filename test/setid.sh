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

# ---- in user namespaces: owners who have no id there ----------------------------

# in_namespace MAP USER COMMAND...: with ids mapped by MAP, for users and groups
# shellcheck disable=SC2317,SC2329 # called by what is tested
mapped() { [ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]; }
in_namespace()
{
	local map=$1 user=$2 inner
	shift 2
	# shellcheck disable=SC2016 # the inner shell's
	${outside-} unshare -U sh -c 'read -r _ <"$1" && shift && exec "$@"' - "$tmp/go" \
		setpriv --reuid="$user" --regid="$user" --clear-groups env -- "$@" &
	inner=$!
	if ! wait_for 10 mapped $inner || ! echo "$map" >/proc/$inner/uid_map || ! echo "$map" >/proc/$inner/gid_map; then
		kill $inner
		return 99
	fi
	echo go >"$tmp/go"
	wait $inner
}
mkfifo "$tmp/go"
# verdict NAME MAP USER PROGRAM: natively and masked the same, or refused where
# the ids would change
verdict()
{
	local name=$1 map=$2 user=$3 native plain
	plain=$(in_namespace "$map" "$user" "$tmp/plain")
	native=$(in_namespace "$map" "$user" "$4")
	in_namespace "$map" "$user" "${run[@]}" "$4" >"$tmp/out" 2>"$tmp/err"
	if [ "$plain" = "$native" ]; then
		is "$name: it runs, as natively" "$(cat "$tmp/out")" "$native"
	else
		is "$name: it changes $plain to $native, so it is refused" "$(cat "$tmp/out")" ""
		like "$name: the reason" "$(cat "$tmp/err")" "set-id bits"
	fi
}
if ! unshare -U true 2>/dev/null; then
	skip "set-id programs in a user namespace" "unable to make one"
	done_testing
fi
for owner in 0:0 1:0 0:1 70000:70000 0:70000 65534:0; do
	for mode in 4755 2755 6755; do
		cp "$tmp/ids" "$tmp/owned" && chown $owner "$tmp/owned" && chmod $mode "$tmp/owned"
		verdict "of $owner, mode $mode, root, who is all there is" "0 0 1" 0 "$tmp/owned"
		[ $owner = 0:70000 ] || # root may write to it in any case
			verdict "of $owner, mode $mode, root of 65536 ids" "0 0 65536" 0 "$tmp/owned"
		[ "${owner%70000}" != "$owner" ] ||
			verdict "of $owner, mode $mode, one of 65536 ids" "0 0 65536" 3 "$tmp/owned"
		verdict "of $owner, mode $mode, one of 100 ids" "0 0 100" 3 "$tmp/owned"
	done
done
chown 70000:70000 "$tmp/owned" && chmod 6755 "$tmp/owned"
is "natively the bits of an owner without id are void" \
	"$(in_namespace "0 0 65536" 3 "$tmp/owned")" "3 3 3 3"
in_namespace "0 0 65536" 3 "${run[@]}" "$tmp/owned" >"$tmp/out" 2>"$tmp/err"
is "limit: without privilege he is taken for nobody, where nobody has an id" "$?" 126
# Capabilities that another namespace's root gave.
cp "$tmp/ids" "$tmp/theirs"
chown 70000:70000 "$tmp/theirs"
outside="setpriv --reuid=70000 --regid=70000 --clear-groups"
in_namespace "0 70000 1000" 0 setcap cap_net_raw+ep "$tmp/theirs" || fail "unable to set a file capability in a namespace"
is "capabilities for the root of another namespace are void: runs" "$(as_nobody "${run[@]}" "$tmp/theirs")" \
	"65534 65534 65534 65534"
exits "in his namespace they are not" 126 in_namespace "0 70000 1000" 3 "${run[@]}" "$tmp/theirs"

done_testing
