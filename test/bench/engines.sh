# shellcheck shell=bash
# engines.sh - what run measures and count counts: the arrays engines, targets
#
# Sourced. Besides native: floor (what no loader can do without, see floor.c),
# loader (with the link /proc/PID/exe set, which takes
# a capability), nolink (the same without capabilities, as of any other user),
# trace, follow (each exec in its tree), binfmt (under a rule, in a namespace
# of its own); then, for comparison, what is installed of env, setarch, the
# dynamic linker run directly, proot and qemu-user. BENCH_ENGINES adds others,
# one "NAME=PREFIX" a line, as bench has it; COMPARE=no leaves the comparison out.
: "${builddir:=$PWD}" "${HWCAP_EXEC:=$builddir/hwcap-exec}" "${HWCAPCTL:=$builddir/hwcapctl}"
: "${BENCH_MASK:=AT_HWCAP2=0x2}" "${COMPARE:=yes}"
bench=$builddir/obj/test/bench
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

options="--no-cgroup --mask=$BENCH_MASK"
loader="$HWCAP_EXEC --engine=loader $options --"
engines=(native= "loader=$loader")
if command -v setpriv >/dev/null && setpriv --bounding-set=-all --inh-caps=-all true 2>/dev/null; then
	engines+=("nolink=@$(command -v setpriv) --bounding-set=-all --inh-caps=-all @ $loader")
fi
if "$bench/floor" "$bench/minimal" 2>/dev/null; then
	engines+=("floor:minimal=$bench/floor")
fi
engines+=("trace=$HWCAP_EXEC --engine=trace $options --" "follow=@$HWCAP_EXEC --follow $options --")
if unshare -Urm mount -t binfmt_misc none /tmp 2>/dev/null; then
	export HWCAPCTL BENCH_MASK BENCH_COPY=$bench/hwcap-exec-binfmt
	engines+=("binfmt=@$(command -v unshare) -Urm $here/inside")
fi

# interpreter_of FILE: its PT_INTERP
interpreter_of()
{
	"${READELF:-readelf}" -lW "$1" | sed -n 's/.*interpreter: \(.*\)\]$/\1/p'
}

# compare NAME COMMAND [WORD...]: if COMMAND is installed
compare()
{
	local name=$1 path
	shift
	if path=$(command -v "$1"); then
		shift
		engines+=("$name=$path $*")
	else
		echo "bench: $1 is not installed: no comparison" >&2
	fi
}

if [ "$COMPARE" = yes ]; then
	engines+=('then')
	compare env env
	compare setarch setarch "$(uname -m)"
	compare ld.so:true "$(interpreter_of /bin/true)"
	compare proot proot
	compare qemu "qemu-$(uname -m)-static"
fi
while IFS= read -r line; do
	[ -z "$line" ] || engines+=("$line")
done <<<"${BENCH_ENGINES-}"

# shellcheck disable=SC2034 # for who sources this
targets=(minimal="$bench/minimal" musl="$bench/musl-static" glibc="$bench/glibc-static" true=/bin/true)
