#!/bin/bash
# jobs.sh - larger jobs of real programs, native against masked
#
# Each job is a shell function that runs twice in a fresh directory of the
# same name, with $W empty and with $W the wrapper; exit status, stdout and
# stderr must agree. `steady` removes what two native runs differ in.
# JOBS_WRAPPER overrides the wrapper, JOBS="name ..." which jobs run.
. "$(dirname "$0")/lib.sh"

wrapper=${JOBS_WRAPPER-$HWCAP_EXEC --mask all --}
programs=$srcdir/test/jobs
export HOME=$tmp/home TZ=UTC LC_ALL=C.UTF-8 GOCACHE=$tmp/go-cache GOPATH=$tmp/go GOTOOLCHAIN=local \
	GO111MODULE=off
mkdir "$HOME"
ulimit -c unlimited

# Addresses, pids and times.
steady()
{
	sed -E -e 's/0x[0-9a-f]{6,}/ADDR/g' -e 's/==[0-9]+==/==PID==/g' -e 's/[pt]id[= ][0-9]+/id N/gi' \
		-e 's/(line [0-9]+): +[0-9]+ /\1: PID /'
}

numbers()
{
	sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'
}

job()
{
	local name=$1 filter=${2:-cat} side
	[ -z "${JOBS-}" ] || [[ " $JOBS " = *" $name "* ]] || return 0
	for side in native wrapped; do
		W=
		[ $side = native ] || W=$wrapper
		export W
		rm -rf "$tmp/work"
		mkdir "$tmp/work"
		(cd "$tmp/work" && set -e && "job_$name") >"$tmp/$side.out" 2>"$tmp/$side.err" </dev/null
		echo "exit status $?" >>"$tmp/$side.out"
		"$filter" <"$tmp/$side.out" >"$tmp/$side.out.steady"
		"$filter" <"$tmp/$side.err" >"$tmp/$side.err.steady"
	done
	if ! grep -q '^exit status 0$' "$tmp/native.out"; then
		fail "$name: the job itself, natively"
		show "$tmp/native.out" "$tmp/native.err"
	elif diff "$tmp/native.out.steady" "$tmp/wrapped.out.steady" >"$tmp/diff" &&
	     diff "$tmp/native.err.steady" "$tmp/wrapped.err.steady" >>"$tmp/diff"; then
		pass "$name"
	else
		fail "$name"
		show "$tmp/diff"
	fi
}

# ---- compilers and what they make -----------------------------------------

compile()
{
	$W "$1" -O2 -pthread -o program "$programs/$2"
	$W ./program one two
}
job_gcc() { compile gcc sum.c; }
job_gxx() { compile g++ throw.cc; }
job_clang() { compile clang sum.c; }
job_clangxx() { compile clang++ throw.cc; }

job_execstack()
{
	gcc -O0 -Wl,-z,execstack -o program "$programs/trampoline.c"
	$W ./program
}

job_asan()
{
	gcc -g -fsanitize=address -o program "$programs/overflow.c"
	$W ./program 3
	! $W ./program 64 || return 1
}

job_tsan()
{
	gcc -g -O1 -fsanitize=thread -o program "$programs/race.c"
	$W ./program quiet
	# Which thread is caught, and where, differs from run to run.
	TSAN_OPTIONS=halt_on_error=1 $W ./program race 2>report || echo "status $?"
	grep 'WARNING: ThreadSanitizer: data race' report
}

job_go()
{
	cp "$programs/hello.go" .
	$W go build -o program hello.go
	$W ./program
}

job_rust()
{
	$W rustc -O -o program "$programs/threads.rs"
	$W ./program
	! $W ./program panic || return 1
	# Overflowing the stack: the handler must find the guard page.
	$W ./program overflow || echo "status $?"
}

job_java()
{
	$W java -version
	$W javac -d . "$programs/Hello.java"
	$W java -Xshare:auto -cp . Hello
}

# ---- interpreters and tools -------------------------------------------------

job_python() { $W python3 "$programs/threads.py"; }
job_perl() { $W perl "$programs/fork.pl"; }
job_node() { $W node "$programs/worker.js"; }

job_git()
{
	export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
		GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='1700000000 +0000' \
		GIT_COMMITTER_DATE='1700000000 +0000'
	$W git init -q -b main from
	cp "$programs"/* from
	$W git -C from add .
	$W git -C from commit -q -m first
	$W git clone -q "file://$PWD/from" to
	$W git -C to log --stat
	$W git -C to fsck --strict
}

job_sqlite()
{
	$W sqlite3 data.db <"$programs/rows.sql"
	$W sqlite3 data.db 'select count(*), sum(n), max(text) from rows; pragma integrity_check;'
}

job_openssl()
{
	$W openssl speed -seconds 1 -bytes 1024 sha256
	echo data | $W openssl dgst -sha256
	$W openssl enc -aes-256-gcm -list | head -n 3
}

# Applets that run other applets do so by executing /proc/self/exe.
job_busybox()
{
	$W busybox sh -c 'busybox ls -d /etc /usr; for i in 1 2 3; do echo $i; done | busybox tac'
	PATH=/nonexistent $W /bin/busybox sh -c 'ls -d /etc; echo a b | xargs -n 1 echo'
	mkdir a
	touch a/x a/y
	$W busybox find a -type f -exec busybox basename {} \; | sort
	$W busybox tar cf a.tar a
	$W busybox gzip a.tar
	$W busybox zcat a.tar.gz | $W busybox tar tf - | sort
	$W busybox awk 'BEGIN { while ("busybox echo one two" | getline) print $2 }'
}

# ---- debuggers and tracers -------------------------------------------------

start_waiting()
{
	gcc -g -O0 -o program "$programs/wait.c"
	mkfifo fifo
	$W ./program ready <fifo &
	pid=$!
	exec 9>fifo
	wait_for 10 test -e ready || bail_out "the program did not start"
}

job_gdb_attach()
{
	start_waiting
	gdb -nx -q -batch -p $pid -ex 'print main' -ex 'print answer' -ex 'info symbol main' \
		-ex 'bt -1' >gdb.out 2>&1
	# From its start-up messages only the end is the same every time.
	grep -E '^\$[0-9]|main in section|^#[0-9]+ .*main' gdb.out
	exec 9>&-
	wait $pid
}

job_gdb_gcore()
{
	start_waiting
	gdb -nx -q -batch -p $pid -ex 'generate-core-file core.file' >gdb.out 2>&1
	gdb -nx -q -batch ./program core.file -ex 'print answer' -ex 'info symbol main' -ex 'bt -1' 2>&1 |
		grep -E '^\$[0-9]|main in section|^#[0-9]+ .*main'
	exec 9>&-
	wait $pid
}

job_gdb_run()
{
	gcc -g -O0 -o program "$programs/wait.c"
	$W gdb -nx -q -batch ./program -ex 'break main' -ex 'run' -ex 'print answer' -ex 'kill' 2>&1 |
		grep -E '^\$[0-9]|Breakpoint 1, main'
}

job_core()
{
	gcc -g -O0 -o program "$programs/crash.c"
	$W ./program || echo "status $?"
	core=$(ls core*)
	gdb -nx -q -batch ./program "$core" -ex 'print answer' -ex 'info symbol main' -ex 'bt' 2>&1 |
		grep -E '^\$[0-9]|main in section|^#[0-9]+ |terminated|generated'
}

job_valgrind()
{
	gcc -g -O1 -o program "$programs/leak.c"
	$W valgrind --leak-check=full ./program
}

job_strace_inside()
{
	gcc -O1 -o program "$programs/leak.c"
	$W strace -f -o trace -e trace=openat,write ./program
	grep -c write trace
}

job_strace_outside()
{
	gcc -O1 -o program "$programs/leak.c"
	strace -f -o trace -e trace=write $W ./program
	grep 'write(1' trace | sed 's/^[0-9]* *//'
}

for name in gcc gxx clang clangxx execstack go java python perl node git sqlite busybox valgrind \
	strace_inside strace_outside; do
	job $name steady
done
for name in asan tsan rust gdb_attach gdb_gcore gdb_run; do
	job $name steady
done
job openssl numbers
# A pipe takes cores away, an absolute path elsewhere: then gdb_gcore has to do.
pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
core*) job core steady ;;
*) skip core "kernel.core_pattern is $pattern: no core file in the working directory" ;;
esac

done_testing
