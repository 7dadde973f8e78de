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
case $native in
*without*) echo "# this processor lacks the feature"; [ "$native" = "$masked" ]; exit ;;
esac
[ "$native" != "$masked" ] && [ "${masked%without*}" != "$masked" ] && exit 0
echo "not ok - the mask changes the path taken"
exit 1
