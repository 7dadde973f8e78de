# bash completion for hwcapctl(1); hwcap-exec's uses _hwcap_spec as well

# Complete a SPEC: the last item of a comma list, of the architecture that its
# prefix names. readline replaces what follows the last ':' or '=' only, so
# what is offered must not repeat the text before that.
_hwcap_spec()
{
	local spec=$1 keep=$2 item before arch=() words word
	item=${spec##*,}
	case $item in
	*:*)
		arch=(--arch="${item%%:*}")
		item=${item#*:}
		;;
	esac
	case $item in
	*=*+*) before=${item%+*}+ item=${item##*+} ;;
	*=*) before=${item%=*}= item=${item##*=} ;;
	*) before= ;;
	esac
	words=$(hwcapctl list "${arch[@]}" --names 2>/dev/null)
	if [ -z "$before" ]; then
		words+=$'\nall\nnone\nAT_HWCAP=\nAT_HWCAP2=\nAT_HWCAP3=\nAT_HWCAP4='
		[ -z "$keep" ] || words+=$'\n'$(hwcapctl list "${arch[@]}" --baselines 2>/dev/null)
	fi
	before=${spec%"$item"}
	case $COMP_WORDBREAKS in *:*) before=${before##*:} ;; esac
	case $COMP_WORDBREAKS in *=*) before=${before##*=} ;; esac
	COMPREPLY=()
	while IFS= read -r word; do
		case $word in
		"$item"*) COMPREPLY+=("$before$word") ;;
		esac
	done <<<"$words"
	compopt -o nospace 2>/dev/null
}

# The words up to the cursor, not split at ':' and '='. Sets cur and words.
_hwcap_words()
{
	local line=${COMP_LINE:0:COMP_POINT}
	read -ra words <<<"$line"
	case $line in
	*[[:blank:]]) words+=('') ;;
	esac
	cur=${words[${#words[@]} - 1]}
}

_hwcap_choose()
{
	local word
	COMPREPLY=()
	for word in $1; do
		case $word in
		"$2"*) COMPREPLY+=("$word") ;;
		esac
	done
}

_hwcapctl()
{
	local cur words command word keep=''
	_hwcap_words
	command=${words[1]-}
	if [ ${#words[@]} -le 2 ]; then
		_hwcap_choose "$(hwcapctl --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p') --help --version" "$cur"
		return
	fi
	case $cur in
	--arch=*)
		_hwcap_choose 'x86_64 arm64 ppc64 riscv' "${cur#*=}"
		return
		;;
	-*)
		_hwcap_choose "$(hwcapctl "$command" --help 2>/dev/null |
			sed -n 's/^ *\(-., \)*\(--[a-z]*=*\).*/\2/p')" "$cur"
		case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac
		return
		;;
	esac
	case $command in
	cgroup)
		if [ ${#words[@]} -le 3 ]; then
			_hwcap_choose 'get set clear stamp check' "$cur"
		elif [ "${words[2]}" = set ] && [ ${#words[@]} -le 4 ]; then
			_hwcap_spec "$cur" ''
		else
			mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		fi
		;;
	common | check) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	explain)
		for word in "${words[@]}"; do
			case $word in -k | --keep) keep=yes ;; esac
		done
		_hwcap_spec "$cur" "$keep"
		;;
	show)
		_hwcap_choose "$(cd /proc && printf '%s\n' [0-9]*)" "$cur"
		;;
	esac
}

complete -F _hwcapctl hwcapctl
