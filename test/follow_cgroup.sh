#!/bin/bash
# follow_cgroup.sh - under --follow the cgroup's mask is read at each exec, for the caller's
# shellcheck source=test/lib.sh disable=SC2016,SC2086,SC2317 # inner shells; words of "$user"

# What hangs here would hang for ever.
[ -n "${FOLLOW_TIMEOUT-}" ] || FOLLOW_TIMEOUT=120 exec timeout 120 "$0" "$@"
. "$(dirname "$0")/lib.sh"

base=
for directory in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ "$(stat -f -c %T "$directory" 2>/dev/null)" != cgroup2fs ] || base=$directory
done
if [ -z "$base" ] || [ "$(id -u)" != 0 ] || ! mkdir "$base/hwcap-follow.$$" 2>/dev/null; then
	skip "cgroups under --follow" "needs root and a writable cgroup2 hierarchy"
	done_testing
fi
mount=$base
base=$base/hwcap-follow.$$
no_process() { [ -z "$(cat "$base/cgroup.procs" "$base"/*/cgroup.procs 2>/dev/null)" ]; }
cleanup()
{
	wait_for 5 no_process
	rmdir "$base"/* "$base" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT
mkdir "$base/a" "$base/b"

tool=$tmp/tool
$CC -std=gnu11 -O1 -pthread -o "$tool" "$srcdir/test/follow-tool.c" || bail_out "unable to compile"
$CC -std=gnu11 -O1 -o "$tmp/secure" "$srcdir/test/follow-tool.c" || bail_out "unable to compile"
cp "$HWCAP_EXEC" "$HWCAPCTL" "$tmp"
chmod 755 "$tmp"/*
exe=$tmp/hwcap-exec ctl="$tmp/hwcapctl cgroup"
export PATH=$tmp:$PATH

native=$("$tool" show)
read -r hwcap hwcap2 _ <<<"$native"
[ "$((hwcap))" != 0 ] || bail_out "AT_HWCAP is 0 here: there is nothing to hide"
# The three lowest bits there are.
one=$((hwcap & -hwcap)) rest=$((hwcap & (hwcap - 1)))
two=$((rest & -rest)) rest=$((rest & (rest - 1)))
three=$((rest & -rest))
without() # BITS...: the line that "show" prints
{
	local value=$((hwcap)) hidden
	for hidden; do
		value=$((value & ~hidden))
	done
	printf '%#x %s %#x %s\n' $value "$hwcap2" $value "$hwcap2"
}
lines() { printf '%s\n' "$@"; }
inside() { (echo "$BASHPID" >"$1/cgroup.procs" && shift && "$@"); }
hides() { $ctl set --exact "AT_HWCAP=$2" "$1" 2>"$tmp/set.err"; } # CGROUP BITS
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all -- "$@"
}
record() { printf 'AT_HWCAP\t%#x\t%#x\n' "$1" "$1"; }
line=--mask=AT_HWCAP=$one # the command line's

# ---- read at each exec ---------------------------------------------------------
hides "$base/a" $two
hides "$base/b" $three
is "the cgroup's mask and the command line's" \
	"$(inside "$base/a" "$exe" -f "$line" -- sh -c 'tool show')" "$(without $one $two)"
script='tool show
	hwcapctl cgroup set --exact AT_HWCAP=$2 $1/a 2>/dev/null; tool show
	hwcapctl cgroup clear $1/a; tool show
	hwcapctl cgroup set --exact AT_HWCAP=$3 $1/a 2>/dev/null; tool show'
is "a change acts on the next exec, and only the command line's is fixed" \
	"$(inside "$base/a" "$exe" -f "$line" -- sh -c "$script" - "$base" $three $two)" \
	"$(without $one $two; without $one $three; without $one; without $one $two)"
is "where the caller went" "$(inside "$base/a" "$exe" -f "$line" -- \
	sh -c 'tool show; echo $$ >"$1/b/cgroup.procs"; tool show; exec tool show' - "$base")" \
	"$(without $one $two; without $one $three; without $one $three)"
is "not where the tree was started" "$("$exe" -f "$line" -- \
	sh -c 'tool show; (sh -c "echo \$PPID" >"$1/b/cgroup.procs"; tool show); tool show' - "$base")" \
	"$(without $one; without $one $three; without $one)"
for engine in auto loader trace; do
	is "--engine=$engine for the first" "$(inside "$base/a" "$exe" -f -e $engine -- "$tool" vfork "$tool" show)" \
		"$(without $two)"
done
is "threads that execute" "$(inside "$base/a" "$exe" -f -- "$tool" threads "$tool" show)" "$(without $two)"
is "--no-cgroup leaves it out" "$(inside "$base/a" "$exe" -f --no-cgroup "$line" -- sh -c 'tool show')" \
	"$(without $one)"
is "--cgroup=PATH is fixed" "$(inside "$base/a" "$exe" -f "--cgroup=$base/b" -- \
	sh -c 'hwcapctl cgroup clear $1/b; tool show' - "$base")" "$(without $three)"
hides "$base/b" $three

# Out of the reader's reach, so it has to see it from where it started.
is "in other namespaces" "$(inside "$base/a" "$exe" -f "$line" -- unshare --mount --cgroup --pid --fork \
	--mount-proc sh -c 'umount -l "$1" && tool show' - "$mount")" "$(without $one $two)"
is "with another pid namespace's /proc" "$(inside "$base/a" unshare --pid --fork "$exe" -f "$line" -- \
	"$tool" threads "$tool" show)" "$(without $one $two)"
is "without /proc" "$(inside "$base/a" unshare --mount sh -c 'umount -l /proc; exec "$@"' - "$exe" -f "$line" \
	-- sh -c 'hwcapctl cgroup get >/dev/null; echo $?')" 0

# ---- whoever starts it ---------------------------------------------------------
is "nobody: the cgroup's mask" "$(inside "$base/a" as_nobody "$exe" -f "$line" -- sh -c 'tool show')" \
	"$(without $one $two)"
mkfifo "$tmp/go" "$tmp/done"
inside "$base/a" as_nobody "$exe" -f "$line" -- sh -c 'echo $$; tool show; read -r _; tool show; read -r _; tool show' \
	<"$tmp/go" >"$tmp/done" &
exec 8>"$tmp/go" 9<"$tmp/done"
read -rt 10 pid <&9
read -rt 10 first <&9
hides "$base/a" $three
echo >&8
read -rt 10 second <&9
echo "$pid" >"$mount/cgroup.procs"
echo >&8
read -rt 10 third <&9
exec 8>&- 9<&-
wait
is "nobody: read at each exec" "$first; $second; $third" \
	"$(without $one $two); $(without $one $three); $(without $one)"

# ---- the owner's record, and AT_SECURE -----------------------------------------
hides "$base/a" $two
chown 65534 "$base/a"
setfattr -n user.hwcap_mask -v "$(record $three)
" "$base/a"
chown 65533 "$tmp/secure"
chmod 4755 "$tmp/secure"
is "the owner's record counts, but not for set-id programs" \
	"$(inside "$base/a" "$exe" -f "$line" -- sh -c 'tool show; secure show')" \
	"$(without $one $two $three)
$(without $one $two | cut -d' ' -f1,2) 0 0"
setfattr -x user.hwcap_mask "$base/a"

# ---- what cannot be read -------------------------------------------------------
inside "$base/a" "$exe" -f "$line" -- sh -c 'tool show; echo garbled >&2; read -r _; tool show; echo $?
	read -r _; tool show; echo $?' <"$tmp/go" >"$tmp/out" 2>"$tmp/err" &
exec 8>"$tmp/go"
wait_for 10 grep -q garbled "$tmp/err"
setfattr -n security.hwcap_mask -v garbage "$base/a"
echo >&8
wait_for 10 grep -q 126 "$tmp/out"
hides "$base/a" $two
echo >&8
exec 8>&-
wait
is "a record that cannot be understood: that exec fails" "$(cat "$tmp/out")" \
	"$(without $one $two)"$'\n126\n'"$(without $one $two)"$'\n0'
like "with one line" "$(grep -c '^hwcap-exec: ' "$tmp/err") $(grep '^hwcap' "$tmp/err")" \
	"^1 hwcap-exec: process [0-9]+: security.hwcap_mask of cgroup $base/a: line 1, byte 1: .*--no-cgroup"
like "with EPERM" "$(cat "$tmp/err")" 'tool: Operation not permitted'
setfattr -n security.hwcap_mask -v garbage "$base/a"
exits "at the start it is 125, --follow=try or not" 125 inside "$base/a" "$exe" --follow=try "$line" -- "$tool" show
is "later --follow=try runs it with the command line's" "$("$exe" --follow=try "$line" -- \
	sh -c 'echo $$ >"$1/a/cgroup.procs"; exec tool show' - "$base" 2>&1)" "$(without $one)"
hides "$base/a" $two
if unshare --mount true 2>/dev/null; then
	is "insisted, and out of sight later: EPERM" "$(inside "$base/a" unshare --mount "$exe" -f --cgroup -- \
		sh -c 'tool show; umount -l "$1"; tool show; echo $?' - "$mount" 2>"$tmp/err")" \
		"$(without $two)"$'\n126'
	like "and one line says why" "$(grep -c '^hwcap-exec: ' "$tmp/err") $(cat "$tmp/err")" '^1 .*--cgroup: no cgroup'
fi

# ---- nested --------------------------------------------------------------------
is "nested in a tree without: for its own" "$(inside "$base/a" "$exe" -f --no-cgroup "$line" -- sh -c \
	'tool show; hwcap-exec -f -- sh -c "tool show; hwcapctl cgroup clear $1/a; tool show"; tool show' - "$base")" \
	"$(without $one; without $one $two; without $one; without $one)"
hides "$base/a" $two
is "nested without: the outer one's" "$(inside "$base/a" "$exe" -f -- sh -c \
	'hwcap-exec -f --no-cgroup "$1" -- sh -c "tool show"' - "$line")" "$(without $one $two)"

# ---- --cgroup-root -------------------------------------------------------------
mkdir -p "$tmp/tree/${base#"$mount"}/a"
record 0 >"$tmp/tree/misc.mask"
record $one >"$tmp/tree/${base#"$mount"}/misc.mask"
is "--cgroup-root, relative, read at each exec" "$(cd "$tmp" && inside "$base/a" "$exe" -f --cgroup-root=tree -- \
	sh -c 'tool show; cd /; tool show; printf "AT_HWCAP\t0x0\t%#x\n" $2 >"$1"; tool show' - \
	"$tmp/tree/${base#"$mount"}/misc.mask" $three)" \
	"$(without $one; without $one; without $three)"
is "nested, it is fixed" "$(inside "$base/a" "$exe" -f --no-cgroup -- \
	hwcap-exec -f --cgroup-root="$tmp/tree" -- sh -c 'rm "$1"; tool show' - "$tmp/tree/${base#"$mount"}/misc.mask")" \
	"$(without $three)"

done_testing
