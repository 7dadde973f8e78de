#!/bin/bash
# contrib/completion: what TAB offers
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

PATH=${HWCAPCTL%/*}:$PATH
# shellcheck source=contrib/completion/hwcap-exec.bash
. "$srcdir/contrib/completion/hwcap-exec.bash"
# shellcheck disable=SC2317 # called by what is tested
compopt() { :; } # there is no completion under way

# offers NAME FUNCTION LINE WANTED: completing LINE gives WANTED, blanks between
offers()
{
	COMP_LINE=$3 COMP_POINT=${#3} COMPREPLY=()
	read -ra COMP_WORDS <<<"$3"
	case $3 in *' ') COMP_WORDS+=('') ;; esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	"$2"
	is "$1" "$(printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort -u | paste -sd ' ')" \
		"$(tr ' ' '\n' <<<"$4" | sort -u | paste -sd ' ')"
}

offers "commands" _hwcapctl "hwcapctl ex" "explain"
offers "options" _hwcapctl "hwcapctl list --b" "--baselines"
offers "architectures" _hwcapctl "hwcapctl list --arch=r" "riscv"
offers "a name of another architecture" _hwcapctl "hwcapctl explain riscv:" \
	"a c d f i m v all none AT_HWCAP= AT_HWCAP2= AT_HWCAP3= AT_HWCAP4="
offers "an alias" _hwcapctl "hwcapctl explain aarch64:sve2p" "sve2p1 sve2p2 sve2p3"
offers "the last item of a list" _hwcapctl "hwcapctl explain sse,arm64:asimd,amd64:fsg" "fsgsbase"
offers "baselines with --keep" _hwcapctl "hwcapctl explain --keep ppc64:@power9" "@power9"
offers "no baselines without" _hwcapctl "hwcapctl explain ppc64:@power9" ""
offers "entries" _hwcapctl "hwcapctl explain AT_HWCAP3" "AT_HWCAP3="
offers "names after +" _hwcapctl "hwcapctl explain x86_64:AT_HWCAP2=fsgsbase+ring" "fsgsbase+ring3mwait"

offers "options of hwcap-exec" _hwcap_exec "hwcap-exec --ar" "--argv0="
offers "--enforce" _hwcap_exec "hwcap-exec --en" "--engine= --enforce"
offers "--mask SPEC" _hwcap_exec "hwcap-exec -m amd64:fsg" "fsgsbase"
offers "--mask=SPEC" _hwcap_exec "hwcap-exec --mask=none,amd64:fsg" "fsgsbase"
offers "--mask=LIST" _hwcap_exec "hwcap-exec --mask=none,al" "none,all"
offers "--keep=SPEC" _hwcap_exec "hwcap-exec --keep=riscv:@rv64gcv" "@rv64gcv"
offers "--engine" _hwcap_exec "hwcap-exec -e l" "loader"
offers "a command" _hwcap_exec "hwcap-exec --mask none mountpoin" "mountpoint"
offers "a command after --" _hwcap_exec "hwcap-exec -- mountpoin" "mountpoint"

# shellcheck disable=SC2317 # likewise
_command_offset() { COMPREPLY=("$1:${COMP_WORDS[$1]}"); }
offers "arguments of the command" _hwcap_exec "hwcap-exec -m none ls -" "3:ls"
offers "arguments after --" _hwcap_exec "hwcap-exec --mask=none -- ls -" "3:ls"
done_testing
