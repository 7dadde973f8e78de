#!/bin/sh
# guest.sh - what test_migration.sh runs in the guest: dump here, restore "there"
#
# The instance of binfmt_misc is the guest's initial one, and the cgroup is
# removed in between: the destination knows neither.
tests=0
is()
{
	tests=$((tests + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $tests - $1"
	else
		echo "not ok $tests - $1"
		echo "#   got:    $2"
		echo "#   wanted: $3"
	fi
}
fact() { sed -n "s/^$1 //p" | tail -n 1; }
# wait_for COMMAND...: at most 20 s
wait_for()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		"$@" && return
		# shellcheck disable=SC3045 # busybox has it
		read -r -t 1 _ <>/tmp/never
	done
	return 1
}
mkfifo /tmp/never /tmp/fifo
for module in /lib/modules/*/*.ko /lib/modules/*.ko; do
	insmod "$module"
done
ifconfig lo 127.0.0.1 up
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
mkdir -p /var/lib /sys/fs/cgroup/c /tmp/images
native=$(look | fact hwcap)
masked=$(printf %x $((0x$native & ~0x201)))

hwcapctl binfmt register 2>/tmp/err
is "initial instance: a choice is demanded" "$?" 125
is "and nothing is registered" "$(test -e /proc/sys/fs/binfmt_misc/hwcap-exec; echo $?)" 1
hwcapctl binfmt register --credentials >/tmp/out 2>&1
is "initial instance: registered" "$?" 0
hwcapctl cgroup set --exact AT_HWCAP=0x201 /c
cat >/tmp/loop.sh <<'S'
echo ready
while read line; do look | grep "^$line "; done <>/tmp/fifo
S
setsid sh -c 'echo $$ >/sys/fs/cgroup/c/cgroup.procs; exec sh /tmp/loop.sh' </dev/null >/tmp/log 2>&1 &
wait_for grep -q ready /tmp/log
pid=$(cat /sys/fs/cgroup/c/cgroup.procs)
is "the process is masked" "$(hwcapctl show "$pid" | sed -n 's/^AT_HWCAP=0x//p')" "$masked"

action="--action-script /bin/hwcap-exec-action"
criu dump -t "$pid" -D /tmp/images -o dump.log --shell-job --manage-cgroups $action
is "dump" "$?" 0
is "the mask is among the images" "$(sed -n 's/^AT_HWCAP	//p' /tmp/images/hwcap-exec.mask)" \
	"0x00000000000201	0x00000000000201"
is "the process is gone" "$(test -e "/proc/$pid"; echo $?)" 1
rmdir /sys/fs/cgroup/c
hwcapctl binfmt unregister
hwcapctl binfmt register --credentials >/tmp/out
criu restore -d -D /tmp/images -o restore.log --shell-job --manage-cgroups $action
is "restore" "$?" 0
is "the cgroup has the mask again" "$(hwcapctl cgroup get /c | sed -n 's/^AT_HWCAP	//p')" "0x00000000000201	0x00000000000201"
is "the process has its vector" "$(hwcapctl show "$pid" | sed -n 's/^AT_HWCAP=0x//p')" "$masked"
echo hwcap 1<>/tmp/fifo
wait_for grep -q '^hwcap ' /tmp/log
is "what it executes after the restore is masked" "$(fact hwcap </tmp/log)" "$masked"
is "another process is not" "$(look | fact hwcap)" "$native"

# Without the action script the cgroup comes back without a mask.
criu dump -t "$pid" -D /tmp/images -o dump.log --shell-job --manage-cgroups
rmdir /sys/fs/cgroup/c
criu restore -d -D /tmp/images -o restore.log --shell-job --manage-cgroups
echo execfn 1<>/tmp/fifo
wait_for grep -q '^execfn ' /tmp/log
echo hwcap 1<>/tmp/fifo
wait_for test "$(grep -c '^hwcap ' /tmp/log)" -ge 2
is "limit: without the script it is not masked" "$(fact hwcap </tmp/log)" "$native"
echo "1..$tests"
