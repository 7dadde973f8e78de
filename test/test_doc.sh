#!/bin/bash
# the manual pages: well-formed, complete, and true where they quote output
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

for page in "$srcdir"/doc/*.[18]; do
	name=${page##*/}
	is "$name: mandoc has no objection" "$(mandoc -Tlint -Wwarning "$page" 2>&1)" ""
	is "$name: groff has no objection" "$(groff -mandoc -ww -Tutf8 "$page" 2>&1 >/dev/null)" ""
	mandoc -Tascii "$page" | sed $'s/.\b//g' >"$tmp/$name"
done

# documented PROGRAM PAGE [COMMAND]: every option that --help lists is in PAGE
documented()
{
	local option
	for option in $("$1" ${3+"$3"} --help | sed -n 's/^ *\(-., \)*\(--[a-z0-9-]*\).*/\2/p'); do
		ok "$2 documents ${3-} $option" grep -Eq -- "(^|[^a-z-])$option([^a-z-]|\$)" "$tmp/$2"
	done
}

documented "$HWCAP_EXEC" hwcap-exec.1
for command in list show explain cgroup dump common check matrix binfmt; do
	documented "$HWCAPCTL" hwcapctl.1 $command
done

# One order of options: of the table, of --help and of the manual.
table=$(sed -n '/ table\[\] = {/,/^};/p' "$srcdir/shim/options.c" | grep -o '"[a-z0-9-]*"' | tr -d '"')
is "the order of options in --help" "$("$HWCAP_EXEC" --help | sed -n 's/^ *\(-., \)*--\([a-z0-9-]*\).*/\2/p')" "$table"
is "the order of options in hwcap-exec.1" \
	"$(sed -n '/^\.Sh OPTIONS/,/^\.Sh MASKS/s/^\.It Fl \(.* Fl \)*-\([a-z0-9-]*\).*/\2/p' "$srcdir/doc/hwcap-exec.1")" "$table"
like "there are some" "$table" ^mask
for section in NAME SYNOPSIS DESCRIPTION OPTIONS MASKS CGROUPS ENGINES FOLLOW BINFMT ENVIRONMENT "EXIT STATUS" LIMITS \
	EXAMPLES "SEE ALSO"; do
	ok "hwcap-exec.1 has $section" grep -qx "$section" "$tmp/hwcap-exec.1"
done

sed -n '/^\$ hwcapctl explain --arch=x86_64 sse$/,/^\.Ed/{/^[$.]/d;p}' \
	"$srcdir/doc/hwcapctl.1" >"$tmp/quoted"
is "the example of explain is what it prints" "$(cat "$tmp/quoted")" \
	"$("$HWCAPCTL" explain --arch=x86_64 sse)"
while read -r _ baseline; do
	found=
	for arch in x86_64 arm64 ppc64 riscv; do
		"$HWCAPCTL" list --arch=$arch --baselines | grep -qx -- "$baseline" && found=$arch
	done
	like "hwcap-exec.1 names an existing baseline $baseline" "$found" .
done < <(grep -Eo '^\.Ql @[a-z0-9.-]+[a-z0-9]' "$srcdir/doc/hwcap-exec.1")
done_testing
