#!/bin/bash
# test_containers.sh - hwcap-exec as the entrypoint of containers
#
# Bundles for runc with four root file systems: a static program alone, busybox,
# a Debian one (bash and what it needs, from this machine) and one of musl.
# shellcheck source=test/lib.sh disable=SC2016 # inner shells' and jq's
. "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip "containers" "need root here"
	done_testing
fi
programs=$builddir/obj/test/containers
bundle=$tmp/bundle state=$tmp/state
mkdir "$bundle" "$state" "$tmp/roots"
hide=AT_HWCAP=0x201,AT_HWCAP2=0x2
fact() { sed -n "s/^$1 //p"; }
native=$("$programs/look-static" | fact hwcap)
masked=$(printf %x $((0x$native & ~0x201)))

cgroup=
for directory in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ "$(stat -f -c %T "$directory" 2>/dev/null)" != cgroup2fs ] || cgroup=$directory
done
own=hwcap-containers.$$

# ---- root file systems ----------------------------------------------------------

new_root()
{
	root=$tmp/roots/$1
	mkdir -p "$root"/{proc,sys,dev,tmp,bin,etc,lib}
	install -m 755 "$HWCAP_EXEC" "$root/hwcap-exec"
	printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
}
# with_libraries PROGRAM TO: it and the shared objects it needs
with_libraries()
{
	local library
	install -D -m 755 "$1" "$root/$2"
	for library in $(ldd "$1" | grep -o '/[^ ]*'); do
		[ -e "$root$library" ] || install -D -m 755 "$(readlink -f "$library")" "$root$library"
	done
}
with_busybox()
{
	install -m 755 "$(type -P busybox)" "$root/bin/busybox"
	for applet in sh cat ls ps kill true echo readlink grep head; do
		[ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
	done
}
new_root scratch
rm -r "${root:?}"/{bin,etc,lib}
install -m 755 "$programs/look-static" "$root/look"
new_root busybox
install -m 755 "$programs/look-static" "$root/look"
with_busybox
new_root debian
with_libraries "$programs/look-glibc" look
for program in bash cat ls ps kill true echo readlink grep head; do
	with_libraries "$(type -P $program)" "bin/$program"
done
ln -s bash "$root/bin/sh"
new_root musl
install -m 755 "$programs/look-musl" "$root/look"
install -m 755 "$(readlink -f "/lib/ld-musl-$ARCH.so.1")" "$root/lib/ld-musl-$ARCH.so.1"
with_busybox

# ---- bundles ------------------------------------------------------------------------

(cd "$bundle" && runc spec) || bail_out "runc spec"
# The test machines' root may not raise limits.
jq 'del(.process.rlimits) | .process.terminal = false | .root.readonly = true' \
	"$bundle/config.json" >"$tmp/base.json"

number=0
# container ROOT FILTER ARG...: run it; output on stdout
runtime=runc
container()
{
	local root=$1 filter=$2
	shift 2
	number=$((number + 1))
	jq "$filter"' | .root.path = $root | .process.args = $ARGS.positional' --arg root "$tmp/roots/$root" \
		"$tmp/base.json" --args -- "$@" >"$bundle/config.json"
	timeout 60 $runtime --root "$state" run --bundle "$bundle" "hwcap-test-$$-$number" </dev/null
}
without() { echo '.mounts |= map(select(.destination | startswith("'"$1"'") | not))'; }

is "natively" "$(container scratch . /look | fact hwcap)" "$native"
for root in scratch busybox debian musl; do
	is "$root: --mask" "$(container $root . /hwcap-exec --mask=$hide --exact -- /look | fact hwcap)" "$masked"
	is "$root: by an ENV of the image" \
		"$(container $root '.process.env += ["HWCAP_EXEC_MASK='$hide'"]' /hwcap-exec --exact -- /look | fact hwcap)" "$masked"
	is "$root: no descriptor of ours is left" \
		"$(container $root . /hwcap-exec --mask=$hide --exact -- /look | grep ^fd)" "$(container $root . /look | grep ^fd)"
	container $root . /hwcap-exec --cgroup -- /look >"$tmp/out" 2>"$tmp/err"
	is "$root: no cgroup in sight: status" "$?" 125
	like "$root: no cgroup in sight: the line" "$(cat "$tmp/err")" "^hwcap-exec: .*cgroup"
	is "$root: nothing ran unmasked" "$(cat "$tmp/out")" ""
done

# How the runtime may confine it.
confined()
{
	is "$1: masked" "$(container "${3:-busybox}" "$2" /hwcap-exec --mask=$hide --exact -- /look | fact hwcap)" "$masked"
}
confined "no /sys" "$(without /sys)"
confined "no_new_privs" ".process.noNewPrivileges = true"
confined "privileges may be gained" ".process.noNewPrivileges = false"
confined "no capability" ".process.capabilities = {}"
confined "another user" ".process.user = { uid: 65534, gid: 65534 } | .process.capabilities = {}"
confined "another user, dynamic" ".process.user = { uid: 65534, gid: 65534 } | .process.capabilities = {}" debian
confined "writable root" ".root.readonly = false"
confined "user namespace" '.linux.namespaces += [{ type: "user" }] |
	.linux.uidMappings = [{ containerID: 0, hostID: 100000, size: 65536 }] |
	.linux.gidMappings = [{ containerID: 0, hostID: 100000, size: 65536 }]'
# runc itself needs /proc; a chroot in the container has none.
mkdir "$tmp/roots/busybox/empty"
cp "$tmp/roots/scratch/look" "$tmp/roots/scratch/hwcap-exec" "$tmp/roots/busybox/empty/"
chroot='.process.capabilities |= map_values(. + ["CAP_SYS_CHROOT"])'
empty() { container busybox "$chroot" busybox chroot /empty /hwcap-exec "$@"; }
is "no /proc and no /sys: masked" "$(empty --mask=$hide --exact -- /look | fact hwcap)" "$masked"
is "no /proc and no /sys: --cgroup is an error" "$(empty --cgroup -- /look 2>/dev/null; echo $?)" 125

# With --follow children are masked, too.
if "$HWCAP_EXEC" --help | grep -q -- --follow; then
	for root in busybox debian musl; do
		is "$root: --follow --mask, a child" \
			"$(container $root . /hwcap-exec -f --mask=$hide --exact -- sh -c '/look; :' | fact hwcap)" "$masked"
	done
	is "--follow --cgroup: no cgroup in sight" "$(container scratch . /hwcap-exec -f -c -- /look 2>/dev/null; echo $?)" 125
fi

# PID 1: what follows is the same with us and without.
same()
{
	local name=$1 native_status
	shift
	container "$@" >"$tmp/native.out" 2>"$tmp/native.err"
	native_status=$?
	container "$1" "$2" /hwcap-exec --mask=$hide --exact -- "${@:3}" >"$tmp/masked.out" 2>"$tmp/masked.err"
	is "PID 1, $name: status" "$?" "$native_status"
	is "PID 1, $name: output" "$(cat "$tmp/masked.out" "$tmp/masked.err")" "$(cat "$tmp/native.out" "$tmp/native.err")"
}
for root in busybox debian; do
	same "pid" $root . sh -c 'echo $$ $PPID'
	same "exit status" $root . sh -c 'exit 7'
	same "a signal with a handler" $root . sh -c 'trap "echo term; exit 9" TERM; kill -TERM $$; exit 1'
	same "a signal without" $root . sh -c 'kill -TERM $$; echo still here'
	same "SIGKILL to itself" $root . sh -c 'kill -KILL $$; echo still here'
	same "orphans" $root . sh -c '(sh -c "exit 3" & true) ; (true & true); wait; echo waited $?'
	same "not found" $root . sh -c '/nonexistent; echo $?'
done
is "a program that is not there" "$(container scratch . /hwcap-exec --mask=all -- /nothing 2>/dev/null; echo $?)" 127

# ---- the cgroup -----------------------------------------------------------------------

# On a unified hierarchy the engine mounts the container's own cgroup; here the
# test does.
if [ -n "$cgroup" ] && mkdir "$cgroup/$own" 2>/dev/null; then
	remove() { rmdir "$cgroup/$own" 2>/dev/null; rm -rf "$tmp"; }
	trap remove EXIT
	in_cgroup=$(without /sys/fs/cgroup)' | .mounts += [{ destination: "/sys/fs/cgroup", type: "bind",
		source: "'$cgroup/$own'", options: ["rbind", "ro"] }] |
		.linux.namespaces += [{ type: "cgroup" }] | .linux.cgroupsPath = "/'$own'"'
	is "cgroup without a record: nothing is hidden" "$(container scratch "$in_cgroup" /hwcap-exec -- /look | fact hwcap)" "$native"
	mkdir -p "$cgroup/$own"
	"$HWCAPCTL" cgroup set --exact $hide "/$own" || bail_out "unable to set a mask"
	for root in scratch debian; do
		mkdir -p "$cgroup/$own"
		"$HWCAPCTL" cgroup set --exact $hide "/$own"
		is "$root: --cgroup" "$(container $root "$in_cgroup" /hwcap-exec --exact --cgroup -- /look | fact hwcap)" "$masked"
	done
	# The hook does it, by an annotation.
	hook=$srcdir/contrib/oci/hwcap-exec-hook
	hooked="$in_cgroup"' | .hooks.createRuntime = [{ path: "'$hook'", env: ["HWCAPCTL='$HWCAPCTL'"] }] |
		.annotations["org.hwcap-exec.mask"] = "'$hide'"'
	mkdir -p "$cgroup/$own"
	is "hook: the annotation's mask" "$(container scratch "$hooked" /hwcap-exec --exact --cgroup -- /look | fact hwcap)" "$masked"
	mkdir -p "$cgroup/$own"
	container scratch "$hooked | .annotations[\"org.hwcap-exec.mask\"] = \"nonsense\"" /look >"$tmp/out" 2>"$tmp/err"
	is "hook: a wrong SPEC keeps it from starting" "$?-$(cat "$tmp/out")" "1-"
	like "hook: the reason" "$(cat "$tmp/err")" "nonsense"
	mkdir -p "$cgroup/$own"
	runtime=$srcdir/contrib/oci/hwcap-runtime
	export HWCAPCTL HWCAP_HOOK=$hook HWCAP_MASK_FILE=$tmp/mask
	is "runtime: the hook and the cgroup" "$(container debian "$in_cgroup"' |
		.annotations["org.hwcap-exec.mask"] = "'$hide'" | .annotations["org.hwcap-exec.cgroup"] = "true"' \
		/look | fact hwcap)" "$masked"
	runtime=runc
else
	skip "containers with a cgroup in sight" "no writable cgroup2 hierarchy"
fi

# ---- the runtime -------------------------------------------------------------------------

export HWCAPCTL HWCAP_MASK_FILE=$tmp/mask
runtime=$srcdir/contrib/oci/hwcap-runtime
annotated='.annotations["org.hwcap-exec.mask"] = "'$hide'"'
for root in scratch busybox debian musl; do
	rm -f "$tmp/mask"
	is "runtime: $root, without mask" "$(container $root . /look | fact hwcap)" "$native"
	got=$(container $root "$annotated" /look one two)
	is "runtime: $root, annotation" "$(fact hwcap <<<"$got")" "$masked"
	is "runtime: $root, arguments" "$(grep ^argv <<<"$got")" $'argv[0] /look\nargv[1] one\nargv[2] two'
done
echo $hide >"$tmp/mask"
is "runtime: the machine's file" "$(container debian . /look | fact hwcap)" "$masked"
is "runtime: what the program starts is not masked" "$(container debian . sh -c '/look; :' | fact hwcap)" "$native"
rm "$tmp/mask"

# exec into it.
mkfifo "$tmp/fifo"
jq "$annotated"' | .root.path = $root | .process.args = ["sh", "-c", "read x"]' --arg root "$tmp/roots/debian" \
	"$tmp/base.json" >"$bundle/config.json"
id=hwcap-test-$$-exec
timeout 60 $runtime --root "$state" run --bundle "$bundle" "$id" <>"$tmp/fifo" >/dev/null &
running() { [ "$(runc --root "$state" state "$id" 2>/dev/null | jq -r .status)" = running ]; }
if wait_for 20 running; then
	is "runtime: exec" "$($runtime --root "$state" exec "$id" /look a b | grep -E '^(hwcap|argv.*b) ')" "hwcap $masked"
	is "runtime: exec, arguments" "$($runtime --root "$state" exec --env X=1 "$id" /look a b | grep ^argv)" \
		$'argv[0] /look\nargv[1] a\nargv[2] b'
	jq '.process.args = ["/look"] | .process' "$tmp/base.json" >"$tmp/process.json"
	is "runtime: exec --process" "$($runtime --root "$state" exec --process "$tmp/process.json" "$id" | fact hwcap)" "$masked"
	is "runc's own exec is not masked" "$(runc --root "$state" exec "$id" /look | fact hwcap)" "$native"
	is "nor is another in its namespaces" \
		"$(nsenter -t "$(runc --root "$state" state "$id" | jq .pid)" -m /look | fact hwcap)" "$native"
	echo >"$tmp/fifo"
else
	fail "a container that keeps running"
fi
wait

# ---- podman ----------------------------------------------------------------------------------

export CONTAINERS_STORAGE_CONF=$tmp/storage.conf
printf '[storage]\ndriver = "vfs"\nrunroot = "%s"\ngraphroot = "%s"\n' "$tmp/run" "$tmp/graph" >"$tmp/storage.conf"
podman()
{
	timeout 120 /usr/bin/podman --runtime "$runtime" --cgroup-manager cgroupfs "$@"
}
engine() { podman run --rm --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 --network=none "$@" </dev/null; }
runtime=$(type -P runc)
for root in scratch debian; do
	if ! tar -C "$tmp/roots/$root" -c . | podman import --change 'ENTRYPOINT ["/hwcap-exec","--exact","--mask='$hide'","--"]' \
		- "hwcap-$root" >"$tmp/out" 2>&1; then
		fail "podman import $root"
		show "$tmp/out"
		continue
	fi
	is "podman: $root, ENTRYPOINT" "$(engine "hwcap-$root" /look | fact hwcap)" "$masked"
	is "podman: $root, without ENTRYPOINT" \
		"$(engine --entrypoint '[]' "hwcap-$root" /look | fact hwcap)" "$native"
	is "podman: $root, --read-only" "$(engine --read-only "hwcap-$root" /look | fact hwcap)" "$masked"
done
is "podman: seccomp and capabilities as by default" \
	"$(engine hwcap-debian grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status | tr -d '\t' | tr '\n' ' ')" \
	"$(engine --entrypoint '["grep"]' hwcap-debian -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status | tr -d '\t' | tr '\n' ' ')"
is "podman: PID 1" "$(engine hwcap-debian sh -c 'echo $$')" 1
is "podman: exit status" "$(engine hwcap-debian sh -c 'exit 33'; echo $?)" 33
runtime=$tmp/runtime
printf '#!/bin/sh\nexport HWCAPCTL=%s\nexec %s "$@"\n' "$HWCAPCTL" "$srcdir/contrib/oci/hwcap-runtime" >"$runtime"
chmod 755 "$runtime"
is "podman: the runtime, by an annotation" \
	"$(engine --entrypoint '[]' --annotation org.hwcap-exec.mask=$hide hwcap-debian /look | fact hwcap)" "$masked"
podman rmi -af >/dev/null 2>&1

done_testing
