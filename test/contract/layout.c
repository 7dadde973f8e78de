/*
 * layout - do two sets of runs place things in the same ranges?
 *
 *	layout VARIANT NATIVE WRAPPED
 *
 * Each file has one line of "NAME ADDRESS ..." per run. For every name the
 * two sets must agree on the range, on the alignment and on which address
 * bits vary, that is on the entropy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 32, MAX_RUNS = 4096 };

struct series {
	char name[24];
	unsigned long value[MAX_RUNS];
};

struct runs {
	struct series series[MAX_NAMES];
	size_t names, count;
};

struct summary {
	unsigned long min, max, varies;
	size_t distinct;
};

static struct series *series_of(struct runs *r, const char *name)
{
	for (size_t i = 0; i < r->names; i++)
		if (!strcmp(r->series[i].name, name))
			return &r->series[i];
	if (r->names == MAX_NAMES)
		exit(2);
	snprintf(r->series[r->names].name, sizeof(r->series[0].name), "%s", name);
	return &r->series[r->names++];
}

/* Distances between two things tell whether their randomness is shared. */
static void derive(struct runs *r, const char *a, const char *b)
{
	char name[24];
	struct series *x = series_of(r, a), *y = series_of(r, b), *d;

	if (!x->value[0] || !y->value[0])
		return;
	snprintf(name, sizeof(name), "%s-%s", a, b);
	d = series_of(r, name);
	for (size_t i = 0; i < r->count; i++)
		d->value[i] = x->value[i] > y->value[i] ? x->value[i] - y->value[i] :
							  y->value[i] - x->value[i];
}

static void read_runs(struct runs *r, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f) {
		fprintf(stderr, "layout: unable to open %s\n", path);
		exit(2);
	}
	while (getline(&text, &size, f) > 0 && r->count < MAX_RUNS) {
		char *name = strtok(text, " \n"), *value;

		for (; name && (value = strtok(NULL, " \n")); name = strtok(NULL, " \n"))
			series_of(r, name)->value[r->count] = strtoul(value, NULL, 16);
		r->count++;
	}
	free(text);
	fclose(f);
	derive(r, "exe", "vdso");
	derive(r, "exe", "mmap");
	derive(r, "interp", "vdso");
	derive(r, "mmap", "vdso");
	/* Above the stack (Linux 6.1 on x86) it is where the kernel put it. */
	if (series_of(r, "vdso")->value[0] < series_of(r, "stack")->value[0])
		derive(r, "stack", "vdso");
	derive(r, "exe", "brk");
}

static int by_value(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return (x > y) - (x < y);
}

/* Sorts the values of S. */
static struct summary summarise(struct series *s, size_t count)
{
	unsigned long *v = s->value;
	struct summary r = { .distinct = 1 };

	qsort(v, count, sizeof(v[0]), by_value);
	r.min = v[0];
	r.max = v[count - 1];
	for (size_t i = 1; i < count; i++) {
		r.varies |= v[i] ^ v[0];
		r.distinct += v[i] != v[i - 1];
	}
	return r;
}

/* How many of the sorted values of S lie below MIN, and above MAX? */
static size_t outside(const struct series *s, size_t count, unsigned long min, unsigned long max)
{
	size_t below = 0, above = 0;

	while (below < count && s->value[below] < min)
		below++;
	while (above < count && s->value[count - 1 - above] > max)
		above++;
	return below > above ? below : above;
}

/*
 * 1 if the runs of A and B cannot have been drawn from one range. Where both
 * were, whatever its shape (a distance between two random places is seldom near
 * its ends), the outermost FAR values are of the same set in one of 2^FAR tests.
 */
static int range_differs(const struct series *a, const struct summary *of_a, const struct series *b,
			 const struct summary *of_b, size_t count)
{
	enum { FAR = 32 };

	return outside(a, count, of_b->min, of_b->max) >= FAR ||
	       outside(b, count, of_a->min, of_a->max) >= FAR;
}

/* Bits above the alignment and well inside the span vary in any 200 runs. */
static int entropy_differs(const struct summary *a, const struct summary *b)
{
	unsigned long span = a->max - a->min;
	unsigned long inside = 1;

	if (!a->varies != !b->varies)
		return 1;
	if (a->varies && __builtin_ctzl(a->varies) != __builtin_ctzl(b->varies))
		return 1;
	while (inside <= span / 8)
		inside *= 2;
	if ((a->varies ^ b->varies) & (inside - 1))
		return 1;
	return a->distinct * 10 < b->distinct * 7 || b->distinct * 10 < a->distinct * 7;
}

int main(int argc, char **argv)
{
	static struct runs native, wrapped;
	int failed = 0;

	if (argc != 4)
		return 2;
	read_runs(&native, argv[2]);
	read_runs(&wrapped, argv[3]);
	if (native.count < 50 || wrapped.count != native.count || native.names != wrapped.names) {
		printf("not ok - row 9: runs of the layout test (%s) # %zu and %zu\n", argv[1],
		       native.count, wrapped.count);
		return 1;
	}
	for (size_t i = 0; i < native.names; i++) {
		struct series *n = &native.series[i], *w = series_of(&wrapped, n->name);
		struct summary a = summarise(n, native.count), b = summarise(w, native.count);
		int range = range_differs(n, &a, w, &b, native.count);
		int entropy = entropy_differs(&a, &b);

		if (range || entropy)
			printf("# native %lx-%lx varies %lx, wrapped %lx-%lx varies %lx\n", a.min,
			       a.max, a.varies, b.min, b.max, b.varies);
		printf("%s - row 9: %s in %zu runs, %d bits vary (%s, layout)%s%s\n",
		       range || entropy ? "not ok" : "ok", n->name, native.count + wrapped.count,
		       __builtin_popcountl(a.varies), argv[1], range ? " # range" : "",
		       entropy ? " # entropy" : "");
		failed |= range || entropy;
	}
	return failed;
}
