#!/bin/bash
# runner.sh - test/run counts what it is given, and overlooks no failure
. "$(dirname "$0")/lib.sh"

case_file()
{
	cat >"$tmp/$1"
	chmod +x "$tmp/$1"
}

# The last line that the runner prints for the files NAME...
verdict()
{
	local -a files
	files=("${@/#/$tmp/}")
	(unset TEST_TOTALS; builddir=$tmp TEST_TIMEOUT=2 "$srcdir/test/run" "${files[@]}") >"$tmp/run.out" 2>&1
	tail -n 1 "$tmp/run.out"
}

case_file good <<'T'
#!/bin/sh
echo "ok 1 - a"; echo "ok 2 - b # SKIP no such machine"; echo 1..2
T
case_file bad <<'T'
#!/bin/sh
echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1
T
case_file short <<'T'
#!/bin/sh
echo 1..3; echo "ok 1 - a"
T
case_file unplanned <<'T'
#!/bin/sh
echo "ok 1 - a"
T
case_file silent <<'T'
#!/bin/sh
exit 0
T
case_file dies <<'T'
#!/bin/sh
echo "ok 1 - a"; echo 1..1; kill -SEGV $$
T
case_file hangs <<'T'
#!/bin/bash
echo "ok 1 - a"; echo 1..1
exec tail -f /dev/null
T
case_file bails <<'T'
#!/bin/sh
echo "ok 1 - a"; echo "Bail out! no more"
T

case_file terse <<'T'
#!/bin/sh
echo "ok - b # SKIP why"; echo "7 passed, 0 failed, 1 skipped"
T
case_file liar <<'T'
#!/bin/sh
echo "not ok - a"; echo "7 passed, 0 failed, 0 skipped"
T

is "a closing line instead of a plan" "$(verdict terse)" "7 passed, 0 failed, 1 skipped"
is "a closing line that hides a failure" "$(verdict liar)" "0 passed, 2 failed, 0 skipped"
is "passes and skips" "$(verdict good)" "1 passed, 0 failed, 1 skipped"
like "names what it skipped" "$(cat "$tmp/run.out")" '^skipped: .*good: 2 - b # SKIP no such machine$'
is "a failure" "$(verdict good bad)" "2 passed, 1 failed, 1 skipped"
like "names what failed" "$(cat "$tmp/run.out")" '^failed: .*bad: 2 - b$'
for name in short unplanned dies hangs bails; do
	is "$name is a failure" "$(verdict $name)" "1 passed, 1 failed, 0 skipped"
done
is "silent is a failure" "$(verdict silent)" "0 passed, 1 failed, 0 skipped"
is "a missing file is a failure" "$(verdict nothing)" "0 passed, 1 failed, 0 skipped"

exits "its status says so" 1 env -u TEST_TOTALS builddir="$tmp" "$srcdir/test/run" "$tmp/bad"
exits "no test at all is no success" 1 env -u TEST_TOTALS builddir="$tmp" "$srcdir/test/run"
TEST_TOTALS=$tmp/totals builddir=$tmp "$srcdir/test/run" "$tmp/good" >/dev/null
TEST_TOTALS=$tmp/totals builddir=$tmp "$srcdir/test/run" "$tmp/bad" >/dev/null
exits "totals add up" 1 "$srcdir/test/run" --total "$tmp/totals"
is "to one line" "$(cat "$tmp/out")" "2 passed, 1 failed, 1 skipped"

done_testing
