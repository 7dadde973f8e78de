#!/bin/bash
# follow.sh - descendants under --follow: all of them masked, none disturbed
# shellcheck source=test/lib.sh disable=SC2016,SC2086,SC2317 # inner shells; words of "$user"

# What hangs here would hang for ever.
[ -n "${FOLLOW_TIMEOUT-}" ] || FOLLOW_TIMEOUT=300 exec timeout 300 "$0" "$@"
. "$(dirname "$0")/lib.sh"

if ! command -v setpriv >/dev/null; then
	bail_out "setpriv (util-linux) is missing"
fi
tool=$tmp/tool
$CC -std=gnu11 -O1 -pthread -o "$tool" "$srcdir/test/follow-tool.c" || bail_out "unable to compile"
$CC -std=gnu11 -O1 -pthread -static -o "$tool-static" "$srcdir/test/follow-tool.c" ||
	bail_out "unable to compile"
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
chmod 755 "$tmp/hwcap-exec" "$tool" "$tool-static"

native=$("$tool" show)
read -r hwcap hwcap2 _ <<<"$native"
[ "$((hwcap))" != 0 ] || bail_out "AT_HWCAP is 0 here: there is nothing to hide"
bit=$((hwcap & -hwcap))       # the lowest there is
next=$((hwcap & (hwcap - 1)))
next=$((next & -next))        # and the second one
without() # BITS...: the line that "show" prints
{
	local value=$((hwcap)) hidden
	for hidden; do
		value=$((value & ~hidden))
	done
	printf '%#x %s %#x %s\n' $value "$hwcap2" $value "$hwcap2"
}
masked=$(without $bit)
follow=("$tmp/hwcap-exec" --follow "--mask=AT_HWCAP=$bit")
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups env -- "$@"
}

# The supervisors of this test that are alive; a zombie has no command line.
supervisors()
{
	local pid
	for pid in $(pgrep -x hwcap-follow); do
		tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$tmp" && echo "$pid"
	done
}
one_supervisor()
{
	pids=$(supervisors)
	[ -n "$pids" ]
}
no_supervisor()
{
	[ -z "$(supervisors)" ]
}

# ---- every way to execute ----------------------------------------------------
users=("")
[ "$(id -u)" != 0 ] || users+=(as_nobody)
for user in "${users[@]}"; do
	who=${user:-caller}
	is "$who: the program itself" "$($user "${follow[@]}" -- "$tool" show)" "$masked"
	is "$who: what a shell runs" \
		"$($user "${follow[@]}" -- sh -c '"$0" show; "$0-static" show | cat' "$tool")" \
		"$masked"$'\n'"$masked"
	for how in vfork spawn thread threads fd filter closed children; do
		is "$who: $how" "$($user "${follow[@]}" -- "$tool" $how "$tool" show)" "$masked"
	done
	is "$who: an exec that fails" \
		"$($user "${follow[@]}" -- "$tool" failure "$tmp/none" "$tool" show)" "ENOENT $masked"
	is "$who: another one" "$($user "${follow[@]}" -- "$tool" failure "$srcdir" "$tool" show)" \
		"EACCES $masked"
	is "$who: children killed, stopped and continued" \
		"$($user "${follow[@]}" -- "$tool" kill "$tool" show)" "$masked"
	for state in b bp i; do
		is "$who: SIGTRAP stays as it is ($state)" \
			"$($user "${follow[@]}" -- "$tool" trap $state grep -E '(Sig|Shd)(Blk|Pnd|Ign)' /proc/self/status)" \
			"$($user "$tool" trap $state grep -E '(Sig|Shd)(Blk|Pnd|Ign)' /proc/self/status)"
	done
	printf '#!/bin/sh\n%s show\n' "$tool" >"$tmp/script"
	chmod 755 "$tmp/script"
	is "$who: a script" "$($user "${follow[@]}" -- sh -c "$tmp/script")" "$masked"
	printf '%s show\n' "$tool" >"$tmp/text"
	chmod 755 "$tmp/text"
	is "$who: text without #!, as execvp runs it" "$($user "${follow[@]}" -- "$tmp/text")" "$masked"
	got=$($user "${follow[@]}" -- sh -c 'seq 2000 | xargs -P16 -n1 "$0" show' "$tool" | sort | uniq -c)
	is "$who: 2000 execs by 16 jobs" "${got#"${got%%[! ]*}"}" "2000 $masked"
	exits "$who: exit status" 7 $user "${follow[@]}" -- sh -c 'exit 7'
	exits "$who: not found" 127 $user "${follow[@]}" -- "$tmp/none"
	exits "$who: cannot be run" 126 $user "${follow[@]}" -- "$srcdir"
done
is "with the loader engine for the first" \
	"$("${follow[@]}" --engine=loader -- sh -c '"$0" show' "$tool")" "$masked"
is "argv[0]" "$("${follow[@]}" --argv0=other -- sh -c 'tr "\0" " " </proc/$$/cmdline' | cut -d' ' -f1)" other

# ---- nothing is left ---------------------------------------------------------
is "a reader sees the end of its pipe" "$(timeout 10 "${follow[@]}" -- echo text | cat)" text
ok "supervisors end with their trees" wait_for 10 no_supervisor
read -r outlived < <("${follow[@]}" -- sh -c "{ read -rt 1 <>$tmp/fifo; $tool show >$tmp/late; } \
	>/dev/null 2>&1 & echo out")
mkfifo "$tmp/fifo" 2>/dev/null
late_is()
{
	[ "$(cat "$tmp/late" 2>/dev/null)" = "$masked" ]
}
ok "a process that outlives the first ($outlived) is masked" wait_for 10 late_is

# ---- signals -----------------------------------------------------------------
# A session of its own, whose group gets what a terminal would send.
# shellcheck disable=SC2016 # expanded by the inner shell
for signal in INT HUP TERM QUIT; do
	is "SIG$signal to the group" "$(setsid -w "${follow[@]}" -- sh -c '
		trap : '$signal'; kill -'$signal' 0; "$0" show' "$tool" 2>/dev/null)" "$masked"
done
mkfifo "$tmp/go" "$tmp/done"
setsid "${follow[@]}" -- sh -c "read -r _ <$tmp/go; $tool show >$tmp/continued; echo >$tmp/done" &
exec 8<>"$tmp/go" 9<>"$tmp/done"
leader()
{
	pid=$(pgrep -f "^sh -c read -r _ <$tmp/go")
}
ok "the job has started" wait_for 10 leader
stopped()
{
	grep -q 'State:.T' "/proc/$pid/status"
}
kill -STOP -- "-$pid"
ok "it stops" wait_for 10 stopped
echo >&8
kill -CONT -- "-$pid"
read -rt 10 _ <&9
is "and goes on masked" "$(cat "$tmp/continued" 2>&1)" "$masked"
exec 8<&- 9<&-
wait

# ---- other namespaces, PID 1, subreapers -------------------------------------
if unshare -Urpf --mount-proc true 2>/dev/null; then
	is "a user and pid namespace inside" \
		"$("${follow[@]}" -- unshare -Urpf --mount-proc sh -c '"$0" show; "$0" show' "$tool")" \
		"$masked"$'\n'"$masked"
	is "as PID 1: no child is seen" "$(unshare -Urpf --mount-proc "${follow[@]}" -- \
		"$tool" children "$tool" show)" "$masked"
	is "in a pid namespace with another one's /proc" "$(unshare -Urpf "${follow[@]}" -- \
		"$tool" threads "$tool" show)" "$masked"
else
	skip "user and pid namespaces" "unshare is not permitted"
fi

# ---- nested ------------------------------------------------------------------
both=$(without $bit $next)
for options in --engine=loader --engine=trace --engine=auto --follow; do
	is "nested: $options adds its mask" "$("${follow[@]}" -- \
		"$tmp/hwcap-exec" $options --mask=AT_HWCAP=$next -- "$tool" show)" "$both"
done
is "nested --follow: for its subtree, and only that" "$("${follow[@]}" -- sh -c \
	"$tmp/hwcap-exec -f --mask=AT_HWCAP=$next -- sh -c '$tool show; setsid -w $tool show'; $tool show")" \
	"$both"$'\n'"$both"$'\n'"$masked"

# ---- what cannot be masked does not run --------------------------------------
# Our caller may be traced itself, then this cannot be told apart.
exits "strace below: the exec is refused" 1 "${follow[@]}" -- strace -o /dev/null "$tool" show
like "and says so in one line" "$(grep -c '^hwcap-exec: ' "$tmp/err") $(cat "$tmp/err")" '^1 .*traced'
is "it did not run" "$(cat "$tmp/out")" ""
is "--follow=try runs it" "$("${follow[@]/--follow/--follow=try}" -- strace -o /dev/null "$tool" show)" "$native"
exits "strace above" 125 strace -o /dev/null "${follow[@]}" -- "$tool" show
like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*traced'
is "strace of the loader works there" \
	"$(strace -f -o /dev/null "$tmp/hwcap-exec" --engine=loader "--mask=AT_HWCAP=$bit" -- "$tool" show)" "$masked"
exits "ptrace forbidden" 125 "$tool" deny 101 "${follow[@]}" -- "$tool" show
like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*ptrace'
exits "seccomp forbidden" 125 "$tool" deny 317 "${follow[@]}" -- "$tool" show
like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: '
# What neither tracer nor loader can do without is said before anything has run.
for user in "${users[@]}"; do
	for how in --follow --engine=trace --engine=loader --engine=auto; do
		exits "${user:-caller}, $how: prctl forbidden" 125 $user "$tool" deny 157 "$tmp/hwcap-exec" $how \
			"--mask=AT_HWCAP=$bit" -- "$tool" show
		like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: '
		is "before it ran" "$(cat "$tmp/out")" ""
	done
	for call in 61:wait4 247:waitid; do
		exits "${user:-caller}, trace: ${call#*:} forbidden" 125 $user "$tool" deny ${call%:*} \
			"$tmp/hwcap-exec" --engine=trace "--mask=AT_HWCAP=$bit" -- "$tool" show
		like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*seccomp.*wait'
		is "${user:-caller}, auto: ${call#*:} forbidden: there is another way" \
			"$($user "$tool" deny ${call%:*} "$tmp/hwcap-exec" "--mask=AT_HWCAP=$bit" -- "$tool" show)" "$masked"
	done
	exits "${user:-caller}, --follow: wait4 forbidden" 125 $user "$tool" deny 61 "${follow[@]}" -- "$tool" show
	like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*seccomp.*wait4'
	is "${user:-caller}, --follow: waitid forbidden: it is not needed" \
		"$($user "$tool" deny 247 "${follow[@]}" -- sh -c '"$0" show' "$tool")" "$masked"
	exits "${user:-caller}: no descriptor free" 125 $user prlimit --nofile=3 "${follow[@]}" -- "$tool" show
	like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*Too many open files'
done
exits "a program below forbids prctl: what it executes is killed" 137 "${follow[@]}" -- \
	sh -c '"$0" deny 157 "$0" show & wait $!' "$tool"
like "with one line" "$(grep -c '^hwcap-exec: ' "$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*seccomp'
is "process_vm_readv forbidden: there is another way" \
	"$("$tool" deny 310 "${follow[@]}" -- sh -c '"$0" show' "$tool")" "$masked"

if [ "$(id -u)" = 0 ]; then
	exits "RLIMIT_NPROC reached" 125 as_nobody prlimit --nproc=1 -- "${follow[@]}" -- "$tool" show
	like "is refused in one line" "$(wc -l <"$tmp/err") $(cat "$tmp/err")" '^1 hwcap-exec: .*limit'
	cp "$tool" "$tmp/unreadable"
	chmod 711 "$tmp/unreadable"
	exits "a program that may not be read" 126 as_nobody "${follow[@]}" -- sh -c "exec $tmp/unreadable show"
	is "does not run" "$(cat "$tmp/out")" ""
fi

printf '.globl _start\n_start: mov %%esp, %%esi\n1: lodsl\ntest %%eax, %%eax\njnz 1b\n2: lodsl\n%s\n' \
	'test %eax, %eax
jnz 2b
3: lodsl
mov %eax, %ecx
lodsl
cmp $16, %ecx
jne 3b
mov %eax, %ebx
and $127, %ebx
mov $1, %eax
int $0x80' >"$tmp/narrow.s"
if [ "$ARCH" = x86_64 ] && as --32 -o "$tmp/narrow.o" "$tmp/narrow.s" &&
   ld -m elf_i386 -o "$tmp/narrow" "$tmp/narrow.o" && "$tmp/narrow"; [ $? != 126 ]; then
	exits "a 32-bit program: numbers apply" $((hwcap & ~bit & 127)) "${follow[@]}" -- sh -c "$tmp/narrow"
	exits "a 32-bit program: names do not" 126 "$tmp/hwcap-exec" -f --mask=fsgsbase -- sh -c "$tmp/narrow"
	like "and it says why" "$(cat "$tmp/err")" '32-bit'
else
	skip "32-bit programs" "this kernel does not run them"
fi

# ---- the supervisor dies -----------------------------------------------------
# shellcheck disable=SC2016 # expanded by the inner shell
for round in 1 2 3 4 5 6; do
	"${follow[@]}" -- sh -c 'i=0; while [ $i -lt 3000 ]; do "$0" show || exit 42; i=$((i + 1)); done' \
		"$tool" >"$tmp/shown" 2>"$tmp/err" &
	job=$!
	wait_for 10 test -s "$tmp/shown"
	for ((i = 0; i < round * 700; i++)); do :; done
	wait_for 10 one_supervisor
	# shellcheck disable=SC2086 # a list of numbers
	kill -KILL $pids
	wait $job
	is "supervisor killed ($round): execs fail" $? 42
	is "none ran unmasked" "$(sort -u "$tmp/shown")" "$masked"
done
like "with ENOSYS, or with it" "$(cat "$tmp/err")" 'not implemented|Killed'

# ---- other ids ---------------------------------------------------------------
if [ "$(id -u)" = 0 ] && setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace true; then
	cp "$tool-static" "$tmp/ids-static"
	for caps in all -sys_ptrace -sys_ptrace,-sys_admin,-sys_resource; do
		drop=(env)
		[ "$caps" = all ] || drop=(setpriv "--bounding-set=$caps" "--inh-caps=$caps")
		for hand in "$tool ids" "$tool-static ids" \
			"setpriv --reuid=65534 --regid=65534 --clear-groups"; do
			is "capabilities $caps: ${hand##*/}" "$("${drop[@]}" "${follow[@]}" -- sh -c \
				"$hand sh -c '$tool show; $tool-static show | cat; $tool threads $tool show'; $tool show")" \
				"$masked"$'\n'"$masked"$'\n'"$masked"$'\n'"$masked"
		done
		is "capabilities $caps: su" "$("${drop[@]}" "${follow[@]}" -- \
			su -s /bin/sh nobody -c "$tool show; $tool vfork $tool show")" "$masked"$'\n'"$masked"
		is "capabilities $caps: nested, of another user" "$("${drop[@]}" "${follow[@]}" -- \
			"$tool" ids "$tmp/hwcap-exec" -f --mask=AT_HWCAP=$next -- sh -c "$tool show; $tool show")" \
			"$both"$'\n'"$both"
	done
	cp "$(type -P id)" "$tmp/id"
	chmod 4755 "$tmp/id"
	is "root keeps set-id programs working" "$("${follow[@]}" -- "$tool" ids sh -c "$tmp/id -u; $tool show")" \
		"0"$'\n'"$masked"
else
	skip "other ids" "needs root"
fi

# ---- debuggers -----------------------------------------------------------------
gcc -g -O0 -o "$tmp/waits" "$srcdir/test/jobs/wait.c" || bail_out "unable to compile"
debug()
{
	rm -f "$tmp/ready"
	"${follow[@]}" -- sh -c 'rm -f "$1.fifo"; mkfifo "$1.fifo"; "$0" "$1" <"$1.fifo" & exec 9>"$1.fifo"
		until [ -e "$1" ]; do :; done; shift; "$@" $!; exec 9>&-; wait' "$tmp/waits" "$tmp/ready" "$@"
}
is "gdb in the tree attaches" "$(debug gdb -nx -q -batch -ex 'print answer' -ex 'info auxv' -p 2>/dev/null |
	sed -n 's/^16 .* \(0x.*\)/\1/p; /^\$1/p')" "\$1 = 42"$'\n'"${masked%% *}"
is "strace in the tree attaches" \
	"$(debug timeout -s INT 1 strace -o "$tmp/strace" -p 2>"$tmp/strace.err"; grep -c '^read(0' "$tmp/strace")" 1
exits "gdb in the tree cannot start a program" 1 "${follow[@]}" -- \
	gdb -nx -q -batch -ex 'break main' -ex run "$tmp/waits"
like "which one line says" "$(grep -c '^hwcap-exec: ' "$tmp/err") $(cat "$tmp/err")" \
	'^1 hwcap-exec: process [0-9]+: .*traced.*attach'
exits "nor can strace -f" 0 "${follow[@]}" -- sh -c 'strace -f -o /dev/null "$0" show; [ $? = 1 ]' "$tool"
is "with --follow=try both can" "$("${follow[@]/--follow/--follow=try}" -- \
	gdb -nx -q -batch -ex 'break main' -ex run -ex 'print answer' "$tmp/waits" 2>/dev/null </dev/null | grep '^\$1')" \
	"\$1 = 42"

# ---- a browser, unprivileged -----------------------------------------------------
mkdir "$tmp/home"
[ "$(id -u)" != 0 ] || chown 65534 "$tmp/home"
echo '<p id=x>before</p><script>document.getElementById("x").textContent = "sum " + (40 + 2);</script>' \
	>"$tmp/page.html"
chmod 644 "$tmp/page.html"
# browse WRAPPER... PROGRAM: what the page has become
browse()
{
	local sandbox=()
	unshare -Ur true 2>/dev/null || sandbox=(--no-sandbox)
	${users[-1]} env HOME="$tmp/home" timeout -s KILL 60 "$@" --headless --disable-gpu ${sandbox[@]+"${sandbox[@]}"} \
		--dump-dom "file://$tmp/page.html" 2>"$tmp/browse.err" | grep -o '>sum [0-9]*<'
}
is "chromium natively" "$(browse /usr/lib/chromium/chromium)" ">sum 42<"
is "chromium, auto" "$(browse "$tmp/hwcap-exec" --mask=all -- /usr/lib/chromium/chromium)" ">sum 42<"
is "chromium, followed" "$(browse "$tmp/hwcap-exec" --follow --mask=all -- /usr/bin/chromium)" ">sum 42<"

# ---- a build -----------------------------------------------------------------
# Of a source package of Debian's, at the same time natively and followed.
hello=$("$srcdir/test/arch/packages" source bookworm hello 2>"$tmp/hello.log") || show "$tmp/hello.log"
build_hello()
{
	mkdir "$tmp/hello.$1" && cd "$tmp/hello.$1" && shift && "$@" \
		sh -c '"$0/configure" CFLAGS=-O2 && make && make check' "$hello" >log 2>&1
}
(build_hello native env) &
(build_hello followed "${follow[@]}" --)
is "a Debian source package: configure, make and make check, followed" $? 0
wait $!
is "... natively" $? 0
show_result()
{
	(cd "$tmp/hello.$1" && ./hello && strip hello && sha256sum hello config.h &&
		grep -E '^# (TOTAL|PASS|FAIL|ERROR)' log)
}
is "... with the same result" "$(show_result followed)" "$(show_result native)"
like "... which is one" "$(show_result followed)" 'Hello, world!'

build()
{
	mkdir -p "$1" && (cd "$1" && shift && "$@" sh -c \
		"'$srcdir/configure' CFLAGS=-O1 >configure.log && make -j2 hwcapctl >make.log && strip hwcapctl")
}
ok "configure and make, natively" build "$tmp/a" env
ok "configure and make, followed" build "$tmp/b" "${follow[@]}" --
ok "make the same" cmp "$tmp/a/hwcapctl" "$tmp/b/hwcapctl"

ok "all supervisors have ended" wait_for 10 no_supervisor
done_testing
