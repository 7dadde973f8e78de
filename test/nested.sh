#!/bin/bash
# nested.sh - hwcap-exec run by hwcap-exec, and where written memory may not be executed
. "$(dirname "$0")/lib.sh"

run=("$HWCAP_EXEC" --no-cgroup)
vector()
{
	LD_SHOW_AUXV=1 "$@" | awk '$1 == "AT_HWCAP:" || $1 == "AT_HWCAP2:" { printf "%s ", $2 }'
}

# The two programs are linked at the same address.
if [ "$ARCH" = x86_64 ]; then
	all=$(vector /bin/true)
	fewer=$(vector "${run[@]}" --exact --mask AT_HWCAP=7 -- /bin/true)
	is "masks of nested runs add up" \
		"$(vector "${run[@]}" --exact -m AT_HWCAP=1 -- "${run[@]}" --exact -m AT_HWCAP=2 -- \
			"${run[@]}" --exact -m AT_HWCAP=4 -- /bin/true)" "$fewer"
	[ "$all" != "$fewer" ] || bail_out "this machine has none of the bits"
fi
nest=()
for i in 1 2 3 4 5; do
	nest+=("${run[@]}" --engine=loader --)
	is "exe link, $i deep" "$("${nest[@]}" readlink /proc/self/exe)" "$(readlink -f "$(command -v readlink)")"
done
is "the memory map is the native one, 5 deep" \
	"$(setarch -R "${nest[@]}" cat /proc/self/maps | grep -v '\[heap\]')" \
	"$(setarch -R cat /proc/self/maps | grep -v '\[heap\]')"

# PR_SET_MDWE: memory that was written to may not be executed.
cat >"$tmp/mdwe.c" <<'C'
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	if (prctl(65 /* PR_SET_MDWE */, 1UL, 0UL, 0UL, 0UL))
		return 99;
	execvp(argv[1], argv + 1);
	return 98;
}
C
$CC -O1 -o "$tmp/mdwe" "$tmp/mdwe.c"
"$tmp/mdwe" true
if [ $? = 99 ]; then
	skip "memory-deny-write-execute" "needs Linux 6.3"
else
	for engine in auto loader trace; do
		is "memory-deny-write-execute, $engine" \
			"$("$tmp/mdwe" "${run[@]}" --engine=$engine -- echo ran 2>&1)" ran
	done
fi
done_testing
