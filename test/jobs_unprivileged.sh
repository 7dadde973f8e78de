#!/bin/bash
# jobs_unprivileged.sh - the jobs of jobs.sh by a user without privilege, and under --follow
#
# The link /proc/self/exe cannot be set then: auto takes the trace engine, and
# programs that find or execute themselves by it have to work all the same.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

user=()
if [ "$(id -u)" = 0 ]; then
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --)
fi
mkdir "$tmp/test" "$tmp/work"
cp -r "$srcdir/test/jobs" "$srcdir/test/jobs.sh" "$srcdir/test/lib.sh" "$tmp/test/"
cp "$HWCAP_EXEC" "$tmp/hwcap-exec"
cp "$HWCAPCTL" "$tmp/hwcapctl"
chmod -R a+rX "$tmp"
chmod 1777 "$tmp/work"

# What ran, as jobs.sh counts it, and what it says of each that went wrong.
jobs_by() # NAME WRAPPER JOB...
{
	local name=$1 wrapper=$2 job
	shift 2
	for job; do
		"${user[@]}" env TMPDIR="$tmp/work" JOBS="$job" JOBS_WRAPPER="$wrapper" srcdir="$tmp" \
			HWCAP_EXEC="$tmp/hwcap-exec" HWCAPCTL="$tmp/hwcapctl" \
			bash "$tmp/test/jobs.sh" >"$tmp/log" 2>&1 </dev/null
		if grep -q "^ok 1 - $job\$" "$tmp/log" && [ "$(grep -c '^ok' "$tmp/log")" = 1 ]; then
			pass "$name: $job"
		elif grep -q "^ok .* - $job # SKIP" "$tmp/log"; then
			skip "$name: $job" "$(sed -n 's/^.*# SKIP //p' "$tmp/log")"
		else
			fail "$name: $job"
			show "$tmp/log"
		fi
	done
}

auto="$tmp/hwcap-exec --mask all --"
like "it is the trace engine" "$("${user[@]}" "$tmp/hwcap-exec" -v --mask=all -- /bin/true 2>&1)" 'hwcap-exec: engine trace'
jobs_by auto "$auto" java clang clangxx busybox perl python git node gcc go rust sqlite valgrind asan
jobs_by follow "$tmp/hwcap-exec --follow --mask all --" java clang busybox perl python git node gcc go rust
done_testing
