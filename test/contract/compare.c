/*
 * compare - two reports of the probe, row by row
 *
 *	compare VARIANT SITUATION NATIVE WRAPPED MASK EXCEPTIONS USED
 *
 * MASK is "AT_HWCAP=0x1,AT_HWCAP2=..." or empty: what must be missing from
 * the vector, and nothing else. EXCEPTIONS lists known differences; the
 * numbers of the lines that were needed are appended to the file USED.
 */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 8192, ROWS = 19, SHOWN = 8 };

struct line {
	char *key; /* "ROW NAME" */
	char *value;
	bool seen;
};

struct report {
	struct line *line;
	size_t count;
};

struct exception {
	char variant[64], situation[128], key[64], value[64];
	int number;
};

struct run {
	const char *variant, *situation;
	struct report native, wrapped;
	unsigned long hidden[64]; /* by type of entry */
	struct exception exception[256];
	size_t exceptions;
	FILE *used;
	int differences[ROWS], excepted[ROWS], lines[ROWS];
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "compare: unable to %s %s\n", what, name);
	exit(2);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		die("open", path);
	if (getdelim(&text, &size, 0, f) < 0)
		text = calloc(1, 1);
	fclose(f);
	return text;
}

static void parse_report(struct report *r, const char *path)
{
	char *s = slurp(path);

	r->line = calloc(MAX_LINES, sizeof(*r->line));
	for (char *l = strtok(s, "\n"); l; l = strtok(NULL, "\n")) {
		char *name = strchr(l, ' ');
		char *value = name ? strchr(name + 1, ' ') : NULL;

		if (!value || r->count == MAX_LINES)
			die("understand", l);
		*value = 0;
		r->line[r->count++] = (struct line){ l, value + 1, false };
	}
}

static void parse_mask(struct run *r, char *mask)
{
	static const struct {
		const char *name;
		int type;
	} entry[] = {
		{ "AT_HWCAP", 16 }, { "AT_HWCAP2", 26 }, { "AT_HWCAP3", 29 }, { "AT_HWCAP4", 30 }
	};

	for (char *s = strtok(mask, ","); s; s = strtok(NULL, ",")) {
		char *value = strchr(s, '=');
		int type = -1;

		if (value)
			*value++ = 0;
		for (size_t i = 0; i < 4; i++)
			if (!strcmp(s, entry[i].name))
				type = entry[i].type;
		if (!value || type < 0)
			die("understand", s);
		r->hidden[type] |= strtoul(value, NULL, 0);
	}
}

static void parse_exceptions(struct run *r, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		die("open", path);
	for (int n = 1; getline(&text, &size, f) > 0; n++) {
		struct exception *e = &r->exception[r->exceptions];

		if (text[0] == '#' || text[0] == '\n')
			continue;
		if (r->exceptions == 256 || sscanf(text, "%63s %127s %63s %63s", e->variant,
						   e->situation, e->key, e->value) != 4)
			die("understand", text);
		e->number = n;
		r->exceptions++;
	}
	free(text);
	fclose(f);
}

/* The native value, less what the mask hides. */
static const char *expected(const struct run *r, const struct line *l, char *buffer, size_t size)
{
	unsigned long type, value;

	if (strstr(l->key, " auxv.") && sscanf(l->value, "AT_%lu 0x%lx", &type, &value) == 2 &&
	    type < 64 && r->hidden[type]) {
		snprintf(buffer, size, "AT_%lu 0x%lx", type, value & ~r->hidden[type]);
		return buffer;
	}
	return l->value;
}

static bool is_excepted(struct run *r, const char *key, const char *value)
{
	const char *name = strchr(key, ' ') + 1;

	for (size_t i = 0; i < r->exceptions; i++) {
		const struct exception *e = &r->exception[i];

		if (fnmatch(e->variant, r->variant, FNM_EXTMATCH) ||
		    fnmatch(e->situation, r->situation, FNM_EXTMATCH) ||
		    fnmatch(e->key, name, FNM_EXTMATCH) || fnmatch(e->value, value, FNM_EXTMATCH))
			continue;
		fprintf(r->used, "%d\n", e->number);
		return true;
	}
	return false;
}

static int row_of(const char *key)
{
	int row = atoi(key);

	return row > 0 && row < ROWS ? row : 0;
}

static void differ(struct run *r, const char *key, const char *native, const char *wrapped)
{
	int row = row_of(key);

	if (is_excepted(r, key, wrapped)) {
		r->excepted[row]++;
		return;
	}
	if (r->differences[row]++ < SHOWN)
		printf("# %s: native: %.300s | wrapped: %.300s\n", key, native, wrapped);
}

static struct line *find(struct report *w, const char *key, size_t *hint)
{
	for (size_t i = 0; i < w->count; i++) {
		struct line *l = &w->line[(*hint + i) % w->count];

		if (!l->seen && !strcmp(l->key, key)) {
			*hint = (*hint + i + 1) % w->count;
			l->seen = true;
			return l;
		}
	}
	return NULL;
}

static void compare(struct run *r)
{
	size_t hint = 0;
	char buffer[80];

	for (size_t i = 0; i < r->native.count; i++) {
		const struct line *n = &r->native.line[i];
		const struct line *w = find(&r->wrapped, n->key, &hint);
		const char *want = expected(r, n, buffer, sizeof(buffer));

		r->lines[row_of(n->key)]++;
		if (!w)
			differ(r, n->key, want, "(missing)");
		else if (strcmp(want, w->value))
			differ(r, n->key, want, w->value);
	}
	for (size_t i = 0; i < r->wrapped.count; i++)
		if (!r->wrapped.line[i].seen)
			differ(r, r->wrapped.line[i].key, "(missing)", r->wrapped.line[i].value);
}

static const char *title(int row)
{
	static const char *const name[ROWS] = {
		[1] = "identity, credentials, limits",
		[2] = "file descriptors",
		[3] = "signals",
		[4] = "argv and envp",
		[5] = "stack and vector",
		[6] = "vector in /proc and prctl",
		[7] = "names in /proc",
		[8] = "memory map",
		[9] = "layout",
		[10] = "registers",
		[11] = "thread state",
	};

	return name[row] ? name[row] : "unknown";
}

int main(int argc, char **argv)
{
	static struct run r;
	int failed = 0;

	if (argc != 8)
		die("run without", "seven arguments");
	r.variant = argv[1];
	r.situation = argv[2];
	parse_report(&r.native, argv[3]);
	parse_report(&r.wrapped, argv[4]);
	parse_mask(&r, argv[5]);
	parse_exceptions(&r, argv[6]);
	r.used = fopen(argv[7], "a");
	if (!r.used)
		die("open", argv[7]);
	if (r.native.count < 100)
		die("believe the short report", argv[3]);
	compare(&r);
	for (int row = 0; row < ROWS; row++) {
		if (!r.lines[row] && !r.differences[row])
			continue;
		printf("%s - row %d: %s (%s, %s)", r.differences[row] ? "not ok" : "ok", row,
		       title(row), r.variant, r.situation);
		if (r.differences[row])
			printf(" # %d lines differ", r.differences[row]);
		if (r.excepted[row])
			printf(" # %d known exceptions", r.excepted[row]);
		putchar('\n');
		failed += r.differences[row] != 0;
	}
	return failed != 0;
}
