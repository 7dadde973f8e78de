#!/bin/bash
# security.sh - what the caller, the owner of a cgroup or the file's bits cannot do
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ] || ! chown 65534 "$tmp" 2>/dev/null; then
	skip "security rules" "needs root to make set-id programs and other users' files"
	done_testing
fi
chown 0 "$tmp"
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env --)
cat >"$tmp/tell.c" <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>
/* The vector itself: what getauxval() says of AT_HWCAP is not it everywhere. */
static unsigned long entry(unsigned long type)
{
	unsigned long v[2], value = 0;
	FILE *f = fopen("/proc/self/auxv", "r");

	while (f && fread(v, sizeof(v), 1, f) == 1)
		if (v[0] == type)
			value = v[1];
	if (f)
		fclose(f);
	return value;
}
int main(int argc, char **argv)
{
	char line[512];
	FILE *f;

	printf("program %s\n", PROGRAM);
	printf("ids %d %d %d %d secure %lu dumpable %d\n", (int)getuid(), (int)geteuid(),
	       (int)getgid(), (int)getegid(), getauxval(AT_SECURE), prctl(PR_GET_DUMPABLE));
	for (f = fopen("/proc/self/status", "r"); f && fgets(line, sizeof(line), f);)
		if (!strncmp(line, "CapPrm", 6) || !strncmp(line, "CapEff", 6))
			fputs(line, stdout);
	printf("hwcap %lx hwcap2 %lx\n", entry(AT_HWCAP), entry(AT_HWCAP2));
	for (f = fopen("/proc/self/maps", "r"); argc > 1 && f && fgets(line, sizeof(line), f);)
		if (strchr(line, '/'))
			fputs(strchr(line, '/'), stdout);
	return 0;
}
C
$CC -O1 -static -DPROGRAM='"good"' -o "$tmp/good" "$tmp/tell.c" &&
	$CC -O1 -static -DPROGRAM='"evil"' -o "$tmp/evil" "$tmp/tell.c" || bail_out "no static programs"
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
exec_=$tmp/hwcap-exec
field() { sed -n "s/^$1 *//p" "$tmp/out"; }

# ---- masks of the caller under AT_SECURE ----------------------------------------

# A file capability makes AT_SECURE 1 and gives nothing that the target may keep.
install -m 755 "$HWCAP_EXEC" "$tmp/hwcap-exec-secure"
if setcap cap_checkpoint_restore+p "$tmp/hwcap-exec-secure" 2>"$tmp/setcap.err"; then
	exits "environment: counts otherwise" 0 "${as_nobody[@]}" HWCAP_EXEC_MASK=all "$exec_" --no-cgroup -- "$tmp/good"
	is "environment: it does" "$(field hwcap)" "0 hwcap2 0"
	exits "environment: an error under AT_SECURE" 125 "${as_nobody[@]}" HWCAP_EXEC_MASK=all \
		"$tmp/hwcap-exec-secure" --no-cgroup -- "$tmp/good"
	like "environment: the message names it" "$(cat "$tmp/err")" '^hwcap-exec: HWCAP_EXEC_MASK '
	exits "file capability: runs" 0 "${as_nobody[@]}" "$tmp/hwcap-exec-secure" --no-cgroup --mask=all -- "$tmp/good"
	is "file capability: not in the target" "$(grep -c '^Cap.*0000000000000000$' "$tmp/out")" 2
	is "file capability: AT_SECURE and dumpable as without" "$(field ids)" \
		"65534 65534 65534 65534 secure 0 dumpable 1"
else
	skip "AT_SECURE" "file capabilities cannot be set in $tmp: $(cat "$tmp/setcap.err")"
fi

# ---- bits and capabilities of hwcap-exec's own file --------------------------------

# Only refusal, or a target without them.
keeps_nothing()
{
	exits "$1: refused" 125 "${as_nobody[@]}" "$tmp/own" --no-cgroup --mask=all --engine="$2" -- "$tmp/good"
	is "$1: nothing ran" "$(cat "$tmp/out")" ""
}
for engine in auto loader trace; do
	install -m 4755 "$HWCAP_EXEC" "$tmp/own"
	keeps_nothing "own set-user-id bit, $engine" "$engine"
	install -m 2755 -g 5 "$HWCAP_EXEC" "$tmp/own"
	keeps_nothing "own set-group-id bit, $engine" "$engine"
	install -m 755 "$HWCAP_EXEC" "$tmp/own"
	if setcap cap_sys_admin,cap_dac_override+ep "$tmp/own" 2>"$tmp/setcap.err"; then
		"${as_nobody[@]}" "$tmp/own" --no-cgroup --mask=all --engine=$engine -- "$tmp/good" >"$tmp/out" 2>"$tmp/err"
		is "own capabilities, $engine: not passed on" "$(field CapPrm: | tr -d 0)" ""
	fi
done

# ---- no other file than the one that was checked -------------------------------------

ln -s good "$tmp/link"
for engine in loader auto; do
	strace -f -qq -o "$tmp/trace" -e trace=%file,fchdir,chdir "$exec_" --no-cgroup --mask=all \
		--engine=$engine -- "$tmp/link" >"$tmp/out" 2>"$tmp/err"
	is "$engine: runs under strace" "$(field program)" good
	is "$engine: its name is looked up once" \
		"$(sed '1d' "$tmp/trace" | sed '/^[0-9]* *execve(/q' | grep -c "\"$tmp/link\"")" 1
done
printf '#!%s/link\n' "$tmp" >"$tmp/script"
chmod 755 "$tmp/script"
# A race: the link leads to one of two programs, each of them whole.
(
	while [ ! -e "$tmp/stop" ]; do
		for program in good evil; do
			ln -sf "$program" "$tmp/link.new" && mv -fT "$tmp/link.new" "$tmp/link"
		done
	done
) &
racer=$!
mixed=0
for ((i = 0; i < 150; i++)); do
	"$exec_" --no-cgroup --mask=all -- "$tmp/script" maps >"$tmp/out" 2>"$tmp/err" || mixed=$((mixed + 1))
	program=$(field program)
	maps=$(grep "^$tmp/" "$tmp/out" | sort -u)
	[ "$maps" = "$tmp/$program" ] && grep -q '^hwcap 0 hwcap2 0' "$tmp/out" || mixed=$((mixed + 1))
done
touch "$tmp/stop"
wait "$racer"
is "a link that changes: one program or the other, masked" "$mixed" 0

# A relative PT_INTERP is the working directory's, for execve and for us; PATH does not matter.
if [ -x "$builddir/obj/test/contract/elfgen" ]; then
	mkdir "$tmp/here" "$tmp/path"
	"$builddir/obj/test/contract/elfgen" pie "$tmp/here/pie"
	# Of the same length, so that nothing moves.
	old=$tmp/here/pie.interp
	new=$(printf '%*s' "${#old}" pie.interp | tr ' ' '/')
	new=.${new#?}
	LC_ALL=C sed -i "s|$old|$new|" "$tmp/here/pie"
	for where in here path; do
		(cd "$tmp/$where" && "$tmp/here/pie" >"$tmp/native" 2>&1)
		native=$?
		(cd "$tmp/$where" && PATH=$tmp/here "$exec_" --no-cgroup --mask=all -- "$tmp/here/pie" >"$tmp/out" 2>"$tmp/err")
		wrapped=$?
		if [ $native -lt 126 ]; then
			is "relative interpreter, from $where" "$wrapped" "$native"
		else
			is "relative interpreter, from $where: refused" "$wrapped" 126
		fi
	done
else
	skip "relative PT_INTERP" "its program needs a machine of this architecture"
fi
exits "an interpreter's name is not searched for" 126 env PATH="$tmp" "$exec_" --no-cgroup -- \
	"$(printf '#!good\n' >"$tmp/bare" && chmod 755 "$tmp/bare" && echo "$tmp/bare")"

# ---- what the owner of a cgroup can do -------------------------------------------------

cgroup=''
for directory in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e "$directory/cgroup.procs" ] && mkdir "$directory/hwcap-security.$$" 2>/dev/null &&
		cgroup=$directory/hwcap-security.$$ && break
done
if [ -n "$cgroup" ] && "$HWCAPCTL" cgroup set --exact AT_HWCAP=0x8 "$cgroup" >"$tmp/set.out" 2>&1; then
	chown 65534 "$cgroup"
	in_cgroup() { (echo "$BASHPID" >"$cgroup/cgroup.procs" && exec "$@"); }
	hidden() { in_cgroup "${as_nobody[@]}" "$@" -- "$tmp/good" >"$tmp/out" 2>"$tmp/err"; }
	"$tmp/good" >"$tmp/out"
	whole=$((0x$(field hwcap | cut -d' ' -f1)))
	less=0 refused=0 more=0
	RANDOM=1
	for ((i = 0; i < 120; i++)); do
		local_=$(printf '%x' $((RANDOM * 65536 + RANDOM))) effective=$(printf '%x' $((RANDOM % 16)))
		case $((i % 6)) in
		0) text="AT_HWCAP\t0x0\t0x0\n" ;;
		1) text="AT_HWCAP\t0x$local_\t0x$effective\n" ;;
		2) text="AT_HWCAP\t0x$local_" ;;
		3) text="AT_HWCAP\t-1\t-1\nAT_HWCAP\t0\t0\n" ;;
		4) text="" ;;
		*) text="AT_HWCAP2\t0xffffffffffffffffff\t0x0\n$local_\n" ;;
		esac
		# shellcheck disable=SC2059 # the escapes are meant
		"${as_nobody[@]}" setfattr -n user.hwcap_mask -v "0x$(printf "$text" | od -An -tx1 | tr -d ' \n')" "$cgroup" \
			2>"$tmp/setfattr.err" || continue
		if hidden "$exec_"; then
			now=$((0x$(field hwcap | cut -d' ' -f1)))
			[ $((now & 8)) = 0 ] && [ $((now & ~whole)) = 0 ] || less=$((less + 1))
			[ $now = $((whole & ~8)) ] || more=$((more + 1))
		else
			[ $? = 125 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" = 1 ] || less=$((less + 1))
			refused=$((refused + 1))
		fi
	done
	is "an owner's record never shows what root hides, nor adds a bit" "$less" 0
	like "it hides more ($more), or is an error where it is none ($refused)" \
		"$((more > 0)) $((refused > 0))" '^1 1$'
	"${as_nobody[@]}" setfattr -n user.hwcap_mask -v "$(printf 'AT_HWCAP\t0xff\t0xff\n')" "$cgroup"
	if getcap "$tmp/hwcap-exec-secure" | grep -q cap; then
		hidden "$tmp/hwcap-exec-secure"
		is "under AT_SECURE only root's record counts" "$((0x$(field hwcap | cut -d' ' -f1)))" "$((whole & ~8))"
	fi
	exits "root's record is not the owner's to remove" 1 "${as_nobody[@]}" \
		setfattr -x security.hwcap_mask "$cgroup"
else
	skip "an owner's record" "unable to make a cgroup and its record here"
fi
if [ -n "$cgroup" ]; then
	wait_for 5 rmdir "$cgroup" 2>"$tmp/rmdir.err" || show "$tmp/rmdir.err"
fi

# ---- nothing of ours is left ----------------------------------------------------------------

for engine in auto loader trace; do
	for user in root nobody; do
		as=(env --)
		[ $user = root ] || as=("${as_nobody[@]}")
		"${as[@]}" "$exec_" --no-cgroup --mask=all --engine=$engine -- "$tmp/good" maps >"$tmp/out" 2>"$tmp/err"
		is "$engine, $user: no mapping of ours" "$(grep -c hwcap-exec "$tmp/out")" 0
		is "$engine, $user: descriptors" "$("${as[@]}" "$exec_" --no-cgroup --mask=all --engine=$engine -- \
			/bin/ls /proc/self/fd)" "$("${as[@]}" /bin/ls /proc/self/fd)"
	done
done

done_testing
