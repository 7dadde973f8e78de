#!/bin/bash
# faults.sh - system calls that fail, limits that are too small, a world without /proc
#
# Whatever fails: the target runs masked as it would otherwise, or hwcap-exec says in one line why
# not, or the process dies as execve kills. Never unmasked, never half loaded.
. "$(dirname "$0")/lib.sh"

faults=$builddir/obj/test/faults
if ! [ -x "$faults/inject" ]; then
	skip "faults" "their programs need a machine of this architecture"
	done_testing
fi
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
cp "$faults/target" "$faults/target-pie" "$faults/target-interp" "$tmp"
exec_=$tmp/hwcap-exec target=$tmp/target
printf '#!%s argument\n' "$target" >"$tmp/script"
chmod 755 "$tmp/script"
if [ "$(id -u)" = 0 ]; then
	nobody=65534
	as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env --)
else
	nobody=0
	as_nobody=(env --)
fi

# ---- every system call, every errno ------------------------------------------

# inject NAME OPTION... COMMAND...
inject()
{
	local name=$1
	shift
	if "$faults/inject" "${options[@]}" "$name" "$@" >"$tmp/inject.out" 2>&1; then
		pass "$name:$(sed -n 's/^#[^:]*://p' "$tmp/inject.out")"
	else
		fail "$name"
		tail -n 30 "$tmp/inject.out" | show
	fi
}

options=()
inject "loader, static" "$exec_" --mask=all --engine=loader --no-cgroup -- "$target"
inject "loader, static PIE" "$exec_" --mask=all --engine=loader --no-cgroup -- "$tmp/target-pie"
inject "loader, with interpreter" "$exec_" --mask=all --engine=loader --no-cgroup -- "$tmp/target-interp"
inject "loader, script" "$exec_" --mask=all --engine=loader --no-cgroup -- "$tmp/script"
inject "auto, cgroups as well" "$exec_" --mask=all -- "$target"
inject "trace" "$exec_" --mask=all --engine=trace --no-cgroup -- "$target"
options=(-u "$nobody")
# Its interpreter is named by its place in the tree, which may be out of reach.
with_interp=$tmp/target-interp
"${as_nobody[@]}" test -x "$faults/target-pie" || with_interp=$tmp/target-pie
inject "loader, unprivileged" "$exec_" --mask=all --engine=loader --no-cgroup -- "$with_interp"
inject "auto, unprivileged" "$exec_" --mask=all --no-cgroup -- "$target"
inject "trace, unprivileged" "$exec_" --mask=all --engine=trace --no-cgroup -- "$with_interp"

# The mask is the cgroup's alone: failing to read it must not lose it.
cgroup=''
for directory in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e "$directory/cgroup.procs" ] && mkdir "$directory/hwcap-faults.$$" 2>/dev/null &&
		cgroup=$directory/hwcap-faults.$$ && break
done
if [ -n "$cgroup" ] && "$HWCAPCTL" cgroup set all "$cgroup" >"$tmp/set.out" 2>&1; then
	in_cgroup() { (echo "$BASHPID" >"$cgroup/cgroup.procs" && exec "$@"); }
	is "a cgroup's mask" "$(in_cgroup "$exec_" "$target" | sed -n 2p)" "  00000000000000000"
	# alone NAME OPTION... -- COMMAND...: with these options of inject
	alone()
	{
		local name=$1 options=()
		shift
		while [ "$1" != -- ]; do
			options+=("$1")
			shift
		done
		shift
		if in_cgroup "${layout[@]}" "$faults/inject" "${options[@]}" "cgroup $name" "$@" -- "$target" \
			>"$tmp/inject.out" 2>&1; then
			pass "mask of the cgroup alone, $name:$(sed -n 's/^#[^:]*://p' "$tmp/inject.out")"
		else
			fail "mask of the cgroup alone, $name"
			tail -n 30 "$tmp/inject.out" | show
		fi
	}
	layout=()
	alone default -a -- "$exec_" --engine=loader
	alone --cgroup -- "$exec_" --cgroup --engine=loader
	alone unprivileged -a -u "$nobody" -- "$exec_" --engine=loader
	if unshare --mount true 2>/dev/null; then
		layout=(unshare --mount --propagation=private sh -c 'umount -l -R /sys/fs/cgroup &&
			mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' sh)
		alone "version 2 alone" -a -- "$exec_" --engine=loader
		alone "version 2 alone, --cgroup" -- "$exec_" --cgroup --engine=loader
		alone "version 2 alone, unprivileged" -a -u "$nobody" -- "$exec_" --engine=loader
	fi
	"$HWCAPCTL" cgroup clear "$cgroup" >"$tmp/clear.out" 2>&1
else
	skip "mask of the cgroup alone" "unable to make a cgroup and its record here"
fi
if [ -n "$cgroup" ]; then
	wait_for 5 rmdir "$cgroup" 2>"$tmp/rmdir.err" || show "$tmp/rmdir.err"
fi

# ---- limits ----------------------------------------------------------------------

# Without the addresses, which limits and namespaces may change.
essence() { sed -n '/^vector/,/^descriptor/p' "$@" | grep -v '^  0000[0-9a-f]*[1-9a-f][0-9a-f]\{9\}$'; }
"${as_nobody[@]}" "$exec_" --mask=all --no-cgroup --engine=loader -- "$target" >"$tmp/out"
essence "$tmp/out" >"$tmp/wanted"
like "what the target is to say" "$(cat "$tmp/wanted")" '^vector'

# outcome COMMAND...: runs as it should, or is refused in one line, or is killed with no output
outcome()
{
	local status
	# Through pipes: the size of files may be limited.
	{ { "$@" </dev/null; echo $? >"$tmp/status"; } 2>&3 | cat >"$tmp/out"; } 3>&1 | cat >"$tmp/err"
	status=$(cat "$tmp/status")
	case $status in
	0) essence "$tmp/out" | cmp -s - "$tmp/wanted" && [ ! -s "$tmp/err" ] ;;
	125 | 126 | 127) [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && grep -q '^hwcap-exec: ' "$tmp/err" ;;
	# The tracer's, when the target is there already but cannot be masked.
	137) [ ! -s "$tmp/out" ] && { [ "$mortal" ] || grep -q '^hwcap-exec: ' "$tmp/err"; } ;;
	# The kernel's, when even hwcap-exec does not fit.
	139) [ ! -s "$tmp/out" ] && [ "$mortal" ] ;;
	*) false ;;
	esac
}

# limits NAME PRLIMIT-OPTION VALUE...: in all engines, as nobody
limits()
{
	local name=$1 option=$2 value engine bad=() seen=''
	shift 2
	for value; do
		for engine in auto loader trace; do
			outcome "${as_nobody[@]}" prlimit "--$option=$value" "$exec_" --mask=all --no-cgroup \
				--engine=$engine -- "$target" || bad+=("$engine $value: $(head -n 2 "$tmp/err")")
			[ -s "$tmp/out" ] && seen+=r || seen+=x
		done
	done
	if [ ${#bad[@]} = 0 ] && [[ $seen == *r* ]]; then
		pass "$name ($seen)"
	else
		fail "$name ($seen)"
		printf '%s\n' "${bad[@]+"${bad[@]}"}" | show
	fi
}

mortal=1
limits "RLIMIT_AS" as 65536 262144 1048576 4194304 16777216
limits "RLIMIT_STACK" stack 65536 131072 262144 1048576 8388608 unlimited
mortal=''
limits "RLIMIT_NOFILE" nofile 3 4 5 6 7 1024
limits "RLIMIT_DATA" data 0 4096 65536 1048576
limits "RLIMIT_FSIZE" fsize 0 1 4096
limits "RLIMIT_NPROC" nproc 0 1 100
limits "RLIMIT_MEMLOCK" memlock 0 4096

skip "vm.overcommit_memory=2" "it is of the whole machine; RLIMIT_AS and RLIMIT_DATA refuse the same calls"

# ---- the world ---------------------------------------------------------------------

for engine in auto loader trace; do
	for closed in "<&-" ">&-" "2>&-" "<&- >&- 2>&-"; do
		name="$engine $closed"
		rm -f "$tmp/result"
		eval "\"\$exec_\" --mask=all --no-cgroup --engine=$engine -- /bin/sh -c \
			'ls /proc/self/fd >$tmp/result 2>&1' $closed"
		wanted=$(eval "sh -c 'ls /proc/self/fd >$tmp/native 2>&1' $closed"; cat "$tmp/native")
		is "$name: the same descriptors" "$(cat "$tmp/result")" "$wanted"
	done
	(exec 2>&-; "$exec_" --mask=all --no-cgroup --engine=$engine -- "$tmp/missing" >"$tmp/out")
	is "$engine: a message that cannot be written" "$? $(cat "$tmp/out")" "127 "
done

if unshare --mount true 2>/dev/null; then
	# world NAME SCRIPT: prepare a mount namespace, then see what comes of it
	world()
	{
		local engine
		for engine in auto loader trace; do
			outcome unshare --mount --propagation=private sh -c "$2"' && exec "$@"' sh \
				setpriv --reuid=65534 --regid=65534 --clear-groups env -- \
				"$exec_" --mask=all --no-cgroup --engine=$engine -- "$target"
			is "$1, $engine" "$? $(head -n 1 "$tmp/err")" "0 "
			[ -s "$tmp/out" ] || fail "$1, $engine: it runs"
		done
	}
	world "/proc read-only" 'mount -o remount,ro,bind /proc'
	unshare --mount --propagation=private sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		"$exec_" --mask=all -- "$target" >"$tmp/out" 2>"$tmp/err"
	is "no /proc: runs" "$? $(cat "$tmp/err")" "0 "
	is "no /proc: masked" "$(sed -n 2p "$tmp/out")" "  00000000000000000"
	unshare --mount --propagation=private sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		"${as_nobody[@]}" "$exec_" --cgroup -- "$target" >"$tmp/out" 2>"$tmp/err"
	is "no /proc and --cgroup, unprivileged: refused" "$? $(cat "$tmp/out")" "125 "
else
	skip "read-only and missing /proc" "unable to make a mount namespace"
fi

done_testing
