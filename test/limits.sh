#!/bin/bash
# limits.sh - what the manual's LIMITS tells of and no other test shows
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

if [ "$ARCH" != x86_64 ]; then
	skip "limits" "written for x86_64"
	done_testing
fi
masked() { "$HWCAP_EXEC" --no-cgroup --mask=all -- "$@"; }
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
as_nobody()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups env -- "$@"
	else
		env -- "$@"
	fi
}

# ---- what a mask does not reach ---------------------------------------------------

cat >"$tmp/cpuid.c" <<'C'
int main(void) { return !__builtin_cpu_supports("sse2"); }
C
$CC -o "$tmp/cpuid" "$tmp/cpuid.c"
ok "CPUID tells the truth" masked "$tmp/cpuid"
is "/proc/cpuinfo does" "$(masked grep -m 1 ^flags /proc/cpuinfo)" "$(grep -m 1 ^flags /proc/cpuinfo)"
entries() { LD_SHOW_AUXV=1 "$@" | grep -E '^AT_(PLATFORM|BASE_PLATFORM|MINSIGSTKSZ)'; }
is "AT_PLATFORM and AT_MINSIGSTKSZ stay" "$(entries masked /bin/true)" "$(entries /bin/true)"
vector() { "$@" "$HWCAPCTL" show; }
native=$(vector)
is "what the program executes has the kernel's vector" "$(masked sh -c '"$0" show; :' "$HWCAPCTL")" "$native"
[ "$(vector masked)" != "$native" ] || fail "the program itself has not"

# ---- how the process differs ------------------------------------------------------

loader=("$tmp/hwcap-exec" --no-cgroup --engine=loader --)
trace=("$tmp/hwcap-exec" --no-cgroup --engine=trace --)
is "loader, without the right: the link" "$(as_nobody "${loader[@]}" readlink /proc/self/exe)" "$tmp/hwcap-exec"
mkfifo "$tmp/fifo" && chmod 666 "$tmp/fifo"
cp "$(type -P cat)" "$tmp/cat"
writes()
{
	local pid name=$1 wanted=$2 result=no
	shift 2
	exec 8<>"$tmp/fifo"
	as_nobody "$@" "$tmp/cat" "$tmp/fifo" >"$tmp/said" 2>&1 8>&- &
	pid=$!
	echo begun >&8
	wait_for 10 grep -q begun "$tmp/said" || fail "$name: it runs"
	{ true 9>>"$tmp/cat"; } 2>"$tmp/err" && result=yes
	exec 8>&-
	wait $pid
	is "$name: the file of a program that runs can be written to" "$result" "$wanted"
}
writes "natively" no
writes "loader, without the right" yes "${loader[@]}"
writes "trace" no "${trace[@]}"
usage=(python3 -c 'import resource; u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_nvcsw + u.ru_nivcsw + u.ru_minflt > 0)')
is "natively no children are counted" "$(as_nobody "${usage[@]}")" False
is "under a tracer its helper is" "$(as_nobody "${trace[@]}" "${usage[@]}")" True
if [ "$(id -u)" = 0 ]; then
	# PF_SUPERPRIV, include/linux/sched.h
	used() { "$@" sh -c 'read -r _ _ _ _ _ _ _ _ flags _ </proc/self/stat; echo $((flags & 0x100))'; }
	is "natively no privilege was used" "$(used env)" 0
	is "it was, to set the link" "$(used "${loader[@]}")" 256
	exits "unshare --pid without --fork: no tracer" 125 unshare --pid "${trace[@]}" true
	like "it says so" "$(cat "$tmp/err")" "pid namespace|children"
else
	skip "with privilege" "needs root"
fi

# 128 KiB of arguments are allowed at least; there is no more below a small stack.
argument=$(printf '%0120000d' 0) ours=$(printf '%020000d' 0)
small() { bash -c 'ulimit -s 256; exec "$@"' - env -i "$@"; }
exits "natively the arguments fit" 0 small /bin/true "$argument"
exits "so they do with few words of ours" 0 small "${loader[@]}" /bin/true "$argument"
exits "our own take room" 126 small "${loader[@]::3}" --argv0="$ours" -- /bin/true "$argument"
like "it is E2BIG of our own exec" "$(cat "$tmp/err")" "Argument list too long"

python3 - "$tmp/arm" <<'P'
import os, struct, sys
head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 183, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120, 120, 4096)
open(sys.argv[1], "wb").write(head + load)
os.chmod(sys.argv[1], 0o755)
P
exits "a program of another machine" 126 "${loader[@]}" "$tmp/arm"
like "and its machine is named" "$(cat "$tmp/err")" "is for arm64"
done_testing
