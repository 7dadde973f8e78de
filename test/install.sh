#!/bin/bash
# install.sh - what make install puts where, and that it works from there
. "$(dirname "$0")/lib.sh"

dest=$tmp/dest
cd "$builddir" || bail_out "no build directory"
ok "make install DESTDIR=..." "${MAKE:-make}" install DESTDIR="$dest" prefix=/usr

tree=$(cd "$dest" && find . -type f | sort)
for file in usr/bin/hwcap-exec usr/bin/hwcapctl usr/share/man/man1/hwcap-exec.1 \
	usr/share/man/man1/hwcapctl.1 usr/share/doc/hwcap-exec/README.md \
	usr/share/bash-completion/completions/hwcap-exec \
	usr/share/bash-completion/completions/hwcapctl; do
	like "installs $file" "$tree" "^\./$file\$"
done
is "programs are 0755" "$(stat -c %a "$dest"/usr/bin/* | sort -u)" 755
is "all else is 0644" "$(find "$dest/usr/share" -type f ! -perm 644)" ""
is "no set-id bit, no capability" "$(find "$dest" -perm /7000; getcap -r "$dest")" ""
for program in hwcap-exec hwcapctl; do
	exits "$program runs from there" 0 "$dest/usr/bin/$program" --version
	is "$program is stripped" "$($READELF -SW "$dest/usr/bin/$program" | grep -c '\.symtab\|\.debug_')" 0
	is "$program is marked" "$(od -An -tx1 -j8 -N1 "$dest/usr/bin/$program")" " e8"
done

while IFS= read -r page; do
	name=$(basename "$page")
	warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
	is "$name renders without a warning" "$warnings" ""
	text=$(MANWIDTH=80 man -l "$page" 2>/dev/null | col -b)
	for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" EXAMPLES; do
		like "$name has $section" "$text" "^$section\$"
	done
done < <(find "$dest" -path '*/man/*' -type f)

# shellcheck disable=SC2016 # for the inner shell
complete_words()
{
	bash --norc -c '
		. /usr/share/bash-completion/bash_completion
		PATH=$1/usr/bin:$PATH
		. "$1/usr/share/bash-completion/completions/$2"
		COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMP_LINE="${*:2}"
		COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
		function=$(complete -p "$2" | sed -n "s/.*-F \([^ ]*\).*/\1/p")
		"$function" "$2" "${@: -1}" "${@: -2:1}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$dest" "$@"
}
like "hwcap-exec --ma<TAB>" "$(complete_words hwcap-exec --ma)" '^--mask'
like "hwcapctl li<TAB>" "$(complete_words hwcapctl li)" '^list'

ok "make uninstall" "${MAKE:-make}" uninstall DESTDIR="$dest" prefix=/usr
is "uninstall leaves nothing" "$(find "$dest" -type f)" ""

done_testing
