# gen-hwcap.awk - tables of one architecture -> one C header on stdout
#
# awk -v arch=ARCH [-v own=1] -f gen-hwcap.awk hwcap.tsv [baselines.tsv] [unadvertised.tsv]
#
# The first line of a file says what it holds:
#   entry bit macro name implies source       features; implies: names, by comma
#   baseline features source                  what --keep @NAME keeps; a feature
#                                             written @NAME is an earlier baseline
#   unadvertised tunable found_by source      CPU features no entry tells of
# Lines that start with '#' are comments; '-' stands for an empty field. A
# feature that implies '*' is hidden together with any bit at all.
#
# POSIX awk has no 64-bit integers: words are built nibble by nibble. The
# output needs no relocation: names are char arrays, links are numbers.

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
	failed = 1
	exit 1
}

function give_up(text) {
	printf "%s: %s\n", arch, text > "/dev/stderr"
	failed = 1
	exit 1
}

function entry_index(name) {
	if (name == "AT_HWCAP")
		return 0
	if (name ~ /^AT_HWCAP[234]$/)
		return substr(name, 9) - 1
	fail("unknown entry '" name "'")
}

function check_name(name, longest) {
	if (name !~ /^[a-z0-9_.+-]+$/ || length(name) > longest)
		fail("bad name '" name "'")
	if (name == "all" || name == "none")
		fail("'" name "' is a word of the grammar")
}

function add_feature(  e) {
	if (NF != 6)
		fail("6 fields wanted")
	e = entry_index($1)
	if ($2 !~ /^[0-9]+$/ || $2 > 63)
		fail("bad bit '" $2 "'")
	check_name($4, 17)
	if ($4 in feature)
		fail("'" $4 "' is there twice")
	if ((e, $2 + 0) in used)
		fail("bit " $2 " of " $1 " is there twice")
	if ($3 in macros)
		fail("'" $3 "' is there twice")
	if ($5 == "" || $6 == "" || $6 == "-")
		fail("implies and source are not optional")
	used[e, $2 + 0] = macros[$3] = 1
	feature[$4] = count
	name[count] = $4
	entry[count] = e
	bit[count] = $2 + 0
	implies[count++] = $5
}

# Bits are kept as keys "entry,bit" of the global array `set`.
function clear(  k) {
	for (k in set)
		delete set[k]
}

# Add to `set` what is reachable from feature i along implies, itself
# included. `queue` is a worklist: no recursion.
function reach(i,  head, tail, n, k, j) {
	queue[0] = i
	tail = 1
	for (k in seen)
		delete seen[k]
	seen[i] = 1
	for (head = 0; head < tail; head++) {
		i = queue[head]
		set[entry[i], bit[i]] = 1
		n = split(needs[i], next_, " ")
		for (k = 1; k <= n; k++) {
			j = next_[k]
			if (!(j in seen)) {
				seen[j] = 1
				queue[tail++] = j
			}
		}
	}
}

function words(  e, n, b, v, text) {
	text = "{ { "
	for (e = 0; e < 4; e++) {
		text = text (e ? ", 0x" : "0x")
		for (n = 15; n >= 0; n--) {
			v = 0
			for (b = 3; b >= 0; b--)
				v = v * 2 + ((e, n * 4 + b) in set)
			text = text substr("0123456789abcdef", v + 1, 1)
		}
	}
	return text " } }"
}

function link_features(  i, n, k, j) {
	for (i = 0; i < count; i++) {
		if (implies[i] == "*") {
			also[i] = 1
			continue
		}
		n = implies[i] == "-" ? 0 : split(implies[i], list, ",")
		for (k = 1; k <= n; k++) {
			if (!(list[k] in feature))
				give_up("'" name[i] "' implies '" list[k] "', which is unknown")
			j = feature[list[k]]
			if (j == i)
				give_up("'" name[i] "' implies itself")
			needs[i] = needs[i] " " j
		}
	}
}

function add_baseline(  n, k) {
	if (NF != 3 || $3 == "" || $3 == "-")
		fail("3 fields wanted, the source among them")
	check_name($1, 23)
	if ($1 in baseline)
		fail("baseline '" $1 "' is there twice")
	n = split($2, list, ",")
	baseline[$1] = ""
	for (k = 1; k <= n; k++) {
		if (substr(list[k], 1, 1) != "@") {
			if (!(list[k] in feature))
				fail("unknown feature '" list[k] "'")
			baseline[$1] = baseline[$1] " " feature[list[k]]
		} else if (substr(list[k], 2) in baseline && substr(list[k], 2) != $1) {
			baseline[$1] = baseline[$1] " " baseline[substr(list[k], 2)]
		} else {
			fail("unknown baseline '" list[k] "'")
		}
	}
	baselines[baseline_count++] = $1
}

function add_unadvertised() {
	if (NF != 4 || $4 == "" || $4 == "-")
		fail("4 fields wanted, the source among them")
	check_name($1, 23)
	if ($1 in feature || $1 in unadvertised)
		fail("'" $1 "' is there twice")
	if (found_by != "" && found_by != $3)
		fail("one architecture, one way to find features")
	unadvertised[$1] = 1
	found_by = $3
	blob = blob "\n\t\"" $1 "\\0\" \"" ($2 == "-" ? "" : $2) "\\0\""
}

BEGIN {
	FS = "\t"
	count = baseline_count = 0
}

FNR == 1 {
	kind = $1
	if (kind != "entry" && kind != "baseline" && kind != "unadvertised")
		fail("unknown kind of table '" kind "'")
	if (kind != "entry" && !count)
		fail("the features come first")
	if (kind != "entry" && !linked++)
		link_features()
	next
}

/^#/ || /^$/ { next }
kind == "entry" && linked { fail("the features come first") }
kind == "entry" { add_feature(); next }
kind == "baseline" { add_baseline(); next }
{ add_unadvertised() }

END {
	if (failed)
		exit 1
	if (arch !~ /^[a-z0-9_]+$/ || length(arch) > 7 || !count)
		give_up("-v arch=ARCH and a table of features are needed")
	if (count > 255)
		give_up("more features than a link can number")
	if (!linked)
		link_features()

	guard = "HWCAP_TABLE_" toupper(arch) "_H"
	printf "/* Generated by arch/gen-hwcap.awk from the tables in arch/%s. */\n", arch
	printf "#ifndef %s\n#define %s\n\n#include \"hwtable.h\"\n\n", guard, guard

	printf "static const struct hwcap_feature %s_features[] = {\n", arch
	for (i = 0; i < count; i++)
		printf "\t{ \"%s\", %d, %d },\n", name[i], entry[i], bit[i]
	printf "};\n\nstatic const struct hwcap_link %s_links[] = {\n", arch
	links = 0
	for (i = 0; i < count; i++) {
		n = split(needs[i], list, " ")
		links += n
		for (k = 1; k <= n; k++)
			printf "\t{ %d, %d }, /* %s, %s */\n", i, list[k], name[i], name[list[k]]
	}
	printf "\t{ 0, 0 },\n"
	printf "};\n\nstatic const struct hwcap_baseline %s_baselines[] = {\n", arch
	for (i = 0; i < baseline_count; i++) {
		clear()
		n = split(baseline[baselines[i]], list, " ")
		for (k = 1; k <= n; k++)
			reach(list[k])
		printf "\t{ \"%s\", %s },\n", baselines[i], words()
	}
	printf "\t{ \"\", { { 0, 0, 0, 0 } } },\n};\n\n"

	printf "/* NAME NUL TUNABLE NUL ..., ended by an empty name */\n"
	printf "static const char %s_unadvertised[] =%s\n\t\"\";\n\n", arch, blob
	printf "static inline void hwcap_table_%s(struct hwcap_table *t)\n{\n", arch
	printf "\tt->arch = \"%s\";\n", arch
	printf "\tt->features = %s_features;\n\tt->count = %d;\n", arch, count
	printf "\tt->links = %s_links;\n\tt->link_count = %d;\n", arch, links
	printf "\tt->baselines = %s_baselines;\n\tt->baseline_count = %d;\n", arch, baseline_count
	printf "\tt->unadvertised = %s_unadvertised;\n", arch
	printf "\tt->found_by = \"%s\";\n", found_by
	clear()
	for (i in also)
		set[entry[i], bit[i]] = 1
	printf "\tt->also = (struct hwcaps)%s;\n}\n", words()
	if (own)
		printf "\n#define hwcap_table_own hwcap_table_%s\n", arch
	printf "\n#endif\n"
}
