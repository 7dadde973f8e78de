#!/bin/bash
# test_migration.sh - checkpoint and restore of a masked process, in a guest
#
# CRIU needs a kernel of its own to be root of, and binfmt_misc's initial
# instance is not one to try things in: both are had in a virtual machine.
# shellcheck source=test/lib.sh
. "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
arch=$srcdir/test/arch
if [ "$ARCH" != x86_64 ]; then
	skip "checkpoint and restore" "the guest is made for x86_64"
	done_testing
fi

root=$tmp/root
mkdir -p "$root"/{bin,lib/modules/criu}
install -m 755 "$(type -P busybox)" "$root/bin/busybox"
for applet in $(busybox --list); do
	[ "$applet" = busybox ] || ln -sf busybox "$root/bin/$applet"
done
# with_libraries PROGRAM TO
with_libraries()
{
	local library
	install -D -m 755 "$1" "$root$2"
	for library in $(ldd "$1" | grep -o '/[^ ]*'); do
		[ -e "$root$library" ] || install -D -m 755 "$(readlink -f "$library")" "$root$library"
	done
}
with_libraries "$(type -P criu)" /bin/criu
with_libraries "$(type -P runc)" /bin/runc
with_libraries "$(type -P jq)" /bin/jq
with_libraries "$(type -P tar)" /bin/tar # CRIU packs a tmpfs with it
(cd "$tmp" && runc spec) || bail_out "runc spec"
jq '.process.terminal = false | .process.args = ["sh", "/loop.sh"] | .root.readonly = false |
	.linux.cgroupsPath = "/container" | .hooks.createRuntime = [{ path: "/bin/hwcap-exec-hook" }] |
	.process.capabilities |= map_values(. + ["CAP_CHECKPOINT_RESTORE"]) |
	.annotations["org.hwcap-exec.mask"] = "AT_HWCAP=0x201" | .linux.namespaces |= map(select(.type != "network"))' \
	"$tmp/config.json" >"$root/config.json"
install -m 755 "$HWCAP_EXEC" "$HWCAPCTL" "$srcdir/contrib/criu/hwcap-exec-action" "$srcdir/contrib/oci/hwcap-exec-hook" "$root/bin/"
install -m 755 "$builddir/obj/test/containers/look-static" "$root/bin/look"
install -m 644 "$here/guest.sh" "$root/test"

# Modules in the order in which they need each other; CRIU asks for all of them.
package=$("$arch/packages" depends amd64 trixie linux-image-cloud-amd64 | head -n 1) &&
	package=$("$arch/packages" fetch amd64 trixie "$package") || bail_out "unable to fetch a kernel"
number=10
for module in crc32c-intel libcrc32c nfnetlink nf_tables unix_diag inet_diag tcp_diag udp_diag raw_diag \
	af_packet_diag netlink_diag tun veth; do
	dpkg-deb --fsys-tarfile "$package" | tar -xO --wildcards -f - "*/$module.ko.xz" 2>/dev/null |
		xz -dc >"$root/lib/modules/criu/$number-$module.ko"
	number=$((number + 1))
done

if ! GUEST_TIMEOUT=120 "$arch/guest" amd64-6.12 max 512 "$root" >"$tmp/out" 2>"$tmp/err"; then
	fail "the guest"
	show "$tmp/err"
fi
cat "$tmp/out"
grep -q '^1\.\.' "$tmp/out" || bail_out "the guest did not get to its end"
grep -q '^not ok' "$tmp/out" && exit 1
exit 0
