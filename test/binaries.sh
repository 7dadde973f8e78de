#!/bin/bash
# binaries.sh - the two programs as files: shape, marker, size
. "$(dirname "$0")/lib.sh"

marker()
{
	od -An -tx1 -j8 -N1 "$1" | tr -d ' '
}

mkdir "$tmp/root"
for program in "$HWCAP_EXEC" "$HWCAPCTL"; do
	name=$(basename "$program")
	copy=$tmp/root/$name
	kind=ctl
	[ "$name" = hwcapctl ] || kind="exec"
	ok "$name passes the gate" env READELF="$READELF" STRIP="$STRIP" ARCH="$ARCH" \
		"$srcdir/build-aux/gate" $kind "$program"
	is "$name carries the marker" "$(marker "$program")" e8
	for tool in "$STRIP -o" "$STRIP --strip-debug -o" "$OBJCOPY" "$OBJCOPY --strip-all"; do
		case $tool in
		*-o) $tool "$copy" "$program" ;;
		*) $tool "$program" "$copy" ;;
		esac
		is "$name keeps it: $(basename "${tool%% *}") ${tool#* }" "$(marker "$copy")" e8
		exits "$name still runs after it" 0 "$copy" --version
	done
	if [ "$(id -u)" = 0 ]; then
		exits "$name needs no file but itself" 0 chroot "$tmp/root" "/$name" --version
	elif unshare --map-root-user true 2>/dev/null; then
		exits "$name needs no file but itself" 0 \
			unshare --map-root-user --root "$tmp/root" "/$name" --version
	else
		skip "$name needs no file but itself" "neither root nor allowed to make user namespaces"
	fi
done

# The gates must refuse what they are there for.
echo 'int main(void) { return 0; }' >"$tmp/main.c"
$CC -o "$tmp/dynamic" "$tmp/main.c"
$CC -static -no-pie -o "$tmp/static" "$tmp/main.c"
"$srcdir/build-aux/mark" "$tmp/dynamic"
gate()
{
	READELF=$READELF STRIP=$STRIP "$srcdir/build-aux/gate" "$@" 2>&1
}
like "gate refuses a dynamic program" "$(gate ctl "$tmp/dynamic")" 'interpreter'
like "gate refuses a program that is not a PIE" "$(gate ctl "$tmp/static")" 'position-independent'
like "gate refuses several segments" "$(gate exec "$HWCAPCTL")" 'PT_LOAD'
cp "$HWCAP_EXEC" "$tmp/unmarked"
printf '\0' | dd of="$tmp/unmarked" bs=1 seek=8 conv=notrunc 2>/dev/null
like "gate refuses a missing marker" "$(gate exec "$tmp/unmarked")" 'marker'

# Without the pages behind .hot it is SIGBUS to touch one of them.
read -r at size < <($READELF -SW "$HWCAP_EXEC" 2>/dev/null |
	sed -n 's/.* \.hot *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) *\([0-9a-f]*\).*/\1 \2/p')
head -c $(((0x$at + 0x$size + 4095) / 4096 * 4096)) "$HWCAP_EXEC" >"$tmp/hwcap-exec-hot"
chmod 755 "$tmp/hwcap-exec-hot"
printf '#!%s an argument\n' "$tmp/static" >"$tmp/script"
chmod 755 "$tmp/script"
hot()
{
	local name="a run needs no more than .hot: $1"
	shift
	if ! grep -q '^SIZE_CFLAGS := -O' "$builddir/config.mk"; then
		skip "$name" "configured with CFLAGS of its own"
	elif ! $CC --version | grep -q 'Free Software Foundation'; then
		skip "$name" "the list is of GCC's sections"
	else
		exits "$name" 0 "$tmp/hwcap-exec-hot" "$@"
	fi
}
hot "static" --engine=loader --no-cgroup --mask=AT_HWCAP2=2 -- "$tmp/static"
hot "dynamic, in PATH" -e loader --no-cgroup -m all -- true
hot "script" --engine=loader --no-cgroup --keep="$ARCH:none" -- "$tmp/script"
exits "and more is not there" 135 "$tmp/hwcap-exec-hot" --help

done_testing
