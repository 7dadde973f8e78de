#!/bin/bash
# test_engines.sh - docker, containerd and systemd-nspawn, as doc/containers.md has it
#
# Each engine with its own daemon, which has all of its files below $tmp and
# ends with the test.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
	skip "container engines" "need root and mount namespaces here (a chroot?)"
	done_testing
fi
fact() { sed -n "s/^$1 //p"; }
look=$builddir/obj/test/containers/look-static
hide=AT_HWCAP=0x201
native=$("$look" | fact hwcap)
masked=$(printf %x $((0x$native & ~0x201)))

root=$tmp/root
mkdir -p "$root"/{bin,proc,sys,dev,tmp,etc,usr,run,var}
install -m 755 "$look" "$root/look"
install -m 755 "$HWCAP_EXEC" "$root/hwcap-exec"
install -m 755 "$(type -P busybox)" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
mkfifo "$root/wait" # nobody ever writes there
echo ID=test >"$root/etc/os-release"
printf '#!/bin/sh\nexport HWCAPCTL=%s HWCAP_MASK_FILE=%s\nexec %s "$@"\n' "$HWCAPCTL" "$tmp/mask" \
	"$srcdir/contrib/oci/hwcap-runtime" >"$tmp/runtime"
chmod 755 "$tmp/runtime"

daemons=()
end()
{
	for pid in ${daemons[@]+"${daemons[@]}"}; do
		kill "$pid" 2>/dev/null
		wait "$pid"
	done
	daemons=()
}
trap 'end; rm -rf "$tmp" /run/containerd/runc/hwcap-test-$$' EXIT

# ---- containerd ------------------------------------------------------------------

mkdir "$tmp/containerd"
cat >"$tmp/containerd.toml" <<C
version = 2
root = "$tmp/containerd/root"
state = "$tmp/containerd/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "$tmp/containerd/socket"
C
containerd --config "$tmp/containerd.toml" >"$tmp/containerd.log" 2>&1 &
daemons+=($!)
client() { timeout 60 ctr --address "$tmp/containerd/socket" --namespace hwcap-test-$$ "$@" </dev/null; }
task() { client run --rm --snapshotter native "$@"; }
image=localhost/hwcap-test:latest
export CONTAINERS_STORAGE_CONF=$tmp/storage.conf
printf '[storage]\ndriver = "vfs"\nrunroot = "%s"\ngraphroot = "%s"\n' "$tmp/run" "$tmp/graph" >"$tmp/storage.conf"
if ! tar -C "$root" -c . | podman import - hwcap-test >"$tmp/out" 2>&1 ||
	! podman save -o "$tmp/image.tar" "$image" >>"$tmp/out" 2>&1; then
	fail "an image"
	show "$tmp/out"
fi
if wait_for 20 client version >/dev/null 2>&1 &&
	client images import --snapshotter native "$tmp/image.tar" >"$tmp/out" 2>&1; then
	is "containerd: natively" "$(task $image one /look | fact hwcap)" "$native"
	is "containerd: hwcap-exec in front" \
		"$(task $image two /hwcap-exec --exact --mask=$hide -- /look | fact hwcap)" "$masked"
	with=(--runc-binary "$tmp/runtime" --annotation "org.hwcap-exec.mask=$hide")
	is "containerd: the runtime, an annotation" "$(task "${with[@]}" $image three /look | fact hwcap)" "$masked"
	task "${with[@]}" $image four busybox cat /wait >"$tmp/out" 2>&1 &
	running() { client tasks ls 2>/dev/null | grep -q "$1.*RUNNING"; }
	if wait_for 20 running four; then
		is "containerd: exec" "$(client tasks exec --exec-id x four /look | fact hwcap)" "$masked"
		client tasks kill --signal KILL four
		gone() { ! client tasks ls | grep -q four; }
		wait_for 20 gone || fail "containerd: the task's end"
	else
		fail "containerd: a task that keeps running"
		show "$tmp/out"
	fi
	wait $!
else
	fail "containerd"
	show "$tmp/containerd.log"
fi
end

# ---- docker ------------------------------------------------------------------------

mkdir "$tmp/docker"
jq -n --arg runtime "$tmp/runtime" --arg in "$tmp/docker" '{
	runtimes: { hwcap: { path: $runtime } },
	"data-root": ($in + "/data"), "exec-root": ($in + "/exec"), pidfile: ($in + "/pid"),
	hosts: ["unix://" + $in + "/socket"], "storage-driver": "vfs", bridge: "none", iptables: false,
	ip6tables: false, "exec-opts": ["native.cgroupdriver=cgroupfs"] }' >"$tmp/daemon.json"
# Mounts of its own: what it leaves mounted ends with it.
unshare --mount dockerd --config-file "$tmp/daemon.json" >"$tmp/docker.log" 2>&1 &
daemons+=($!)
client() { timeout 60 /usr/bin/docker --host "unix://$tmp/docker/socket" "$@" </dev/null; }
run() { client run --rm --network=none "$@"; }
if wait_for 30 client version >/dev/null 2>&1 &&
	tar -C "$root" -c . | timeout 60 /usr/bin/docker --host "unix://$tmp/docker/socket" \
		import --change 'ENTRYPOINT ["/hwcap-exec","--exact","--mask='$hide'","--"]' - entry >"$tmp/out" 2>&1; then
	is "docker: ENTRYPOINT" "$(run entry /look | fact hwcap)" "$masked"
	is "docker: natively" "$(run --entrypoint /look entry | fact hwcap)" "$native"
	is "docker: PID 1 and its exit status" "$(run entry sh -c 'echo $$; exit 7'; echo $?)" $'1\n7'
	is "docker: no capability, no new privileges, read-only" \
		"$(run --cap-drop=ALL --security-opt=no-new-privileges --read-only entry /look | fact hwcap)" "$masked"
	is "docker: --follow, a child" "$(run --entrypoint /hwcap-exec entry -f --exact --mask=$hide -- sh -c '/look; :' | fact hwcap)" \
		"$masked"
	echo $hide >"$tmp/mask"
	is "docker: the runtime, the machine's file" "$(run --runtime hwcap --entrypoint /look entry | fact hwcap)" "$masked"
	client run --detach --network=none --name kept --runtime hwcap --entrypoint sh entry -c 'read -r x </wait' >"$tmp/out" 2>&1
	is "docker: exec" "$(client exec kept /look | fact hwcap)" "$masked"
	client rm --force kept >"$tmp/out" 2>&1
	rm "$tmp/mask"
else
	fail "docker"
	show "$tmp/docker.log"
fi
end

# ---- systemd-nspawn ------------------------------------------------------------------

# There need be no systemd to ask for a unit.
nspawn()
{
	timeout 60 systemd-nspawn --quiet --register=no --keep-unit --console=pipe --directory="$root" "$@" </dev/null 2>"$tmp/err"
}
with=(--bind-ro="$HWCAP_EXEC:/hwcap-exec-bound")
is "nspawn: natively" "$(nspawn /look | fact hwcap)" "$native"
is "nspawn: hwcap-exec in front" "$(nspawn "${with[@]}" /hwcap-exec-bound --exact --mask=$hide -- /look | fact hwcap)" "$masked"
is "nspawn: with --follow, a child" \
	"$(nspawn "${with[@]}" /hwcap-exec-bound -f --exact --mask=$hide -- /bin/sh -c '/look; :' | fact hwcap)" "$masked"
"$HWCAPCTL" binfmt copy --mask=$hide --exact --no-cgroup "$tmp/hwcap-exec"
is "nspawn: a copy that carries the mask" \
	"$(nspawn --bind-ro="$tmp/hwcap-exec:/hwcap-exec" /hwcap-exec -- /look | fact hwcap)" "$masked"
is "nspawn: PID 1 and its exit status" \
	"$(nspawn "${with[@]}" /hwcap-exec-bound --mask=$hide -- /bin/sh -c 'echo $$; exit 7'; echo $?)" $'1\n7'
# Its cgroup is made when it starts, and those above are out of sight.
is "nspawn: --cgroup is an error" "$(SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 nspawn "${with[@]}" /hwcap-exec-bound --cgroup -- /look; echo $?)" 125
like "nspawn: and says so" "$(cat "$tmp/err")" "^hwcap-exec: .*cgroup"

done_testing
