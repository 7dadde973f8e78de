#!/bin/sh
# guest.sh - what test_migration.sh runs in the guest: dump here, restore "there"
#
# The instance of binfmt_misc is the guest's initial one, and the cgroup is
# removed in between: the destination knows neither.

# pivot_root(2), which runc uses, does not take an initramfs for the old root.
if [ ! -d /new ]; then
	mkdir /new
	mount -t tmpfs none /new
	for file in /*; do
		case $file in
		/new) mkdir /new/new ;;
		/proc | /sys | /dev | /run) mkdir "/new$file" && mount -o move "$file" "/new$file" ;;
		*) cp -a "$file" /new ;;
		esac
	done
	cd /new && mount -o move . / && exec chroot . /bin/sh /test
fi
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
kill "$pid"

# ---- a container, by runc ------------------------------------------------------
# Its hook gives the cgroup its mask: at the start, and at the restore as well.
bundle=/tmp/bundle root=/tmp/bundle/rootfs
mkdir -p $root/bin $root/proc $root/sys $root/dev $root/tmp
cp /bin/busybox /bin/look $root/bin/
ln -s busybox $root/bin/sh
mkfifo $root/fifo
cat >$root/loop.sh <<'S'
exec >/log
echo ready
while read line; do look; done <>/fifo
S
cp /config.json $bundle
mkdir -p /dev/pts && mount -t devpts devpts /dev/pts # CRIU looks there
in_runc() { runc --root /tmp/runc --log /tmp/runc.log "$@"; }
container_pid() { in_runc state c | sed -n 's/^ *"pid": \([0-9]*\).*/\1/p'; }
vector_of() { hwcapctl show "$1" | sed -n 's/^AT_HWCAP=0x//p'; }
record_of() { hwcapctl cgroup get "$1" | sed -n 's/^AT_HWCAP	//p'; }
in_runc run -d --bundle $bundle c </dev/null >/dev/null 2>&1
is "limit: runc, which executes itself by a descriptor, cannot under the rule" "$?-$(grep -c 'cloned binary' /tmp/runc.log)" 1-1
in_runc delete -f c 2>/tmp/err
rm /tmp/runc.log
printf '\200' | dd of=/bin/runc bs=1 seek=8 conv=notrunc 2>/tmp/err
in_runc run -d --bundle $bundle c </dev/null >/dev/null 2>&1
is "with the marker it can" "$?" 0
wait_for grep -q ready $root/log
is "container: masked" "$(vector_of "$(container_pid)")" "$masked"
rm -rf /tmp/images/*
in_runc checkpoint --image-path /tmp/images --manage-cgroups-mode soft c >/dev/null 2>&1
is "runc checkpoint" "$?" 0
rmdir /sys/fs/cgroup/container 2>/tmp/err
is "container: nothing is left of its cgroup" "$(test -e /sys/fs/cgroup/container; echo $?)" 1
hwcapctl binfmt unregister
hwcapctl binfmt register --credentials >/tmp/out
in_runc restore -d --bundle $bundle --image-path /tmp/images --manage-cgroups-mode soft c </dev/null >/dev/null 2>&1
is "runc restore" "$?" 0
is "container: the cgroup has the mask again" "$(record_of /container)" "0x00000000000201	0x00000000000201"
is "container: the vector" "$(vector_of "$(container_pid)")" "$masked"
echo x 1<>$root/fifo
wait_for grep -q ^hwcap $root/log
is "container: what it executes after the restore is masked" "$(fact hwcap <$root/log)" "$masked"
is "container: and what is executed into it" "$(in_runc exec c look 2>/tmp/err | fact hwcap)" "$masked"
in_runc kill c KILL
sed 's/^/# runc: /' /tmp/runc.log
[ ! -e /tmp/images/dump.log ] || grep -h "Error" /tmp/images/*.log | sed 's/^/# /'
echo "1..$tests"
