/* SPEC, for --mask and --keep, with closure and without. */
#include "fuzz.h"
#include "spec.h"

static int parse(enum spec_mode mode, bool exact, const char *spec, struct hwcaps *bits)
{
	struct diag d = { 0 };
	int r;

	memset(bits, 0, sizeof(*bits));
	r = spec_parse(&d, mode, exact, spec, bits);
	HOLDS(r == 0 || (r == -1 && d.status == 125 && *d.text));
	HOLDS(strlen(d.text) < sizeof(d.text) && !strchr(d.text, '\n'));
	return r;
}

static bool contains(const struct hwcaps *all, const struct hwcaps *some)
{
	for (int i = 0; i < 4; i++)
		if (some->word[i] & ~all->word[i])
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec = fuzz_copy(data, size, 1);
	struct hwcaps exact, closed, kept, mask;
	int r = parse(SPEC_HIDE, true, spec, &exact);

	HOLDS(parse(SPEC_HIDE, false, spec, &closed) == r);
	/* Baselines are for --keep only. */
	HOLDS(parse(SPEC_KEEP, false, spec, &kept) == 0 || r);
	if (!r) {
		/* Closing over others only adds; what is kept is not hidden. */
		HOLDS(contains(&closed, &exact) && contains(&kept, &exact));
		spec_mask(&exact, NULL, true, &mask);
		HOLDS(!memcmp(&mask, &exact, sizeof(mask)));
		spec_mask(&closed, NULL, false, &mask);
		HOLDS(contains(&mask, &closed));
	}
	free(spec);
	return 0;
}
