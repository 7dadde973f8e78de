#!/bin/bash
# output.sh - hwcap-exec where its output cannot be written
# shellcheck source=test/lib.sh
. "$(dirname "$0")/lib.sh"

for what in --help --version "--dry-run /bin/true"; do
	# shellcheck disable=SC2086
	exits "$what into a full disk: status" 125 sh -c 'exec "$@" >/dev/full' sh "$HWCAP_EXEC" $what
	like "$what into a full disk: says why" "$(cat "$tmp/err")" '^hwcap-exec: .*No space left'
	is "$what into a full disk: in one line" "$(wc -l <"$tmp/err")" 1
	# shellcheck disable=SC2086
	exits "$what with standard output closed" 125 sh -c 'exec "$@" >&-' sh "$HWCAP_EXEC" $what
done
is "--dry-run finds what only a later directory of PATH has" \
	"$(PATH=/nonexistent:$PATH "$HWCAP_EXEC" -n true | head -n 1)" "program $(type -P true)"
for target in "/dev/full" "&-"; do
	is "--verbose, standard error >$target: the program runs" \
		"$(eval '"$HWCAP_EXEC" --verbose echo ran 2>'"$target")" ran
done
done_testing
