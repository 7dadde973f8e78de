#!/bin/sh
# feature.sh - what hwcap-exec is for, in a guest: a dispatcher takes another path
#
# MASK hides one feature that this machine has: natively /bin/dispatch runs
# its instruction, masked it does not.
set -u
handler >/dev/null || { echo "not ok - signal handlers run natively"; exit 1; }
hwcap-exec --engine=loader -- /bin/handler >/dev/null ||
	{ echo "not ok - signal handlers run masked"; exit 1; }
# Where there is such a register, dump tells what it says.
if [ "$(uname -m)" = aarch64 ]; then
	hwcapctl dump --force >/tmp/dump || { echo "not ok - hwcapctl dump"; exit 1; }
	grep '^other .*\(zva\|line\)' /tmp/dump | sed 's/^/# /'
	for fact in dc-zva dcache-line-min icache-line-min; do
		grep -q "^other $fact [0-9]*\$" /tmp/dump || { echo "not ok - dump has $fact"; exit 1; }
	done
fi
native=$(dispatch) || { echo "not ok - dispatch runs natively: $native"; exit 1; }
# shellcheck disable=SC2086 # no spaces
masked=$(hwcap-exec --engine=loader --exact --mask="$MASK" -- /bin/dispatch) ||
	{ echo "not ok - dispatch runs masked: $masked"; exit 1; }
echo "# native: $native, masked: $masked"
# --enforce: what is hidden traps, in the program and in what it starts.
if [ "$(uname -m)" = riscv64 ] && [ "$native" = "with v" ]; then
	[ "$(hwcap-exec --engine=loader --mask=v -- /bin/dispatch force)" = "with v" ] || { echo "not ok - a mask alone is advice"; exit 1; }
	for engine in loader trace; do
		hwcap-exec --engine=$engine --mask=none -- true 2>/dev/null || continue
		hwcap-exec --engine=$engine --enforce --mask=v -- /bin/dispatch force
		[ $? = 132 ] || { echo "not ok - --enforce, $engine: it traps"; exit 1; }
		[ "$(hwcap-exec --engine=$engine --enforce --mask=v -- sh -c 'dispatch; dispatch force; echo $?' 2>&1 | grep -v Illegal | tr '\n' ' ')" = "without v 132 " ] ||
			{ echo "not ok - --enforce, $engine: inherited"; exit 1; }
		[ "$(hwcap-exec --engine=$engine --enforce --mask=none -- /bin/dispatch)" = "with v" ] ||
			{ echo "not ok - --enforce, $engine: nothing hidden, nothing off"; exit 1; }
	done
	echo "# --enforce: the vector unit is off"
elif [ "$(uname -m)" = riscv64 ]; then
	hwcap-exec --engine=loader --enforce --mask=v -- true || { echo "not ok - --enforce without a vector unit"; exit 1; }
fi
case $native in
*without*) echo "# this processor lacks the feature"; [ "$native" = "$masked" ]; exit ;;
esac
[ "$native" != "$masked" ] && [ "${masked%without*}" != "$masked" ] && exit 0
echo "not ok - the mask changes the path taken"
exit 1
