#!/bin/bash
# trace.sh - the trace engine: what it leaves, what it refuses; and what auto chooses
. "$(dirname "$0")/lib.sh"

if [ "$ARCH" != x86_64 ]; then
	skip "trace engine" "not written for $ARCH"
	done_testing
fi
$CC -O1 -o "$tmp/probe" "$srcdir/test/trace/probe.c" || bail_out "probe.c"
$CC -D_GNU_SOURCE -O1 -o "$tmp/again" "$srcdir/test/trace/again.c" || bail_out "again.c"
$CC -O1 -o "$tmp/launch" "$srcdir/test/trace/launch.c" -lseccomp || bail_out "launch.c"
as --32 -o "$tmp/i386.o" "$srcdir/test/trace/i386.S" && ld -m elf_i386 -o "$tmp/i386" "$tmp/i386.o" ||
	bail_out "i386.S"
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
cd "$tmp" || bail_out "no $tmp"

mask=AT_HWCAP=0xfe
trace=("$tmp/hwcap-exec" --engine=trace "--mask=$mask" --)
auto=("$tmp/hwcap-exec" -v "--mask=$mask" --)
root=
[ "$(id -u)" != 0 ] || root=yes
# setpriv's own capabilities end with an exec; env makes sure of it.
nobody()
{
	if [ "$root" ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups env -- "$@"
	else
		env -- "$@"
	fi
}

# same_but_masked NAME HOW...: "launch HOW -- probe" as natively, but for the bits
same_but_masked()
{
	local name=$1 native masked
	shift
	native=$(./launch "$@" -- ./probe)
	masked=$(./launch "$@" -- "${trace[@]}" ./probe 2>&1)
	is "$name" "$masked" "${native/low ?? /low 1 }"
}

# refused NAME STATUS ERE COMMAND...: nothing on stdout, one line on stderr
refused()
{
	local name=$1 status=$2 text=$3
	shift 3
	exits "$name: status $status" "$status" "$@"
	is "$name: nothing ran" "$(cat out)" ""
	like "$name: says why" "$(cat err)" "$text"
	is "$name: in one line" "$(wc -l <err)" 1
}

# ---- what remains -------------------------------------------------------------
like "the probe sees the bits natively" "$(./probe)" '^low [^1]'
same_but_masked "nothing remains"
same_but_masked "with SIGCHLD and SIGTRAP blocked" block
same_but_masked "with both ignored" ignore
same_but_masked "with both ignored and blocked" ignore block
same_but_masked "with SIGCHLD pending" pending
same_but_masked "with SIGTRAP pending" trap-pending
# SIGCHLD, for the thread and not for the process.
cat >pend.py <<'P'
import os, signal, sys, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
signal.pthread_kill(threading.get_ident(), signal.SIGCHLD)
os.execv(sys.argv[1], sys.argv[1:])
P
pends=(grep -E '^S(ig|hd)Pnd' /proc/self/status)
is "limit: with SIGCHLD pending for the thread alone, one more for the process" \
	"$(python3 pend.py "${trace[@]}" "${pends[@]}")" \
	"$(python3 pend.py "$(type -P grep)" "${pends[@]:1}" | sed 's/^ShdPnd.*/ShdPnd:\t0000000000010000/')"
same_but_masked "with both pending" pending trap-pending
same_but_masked "as a subreaper" subreaper
is "unprivileged" "$(nobody "${trace[@]}" "$tmp/probe" 2>&1)" "$(nobody "$tmp/probe" | sed 's/low ../low 1/')"
is "a parent that is a subreaper gets one child and one signal" \
	"$(./launch watch -- "${trace[@]}" true)" "signals 1 children 1 status 0"
is "and of an exec that fails, too" \
	"$(./launch watch -- "${trace[@]}" /nonexistent 2>err)" "signals 1 children 1 status 32512"
if [ "$root" ]; then
	is "as PID 1" "$(unshare -pf --mount-proc "${trace[@]}" ./probe 2>&1)" \
		"$(unshare -pf --mount-proc ./probe | sed 's/low ../low 1/')"
	is "without /proc" "$(unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh \
		"${trace[@]}" ./probe 2>&1 | cut -d' ' -f1,2)" "low 1"
	# shellcheck disable=SC2016
	is "with the /proc of another pid namespace" "$(unshare -pf "${trace[@]}" ./probe 2>&1 | cut -d' ' -f1,2)" \
		"low 1"
else
	skip "as PID 1, without /proc, with another /proc" "needs root"
fi
(exec -a odd "$tmp/probe") >native
is "argv[0]" "$("$tmp/hwcap-exec" -e trace -m "$mask" -a odd -- sh -c 'echo $0')" odd
is "arguments" "$("${trace[@]}" printf '<%s>' '' 'a b' '-x')" "<><a b><-x>"
printf 'echo "$0 $1"\n' >text && chmod +x text
is "text runs by the shell" "$("${trace[@]}" ./text one)" "./text one"
printf '#!%s again\n' "$tmp/probe" >script && chmod +x script
is "the interpreter of a script is masked" "$("${trace[@]}" ./script | cut -d' ' -f1,2 | head -n 1)" "low 1"

# ---- what fails ---------------------------------------------------------------
printf '\1\2\0\n' >junk && chmod +x junk
: >empty && chmod +x empty
touch plain
refused "no such file" 127 'no-such-file' "${trace[@]}" ./no-such-file
echo 'int main(void) { return 0; }' >no-interp.c
$CC -Wl,--dynamic-linker=/no/ld.so -o no-interp no-interp.c || bail_out "no-interp.c"
refused "no interp" 126 'no-interp: interpreter /no/ld.so: ' "${trace[@]}" ./no-interp
printf '#!/no/interpreter\n' >no-interpreter && chmod +x no-interpreter
refused "no interpreter of a script found in PATH" 126 'no-interpreter: interpreter /no/interpreter: ' \
	env PATH="$tmp:$PATH" "${trace[@]}" no-interpreter
refused "not in PATH" 127 'not found in PATH' "${trace[@]}" no-such-file
refused "no x bit" 126 'plain: .*[Pp]ermission' "${trace[@]}" ./plain
refused "a directory" 126 'denied' "${trace[@]}" ./
refused "no format" 126 'junk' "${trace[@]}" ./junk
refused "a tracer is there already" 125 'traced already' \
	strace -f -o strace.out "${trace[@]}" ./probe
refused "ptrace forbidden" 125 'ptrace is forbidden' ./launch no-ptrace -- "${trace[@]}" ./probe
if [ "$root" ]; then
	limit=(setpriv --reuid=54321 --regid=54321 --clear-groups prlimit --nproc=1)
	refused "RLIMIT_NPROC" 125 'RLIMIT_NPROC' "${limit[@]}" "${trace[@]}" "$tmp/probe"
	like "RLIMIT_NPROC, auto" "$("${limit[@]}" "${auto[@]}" "$tmp/probe" 2>&1)" '^low 1 '
	cp probe unreadable && chmod 711 unreadable
	refused "execute-only" 126 'may be executed but not read' nobody "${trace[@]}" "$tmp/unreadable"
	refused "unshare --pid, where the helper would be init" 125 'another pid namespace' \
		unshare -p "${trace[@]}" ./probe
	# shellcheck disable=SC2016 # $0 is the inner shell's
	is "unshare --pid, auto: init is the program's first child" "$(unshare -p \
		setpriv --bounding-set=-all --inh-caps=-all "$tmp/hwcap-exec" "--mask=$mask" -- sh -c 'sh -c "echo \$\$"; :' 2>&1)" 1
	cp probe setuid && chmod 4755 setuid
	refused "set-id, unprivileged" 126 'set-id' nobody "${trace[@]}" "$tmp/setuid"
	cp "$(type -P id)" setuid-id && chown 1 setuid-id && chmod 4755 setuid-id
	is "set-id, by root" "$("${trace[@]}" "$tmp/setuid-id" -u 2>&1)" 1
	refused "set-id and a mask in the environment" 125 'HWCAP_EXEC_MASK' \
		env HWCAP_EXEC_MASK=AT_HWCAP=1 "${trace[@]}" "$tmp/setuid-id" -u
else
	skip "RLIMIT_NPROC, execute-only, set-id" "needs root"
fi
if [ -e /proc/sys/kernel/yama/ptrace_scope ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope)" = 1 ]; then
	like "Yama, ptrace_scope 1" "$(nobody "${trace[@]}" "$tmp/probe")" '^low 1 '
else
	skip "Yama, ptrace_scope 1" "this kernel has no Yama at 1"
fi

# Killed at any time, the helper takes the process with it: it is never unmasked.
killed=0 wrong=
for ((i = 0; i < 60 || i < 6000 && killed < 6; i++)); do
	out=$(./launch kill $((i * 7919 % 300000)) -- "${trace[@]}" ./probe 2>/dev/null)
	case $out in
	'killed 9' | 'exited 125') killed=$((killed + 1)) ;;
	'low 1 '*'exited 0') ;;
	*) wrong="$wrong$out;" ;;
	esac
done
is "a helper that is killed never lets it run unmasked" "$wrong" ""
ok "and some were killed in time" test $killed -ge 6

# ---- 32 bits ------------------------------------------------------------------
./i386
native=$?
exits "a 32-bit program, numbers" $((native & 1)) "${trace[@]}" ./i386
exits "a 32-bit program, auto" $((native & 1)) "${auto[@]}" ./i386
exits "a 32-bit program, all" 0 "$tmp/hwcap-exec" -e trace --mask=all ./i386
refused "a 32-bit program, names" 126 'mask in numbers' "$tmp/hwcap-exec" -e trace --mask=fpu ./i386
refused "a 32-bit program, names kept" 126 'mask in numbers' "$tmp/hwcap-exec" --keep=fpu ./i386
refused "a 32-bit program, names, dry run" 126 'mask in numbers' "$tmp/hwcap-exec" -n --mask=fpu ./i386
like "a 32-bit program, dry run" "$("$tmp/hwcap-exec" -n "--mask=$mask" ./i386)" '^engine trace$'
[ ! "$root" ] || exits "a 32-bit program, unprivileged" $((native & 1)) nobody "${trace[@]}" "$tmp/i386"

# ---- auto ---------------------------------------------------------------------
[ ! "$root" ] || like "auto, privileged: loader" "$("${auto[@]}" ./probe 2>&1)" 'engine loader \(/proc/self/exe can'
like "auto, unprivileged: trace" "$(nobody "${auto[@]}" "$tmp/probe" 2>&1)" 'engine trace'
[ ! "$root" ] || like "auto, root without capabilities: masked" \
	"$(setpriv --bounding-set=-all --inh-caps=-all "$tmp/hwcap-exec" "--mask=$mask" -- ./probe)" '^low 1 '
like "auto, unprivileged, no ptrace: a copy" "$(nobody ./launch no-ptrace -- "${auto[@]}" "$tmp/probe" 2>&1)" \
	'engine loader \(in a copy'
is "a copy that executes itself stays masked" \
	"$(nobody ./launch no-ptrace -- "$tmp/hwcap-exec" "--mask=$mask" -- "$tmp/probe" again | cut -d' ' -f1,2 | uniq -c | tr -s ' ')" \
	" 2 low 1"
# shellcheck disable=SC2016
like "a copy larger than files may be is an error" \
	"$(nobody sh -c 'ulimit -f 0; exec ./launch no-ptrace -- "$@"' sh "$tmp/hwcap-exec" -- "$tmp/probe" 2>&1
	echo "status $?")" 'copy of hwcap-exec: File too large'
is "a copy takes a script" \
	"$(nobody ./launch no-ptrace -- "$tmp/hwcap-exec" "--mask=$mask" -- "$tmp/text" one)" "$tmp/text one"
printf '#!%s/again one\n' "$tmp" >by-descriptor
chmod 755 by-descriptor
native=$(nobody timeout 10 "$tmp/by-descriptor" two </dev/null 2>&1)
is "a script whose interpreter executes itself by a descriptor: natively two starts" "$(grep -c '^low [^1]' <<<"$native")" 2
is "the same in a copy, masked" "$(nobody timeout 10 ./launch no-ptrace -- "$tmp/hwcap-exec" "--mask=$mask" -- \
	"$tmp/by-descriptor" two </dev/null 2>&1)" "$(sed 's/^low [0-9a-f]*/low 1/' <<<"$native")"
if [ "$root" ]; then
	# Set-id only once the copy runs it; by root, the filter comes without no_new_privs.
	cp again becomes-setuid
	: >started
	{
		wait_for 10 test -s started
		chmod 4755 becomes-setuid
	} | timeout 20 ./launch no-ptrace -- setpriv --reuid=65534 --regid=65534 --clear-groups env -- \
		"$tmp/hwcap-exec" "--mask=$mask" -- "$tmp/becomes-setuid" >started 2>err
	is "a copy refuses a program that became set-user-ID: status" "${PIPESTATUS[1]}" 126
	like "and says why" "$(cat err)" '^hwcap-exec: .*becomes-setuid: set-id bits'
	is "it ran once, before" "$(cut -d' ' -f1,2 started)" "low 1,"
else
	skip "a copy and a program that became set-user-ID" "needs root"
fi
is "a copy does not take options" "$(nobody ./launch no-ptrace -- "$tmp/hwcap-exec" --mask=all -- "$(type -P busybox)" sh -c \
	'exec -a echo /proc/self/exe --mask=none' 2>&1)" "--mask=none"

# ---- a filter older than faccessat2(2) ------------------------------------------
# Its checks are made by the mode then, with the kernel's verdict.
plain=("$tmp/hwcap-exec" -e loader "--mask=$mask" --)
mkdir -m 755 modes
for mode in 4 5 14 41 45 54 104 140 144 500 504 404 444 744 755; do
	cp probe "modes/$mode"
	chmod "$mode" "modes/$mode"
done
if [ "$root" ]; then
	chgrp 65533 modes/??
	chown 65534 modes/???
fi
cp probe listed
listed=yes
# What "setfacl -m u:65534:rx" makes of it (include/uapi/linux/posix_acl_xattr.h).
any=ffffffff
setfattr -n system.posix_acl_access -v "0x0200000001000700${any}02000500feff000004000500${any}10000500${any}20000500$any" \
	listed 2>/dev/null || listed=no
# verdicts COMMAND...: each of modes/ by COMMAND: its mode, and whether it ran
verdicts()
{
	local file
	for file in "$tmp"/modes/*; do
		"$@" "$file" >/dev/null 2>&1
		echo "${file##*/} $?"
	done
}
for how in no-faccessat2 denied-faccessat2; do
	like "$how: masked" "$(./launch $how -- "${plain[@]}" ./probe 2>&1)" '^low 1 '
	is "$how: a script" "$(./launch $how -- "${plain[@]}" "$tmp/text" one 2>&1)" "$tmp/text one"
	chmod 644 err
	refused "$how: no x bit" 126 "Permission denied" ./launch $how -- "${plain[@]}" ./err
	refused "$how: a directory" 126 "Permission denied" ./launch $how -- "${plain[@]}" "$tmp"
	if [ $listed = yes ]; then
		refused "$how: an access list" 126 "Function not implemented|Operation not permitted" \
			./launch $how -- "${plain[@]}" ./listed
	else
		skip "$how: an access list" "the file system of $tmp has none"
	fi
	is "$how: each mode" "$(verdicts ./launch $how -- "${plain[@]}")" "$(verdicts "${plain[@]}")"
	[ "$root" ] || continue
	for as in "--reuid=65534 --regid=65534 --clear-groups" "--reuid=65535 --regid=65533 --clear-groups" \
		"--reuid=65535 --regid=65535 --groups=1,65533" "--bounding-set=-all --inh-caps=-all"; do
		# shellcheck disable=SC2086
		is "$how: each mode, $as" "$(verdicts setpriv $as env -- ./launch $how -- "${plain[@]}")" \
			"$(verdicts setpriv $as env -- "${plain[@]}")"
	done
	# shellcheck disable=SC2016
	like "$how: on a noexec mount" "$(unshare -m sh -c 'mount -t tmpfs -o noexec none "$1/modes" && cp probe modes &&
		shift && exec "$@"' sh "$tmp" ./launch $how -- "${plain[@]}" modes/probe 2>&1)" "modes/probe: Permission denied"
done

# Programs that go by /proc/self/exe, by a user who cannot set it.
for program in "java -version" "clang --version" "busybox sh --help" "perl -e 'print \$^X'"; do
	eval "set -- $program"
	is "unprivileged under auto: $1" "$(nobody "$tmp/hwcap-exec" "--mask=$mask" -- "$@" 2>&1)" "$(nobody "$@" 2>&1)"
done

done_testing
