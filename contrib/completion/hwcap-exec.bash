# bash completion for hwcap-exec(1)

if ! declare -F _hwcap_spec >/dev/null; then
	for _hwcap_file in "${BASH_SOURCE[0]%/*}"/hwcapctl{,.bash}; do
		[ -f "$_hwcap_file" ] || continue
		# shellcheck source=contrib/completion/hwcapctl.bash
		. "$_hwcap_file"
		break
	done
	unset _hwcap_file
fi

# Complete the command that starts with WORD; in COMP_WORDS, which is split at
# ':' and '=' as well, it is the INDEXth or a later word.
_hwcap_command()
{
	local i
	if ! declare -F _command_offset >/dev/null; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		return
	fi
	for ((i = $2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" != "$1" ] || break
	done
	_command_offset "$i"
}

_hwcap_exec()
{
	local cur words i last previous
	_hwcap_words
	last=$((${#words[@]} - 1))
	# Options end at the first word that is not one: there the command starts.
	for ((i = 1; i <= last; i++)); do
		case ${words[i]} in
		--)
			i=$((i + 1))
			break
			;;
		-m | -k | -a | -e | --mask | --keep | --argv0 | --engine | --cgroup-root) i=$((i + 1)) ;;
		-*) ;;
		*) break ;;
		esac
	done
	if ((i < last)) || { ((i == last)) && [[ $cur != -* || ${words[i - 1]} == -- ]]; }; then
		_hwcap_command "${words[i]}" "$i"
		return
	fi
	previous=${words[last - 1]}
	case $previous in
	-m | --mask) _hwcap_spec "$cur" ''; return ;;
	-k | --keep) _hwcap_spec "$cur" yes; return ;;
	-e | --engine) _hwcap_choose 'auto loader trace' "$cur"; return ;;
	-a | --argv0) return ;;
	--cgroup-root) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	esac
	case $cur in
	--mask=*) _hwcap_spec "${cur#*=}" '' ;;
	--keep=*) _hwcap_spec "${cur#*=}" yes ;;
	--engine=*) _hwcap_choose 'auto loader trace' "${cur#*=}" ;;
	--argv0=*) ;;
	--cgroup=* | --cgroup-root=*) mapfile -t COMPREPLY < <(compgen -d -- "${cur#*=}") ;;
	-*)
		_hwcap_choose '--mask= --keep= --follow --follow=try --argv0= --engine= --cgroup --no-cgroup --cgroup-root= --exact --no-vdso --enforce --dry-run
			--verbose --help --version' "$cur"
		case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac
		;;
	esac
}

complete -F _hwcap_exec hwcap-exec
