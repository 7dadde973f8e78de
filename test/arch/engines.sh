#!/bin/sh
# shellcheck source=test/arch/say.sh disable=SC2016,SC2086 # inner shells; words of "$exec"
# engines.sh - in a guest: which engine is chosen, and what comes of a program
#
# Runs in the guest's busybox, MASK as for rows.sh. Prints TAP without a plan;
# its last line is "engines PASSED FAILED".
. /say.sh
exec="hwcap-exec --exact --mask=$MASK"

# ---- which engine --------------------------------------------------------------
label=$(cat /proc/self/attr/current 2>/dev/null)
for user in plain nobody; do
	case $user${label:+-label} in
	*-label) why='engine trace (a security module is active)' ;;
	plain) why='engine loader (/proc/self/exe can be set)' ;;
	*) why='engine trace (/proc/self/exe cannot be set)' ;;
	esac
	got=$(as $user $exec -v -- $tool show 2>&1)
	has "$user: auto says so" "$got" "$why"
	has "$user: auto masks" "$got" "$masked"
	is "$user: trace, dynamic" "$(as $user $exec --engine=trace -- $dynamic show)" "$masked"
	is "$user: trace" "$(as $user $exec --engine=trace -- $tool show)" "$masked"
	is "$user: and leaves nothing to wait for" \
		"$(as $user $exec --engine=trace -- $tool children /bin/true; echo $?)" 0
	is "$user: status" "$(as $user $exec --engine=trace -- sh -c 'exit 7'; echo $?)" 7
	is "$user: not found" "$(as $user $exec --engine=trace -- /none 2>/dev/null; echo $?)" 127
	is "$user: through the link, by trace" \
		"$(as $user $exec --engine=trace -- readlink /proc/self/exe)" /bin/busybox
	is "$user: the loader, as asked" "$(as $user $exec --engine=loader -- $tool show)" "$masked"
done

# ---- what the kernel has of it -------------------------------------------------
way=$($exec --engine=loader -- dispatch)
is "without /proc: trace" "$(as no-proc $exec --engine=trace -- dispatch)" "$way"
is "without /proc: follow" "$(as no-proc $exec --follow -- sh -c dispatch)" "$way"
# A program in a place that PR_SET_MM_MAP refuses, and execve does not. Its heap,
# for which there is no other place, lies higher by up to 1 GiB.
lowest=$(cat /proc/sys/vm/mmap_min_addr)
echo 131072 >/proc/sys/vm/mmap_min_addr
for how in '' "$exec --engine=trace --" "$exec --follow --"; do
	is "below mmap_min_addr: ${how:-natively}" "$($how /contract/probe-bare-low >/dev/null; echo $?)" 0
done
echo "$lowest" >/proc/sys/vm/mmap_min_addr

# ---- a tree --------------------------------------------------------------------
printf '#!/bin/sh\nexec %s show\n' $tool >"$work/script"
chmod 755 "$work/script"
for user in plain nobody; do
	follow="as $user $exec --follow --"
	is "$user, follow: the program itself" "$($follow $tool show)" "$masked"
	is "$user, follow: a shell's children" "$($follow sh -c '$0 show; sh -c "$0 show" | cat' $tool)" "$masked
$masked"
	for how in vfork spawn thread threads fd filter closed children; do
		is "$user, follow: $how" "$($follow $tool $how $tool show)" "$masked"
	done
	is "$user, follow: a dynamic program" "$($follow sh -c "$dynamic show")" "$masked"
	is "$user, follow: a script" "$($follow "$work/script")" "$masked"
	is "$user, follow: an exec that fails" "$($follow $tool failure /none $tool show)" "ENOENT $masked"
	for state in b bp i; do
		is "$user, follow: SIGTRAP stays ($state)" \
			"$($follow $tool trap $state grep -E '(Sig|Shd)(Blk|Pnd|Ign)' /proc/self/status)" \
			"$(as $user $tool trap $state grep -E '(Sig|Shd)(Blk|Pnd|Ign)' /proc/self/status)"
	done
	got=$($follow sh -c '
		for job in 1 2 3 4; do
			for i in 1 2 3 4 5 6 7 8 9 10; do $0 show; done &
		done
		wait' $tool >"$work/tree"; wc -l <"$work/tree"; grep -cx "$masked" "$work/tree")
	is "$user, follow: 40 execs by 4 jobs, all masked" "$(echo $got)" "40 40"
done
is "another mask inside" "$($exec --follow -- hwcap-exec --mask=all -- $tool show)" "0 0 0 0"

# ---- other channels ------------------------------------------------------------
has "no vDSO, followed" "$($exec --no-vdso --follow -- sh -c channels)" "no vdso"
channels=$(channels)
case $channels in
'sve answers answers'*)
	has "sve: the calls fail when it is hidden" "$($exec --follow -- sh -c channels)" \
		"sve EINVAL EINVAL"
	has "sve: they answer when something else is" \
		"$(hwcap-exec --exact --mask=AT_HWCAP=1 --follow -- sh -c channels)" "sve answers answers" ;;
sve*) has "no sve here" "$channels" "sve EINVAL EINVAL" ;;
hwprobe*)
	has "hwprobe natively" "$channels" "hwprobe answers"
	has "hwprobe, followed" "$($exec --follow -- sh -c channels)" "hwprobe ENOSYS"
	case $channels in
	*'v answers answers'*)
		has "v: the calls fail when it is hidden" "$($exec --follow -- sh -c channels)" \
			"v EINVAL EINVAL"
		has "v: they answer when something else is" \
			"$(hwcap-exec --exact --mask=AT_HWCAP=4 --follow -- sh -c channels)" "v answers answers" ;;
	*) has "no v here" "$channels" "v EINVAL EINVAL" ;;
	esac ;;
esac

# ---- 32-bit programs -----------------------------------------------------------
if [ -x /bin/narrow ]; then
	native=$(narrow)
	value=${native% *}
	bit=$((value & -value))
	without=$(printf '0x%08x 0x%08x' $((value & ~bit)) $((value & ~bit)))
	mask=--mask=AT_HWCAP=$bit
	for user in plain nobody blocked; do
		is "$user, 32-bit: numbers" "$(as $user hwcap-exec --exact $mask -- narrow)" "$without"
		is "$user, 32-bit: followed" "$(as $user hwcap-exec --exact --follow $mask -- \
			sh -c 'narrow; narrow')" "$without
$without"
	done
	has "32-bit: all" "$(hwcap-exec --mask=all -- narrow)" "0x00000000 0x00000000"
	name=$(hwcapctl list | sed -n '2s/^[^ ]* *[0-9]* *\([^ ]*\).*/\1/p')
	has "32-bit: names" "$(hwcap-exec --mask="$name" -- narrow 2>&1; echo $?)" "give the mask in numbers"
	has "32-bit: names, followed" "$(hwcap-exec --follow --mask="$name" -- sh -c narrow 2>&1)" \
		"give the mask in numbers"
fi

sum engines
