# shellcheck shell=sh disable=SC2034 # for who reads this file
# say.sh - in a guest: what its tests share; read by them
#
# MASK is one bit of one entry, as for rows.sh. $native is what "tool show"
# prints, AT_HWCAP and AT_HWCAP2 twice, and $masked what it is to print.
set -u
: "${MASK:?}"
work=$(mktemp -d)
chmod 777 "$work"
passed=0 failed=0
tool=/bin/tool dynamic=/bin/tool-dynamic

is() # WHAT GOT WANTED
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "not ok - $1"
	echo "#   got:    $2"
	echo "#   wanted: $3"
}

has() # WHAT GOT PART
{
	case $2 in
	*"$3"*) is "$1" "" "" ;;
	*) is "$1" "$2" "... $3 ..." ;;
	esac
}

native=$($tool show)
bit=${MASK#*=}
set -- $native
case $MASK in
AT_HWCAP2=*) second=$(printf '%#x' $(($2 & ~bit))) first=$1 ;;
*) first=$(printf '%#x' $(($1 & ~bit))) second=$2 ;;
esac
masked="$first $second $first $second"

# sum NAME: the last line, and the status
sum()
{
	rm -rf "$work"
	echo "$1 $passed $failed"
	[ $failed = 0 ]
}
