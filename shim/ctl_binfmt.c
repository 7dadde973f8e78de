#include "ctl_binfmt.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "spec.h"

#define COPY_DIR "/var/lib/hwcap-exec"

enum tristate { UNSET, YES, NO };

struct request {
	const struct ctl *ctl;
	const struct ctl_command *self;
	const char *instance, *name, *program, *copy, *format;
	const char *mask, *keep;
	bool exact, run_unmasked, again, replace, print, no_test, json;
	enum tristate credentials, cgroup;
	int argc; /* what follows the name of the action */
	char **argv;
};

/* ---- the copy ----------------------------------------------------------------- */

static int parse_mask(const struct request *r, struct stamp *s)
{
	const char *spec = r->mask ? r->mask : r->keep;
	struct hwcaps bits = { { 0 } };
	struct diag d = { 0 };

	s->hide = bits;
	if (!spec)
		return CTL_OK;
	if (spec_parse(&d, r->mask ? SPEC_HIDE : SPEC_KEEP, r->exact, spec, &bits))
		return ctl_fail(d.status, "%s", d.text);
	spec_mask(r->mask ? &bits : &s->hide, r->mask ? NULL : &bits, r->exact, &s->hide);
	if (r->keep || spec_has_names(spec))
		s->flags |= STAMP_BY_NAME;
	return CTL_OK;
}

static int fill_stamp(const struct request *r, struct stamp *s)
{
	s->flags = STAMP_MASK;
	if (r->cgroup == YES)
		s->flags |= STAMP_CGROUP;
	if (r->cgroup == NO)
		s->flags |= STAMP_NO_CGROUP;
	if (r->run_unmasked)
		s->flags |= STAMP_RUN_UNMASKED;
	if (r->credentials == YES)
		s->flags |= STAMP_CREDENTIALS;
	return parse_mask(r, s);
}

/* hwcap-exec lies where hwcapctl does. */
static int own_program(char *path, size_t size)
{
	static const char name[] = "hwcap-exec";
	ssize_t r = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	path[r > 0 ? r : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + sizeof(name) > size)
		return ctl_fail(CTL_FAILED, "unable to tell where hwcap-exec is; use --program");
	strcpy(slash + 1, name);
	return CTL_OK;
}

static int read_program(const struct request *r, struct binfmt_image *image)
{
	char path[PATH_MAX];

	if (!r->program && own_program(path, sizeof(path)))
		return CTL_FAILED;
	return binfmt_image_read(r->program ? r->program : path, image);
}

static const char *copy_path(const struct request *r, char *buffer, size_t size)
{
	if (r->copy)
		return r->copy;
	snprintf(buffer, size, COPY_DIR "/%s", r->name);
	return buffer;
}

static int check_path(const struct request *r, const char *path)
{
	if (path[0] != '/' || strpbrk(path, ":\n") || strlen(path) >= PATH_MAX - 16)
		return ctl_misuse(r->self, "%.512s: an absolute path without ':' is wanted", path);
	return CTL_OK;
}

static int copy(const struct request *r)
{
	struct binfmt_image image;
	int status;

	if (r->argc != 1)
		return ctl_misuse(r->self, "copy: which FILE?");
	status = read_program(r, &image);
	if (status)
		return status;
	status = fill_stamp(r, image.stamp);
	if (!status)
		status = binfmt_image_write(&image, r->argv[0]);
	binfmt_image_free(&image);
	return status;
}

/* ---- register ------------------------------------------------------------------ */

static int check_owner(const struct request *r, const struct binfmt_instance *b)
{
	switch (binfmt_instance_owner(b)) {
	case BINFMT_OWN: return CTL_OK;
	case BINFMT_FOREIGN:
		return ctl_fail(CTL_FAILED,
				"%.512s belongs to another user namespace, where every program "
				"would be affected; mount one of your own: "
				"mount -t binfmt_misc binfmt_misc %.512s",
				b->path, b->path);
	default: break;
	}
	if (r->credentials != UNSET)
		return CTL_OK;
	return ctl_misuse(r->self,
			  "every program of this system will run under the rule: choose "
			  "--credentials (set-id programs work; hwcap-exec runs with their "
			  "credentials) or --no-credentials (sudo, su and the like do not work)");
}

static int check_entry(const struct request *r, const struct binfmt_instance *b, bool *exists)
{
	struct binfmt_entry entry;
	int found = binfmt_entry_read(b, r->name, &entry);

	*exists = found > 0;
	if (found < 0)
		return CTL_FAILED;
	if (!b->enabled)
		return ctl_fail(CTL_FAILED,
				"rules are disabled: echo 1 >%.512s/status enables them", b->path);
	if (found && !r->replace && !r->again)
		return ctl_fail(CTL_FAILED,
				"rule %s exists; --replace replaces it, --again renews it",
				r->name);
	return CTL_OK;
}

/* What the registered rule has, taken over for the hwcap-exec of today. */
static int take_over(struct request *r, const struct binfmt_instance *b, char *path,
		     struct stamp *stamp)
{
	struct binfmt_image old;
	struct binfmt_entry entry;
	int status;

	if (binfmt_entry_read(b, r->name, &entry) <= 0)
		return ctl_fail(CTL_FAILED, "there is no rule %s in %.512s to renew", r->name,
				b->path);
	status = binfmt_image_read(entry.interpreter, &old);
	if (status)
		return status;
	strcpy(path, entry.interpreter);
	r->copy = path;
	r->credentials = strchr(entry.flags, 'C') ? YES : NO;
	stamp->flags = old.stamp->flags;
	stamp->hide = old.stamp->hide;
	binfmt_image_free(&old);
	return CTL_OK;
}

static int checked_add(const struct binfmt_instance *b, const struct binfmt_rule *rule,
		       const struct hwcaps *hide)
{
	int error = binfmt_add(b, rule);

	if (error)
		return ctl_fail(CTL_FAILED, "unable to register %s in %.512s: %s", rule->name,
				b->path, strerror(error));
	if (!binfmt_check_exec(hide))
		return CTL_OK;
	error = binfmt_remove(b, rule->name);
	return ctl_fail(CTL_FAILED,
			"with rule %s a test program did not run, or was not masked; the rule "
			"was %s",
			rule->name, error ? "NOT removed" : "removed again");
}

/*
 * The newest rule comes first (bm_register_write()), so that with a second one
 * in between no program is started without.
 */
static int exchange(const struct binfmt_instance *b, const struct binfmt_rule *rule,
		    const struct hwcaps *hide)
{
	char name[80];
	struct binfmt_rule second = *rule;
	int status, error;

	snprintf(name, sizeof(name), "%s-next", rule->name);
	second.name = name;
	binfmt_remove(b, name); /* of one that was broken off */
	status = checked_add(b, &second, hide);
	if (status)
		return status;
	error = binfmt_remove(b, rule->name);
	if (error)
		status = ctl_fail(CTL_FAILED, "unable to remove %s from %.512s: %s", rule->name,
				  b->path, strerror(error));
	else
		status = checked_add(b, rule, hide);
	if (!status || error)
		binfmt_remove(b, name);
	return status;
}

/* Test it as NEW; then it takes the place of the copy that may be there. */
static int install(const struct request *r, const struct binfmt_instance *b,
		   const struct binfmt_image *image, const struct binfmt_rule *rule)
{
	char path[PATH_MAX];
	struct binfmt_rule trial = *rule;
	int status;

	snprintf(path, sizeof(path), "%s.try", rule->interpreter);
	trial.interpreter = path;
	if (!r->copy && mkdir(COPY_DIR, 0755) && errno != EEXIST)
		return ctl_fail(CTL_FAILED, "unable to create %s: %s", COPY_DIR, strerror(errno));
	unlink(path);
	status = binfmt_image_create(image, path);
	if (!status && !r->no_test)
		status = binfmt_self_test(b, &trial, &image->stamp->hide);
	if (!status)
		status = binfmt_try_undo(b);
	unlink(path);
	return status ? status : binfmt_image_write(image, rule->interpreter);
}

static int register_image(struct request *r, struct binfmt_image *image,
			  const struct binfmt_instance *b)
{
	char buffer[PATH_MAX];
	struct binfmt_rule rule = { .name = r->name, .head = image->bytes };
	bool exists;
	int status = check_entry(r, b, &exists);

	if (!status)
		status = r->again ? take_over(r, b, buffer, image->stamp) :
				    fill_stamp(r, image->stamp);
	if (!status)
		status = check_owner(r, b);
	if (status)
		return status;
	rule.credentials = r->credentials == YES;
	rule.interpreter = copy_path(r, buffer, sizeof(buffer));
	status = check_path(r, rule.interpreter);
	if (!status)
		status = install(r, b, image, &rule);
	if (!status)
		status = exists ? exchange(b, &rule, &image->stamp->hide) :
				  checked_add(b, &rule, &image->stamp->hide);
	if (status)
		return status;
	binfmt_warn_of_others(b, image->bytes);
	printf("registered; to undo: echo -1 >%s/%s\n", b->path, r->name);
	return CTL_OK;
}

static int print(const struct request *r)
{
	char buffer[PATH_MAX], line[BINFMT_LINE_MAX + 1];
	struct binfmt_image image;
	struct binfmt_rule rule = { .name = r->name, .credentials = r->credentials == YES };
	int status;

	rule.interpreter = copy_path(r, buffer, sizeof(buffer));
	status = check_path(r, rule.interpreter);
	if (!status)
		status = read_program(r, &image);
	if (status)
		return status;
	rule.head = image.bytes;
	if (r->format && !strcmp(r->format, "update-binfmts"))
		binfmt_rule_update_binfmts(&rule);
	else if (r->format && strcmp(r->format, "binfmt.d"))
		status = ctl_misuse(r->self, "--format: binfmt.d or update-binfmts?");
	else if (binfmt_rule_line(&rule, line, sizeof(line)))
		status = ctl_fail(CTL_FAILED, "%.512s: path too long", rule.interpreter);
	else
		puts(line);
	binfmt_image_free(&image);
	return status;
}

static int do_register(struct request *r)
{
	struct binfmt_instance b;
	struct binfmt_image image;
	int status;

	if (r->print)
		return print(r);
	status = binfmt_instance_open(r->instance, &b);
	if (status)
		return status;
	status = read_program(r, &image);
	if (!status) {
		status = register_image(r, &image, &b);
		binfmt_image_free(&image);
	}
	binfmt_instance_close(&b);
	return status;
}

static int do_print(struct request *r)
{
	return print(r);
}

/* ---- unregister, status ---------------------------------------------------------- */

static int unregister(struct request *r)
{
	struct binfmt_instance b;
	struct binfmt_entry entry;
	int status = binfmt_instance_open(r->instance, &b), error = 0;

	if (status)
		return status;
	switch (binfmt_entry_read(&b, r->name, &entry)) {
	case 0:
		status = ctl_fail(CTL_FAILED, "there is no rule %s in %.512s", r->name, b.path);
		break;
	case 1: error = binfmt_remove(&b, r->name); break;
	default: status = CTL_FAILED;
	}
	if (error)
		status = ctl_fail(CTL_FAILED, "unable to remove %s from %.512s: %s", r->name,
				  b.path, strerror(error));
	binfmt_instance_close(&b);
	return status;
}

/* The kernel holds the file that was there when the rule was registered. */
static const char *copy_state(const struct request *r, const struct binfmt_image *old)
{
	struct binfmt_image now;
	bool same;

	if (read_program(r, &now))
		return "unknown";
	same = binfmt_image_same(old, &now);
	binfmt_image_free(&now);
	return same ? "current" : "of another hwcap-exec (register --again renews it)";
}

static void print_stamp(const struct stamp *s, bool json)
{
	const char *cgroup = s->flags & STAMP_CGROUP    ? "required" :
			     s->flags & STAMP_NO_CGROUP ? "left out" :
							  "if any";
	const char *unreadable = s->flags & STAMP_RUN_UNMASKED ? "run" : "deny";

	if (json) {
		fputs(",\"mask\":", stdout);
		ctl_json_words(stdout, &s->hide);
		printf(",\"cgroup\":\"%s\",\"unreadable\":\"%s\"", cgroup, unreadable);
		return;
	}
	fputs("mask         ", stdout);
	ctl_print_spec(stdout, &s->hide);
	printf("\ncgroup       %s\nunreadable   %s\n", cgroup, unreadable);
}

static void print_entry(const struct request *r, const struct binfmt_entry *e)
{
	struct binfmt_image image;
	const char *state = "unknown";
	bool known = !access(e->interpreter, R_OK) && !binfmt_image_read(e->interpreter, &image);

	if (r->json) {
		printf(",\"enabled\":%s,\"flags\":\"%s\",\"interpreter\":",
		       e->enabled ? "true" : "false", e->flags);
		ctl_json_string(stdout, e->interpreter);
	} else {
		printf("flags        %s\ninterpreter  ", e->flags);
		ctl_print_name(stdout, e->interpreter);
		putchar('\n');
	}
	if (known) {
		print_stamp(image.stamp, r->json);
		state = copy_state(r, &image);
		binfmt_image_free(&image);
	}
	printf(r->json ? ",\"copy\":\"%s\"" : "copy         %s\n", state);
}

static int status(struct request *r)
{
	struct binfmt_instance b;
	struct binfmt_entry e;
	int failed = binfmt_instance_open(r->instance, &b), found;

	if (failed)
		return failed;
	found = binfmt_entry_read(&b, r->name, &e);
	if (r->json) {
		fputs("{\"instance\":", stdout);
		ctl_json_string(stdout, b.path);
		printf(",\"rules_enabled\":%s,\"registered\":%s", b.enabled ? "true" : "false",
		       found > 0 ? "true" : "false");
	} else {
		printf("instance     %s (%s)\nrule         %s (%s)\n", b.path,
		       b.enabled ? "enabled" : "all rules disabled", r->name,
		       found <= 0 ? "not registered" :
		       e.enabled  ? "enabled" :
				    "disabled");
	}
	if (found > 0)
		print_entry(r, &e);
	if (r->json)
		puts("}");
	binfmt_instance_close(&b);
	return found > 0 && e.enabled && b.enabled ? CTL_OK : CTL_FAILED;
}

static int vector(struct request *r)
{
	struct ctl_vector v;

	ctl_own_vector(r->ctl, &v);
	return binfmt_check_vector(&v.value, r->argc, r->argv);
}

static int do_copy(struct request *r)
{
	return copy(r);
}

/* ---- the command ------------------------------------------------------------------ */

struct action {
	char name[12];
	bool words;
	int (*run)(struct request *r);
};

static const struct action actions[] = {
	{ "register", false, do_register }, { "unregister", false, unregister },
	{ "status", false, status },        { "print", false, do_print },
	{ "copy", true, do_copy },          { "vector", true, vector },
};

static bool take_choice(struct request *r, int option)
{
	switch (option) {
	case CTL_OPTION_AGAIN: r->again = true; break;
	case CTL_OPTION_CGROUP: r->cgroup = YES; break;
	case CTL_OPTION_NO_CGROUP: r->cgroup = NO; break;
	case CTL_OPTION_CREDENTIALS: r->credentials = YES; break;
	case CTL_OPTION_NO_CREDENTIALS: r->credentials = NO; break;
	case CTL_OPTION_EXACT: r->exact = true; break;
	case CTL_OPTION_NO_TEST: r->no_test = true; break;
	case CTL_OPTION_PRINT: r->print = true; break;
	case CTL_OPTION_REPLACE: r->replace = true; break;
	case 'j': r->json = true; break;
	default: return false;
	}
	return true;
}

static bool take_option(struct request *r, int option)
{
	switch (option) {
	case CTL_OPTION_COPY: r->copy = optarg; break;
	case CTL_OPTION_FORMAT: r->format = optarg; break;
	case CTL_OPTION_INSTANCE: r->instance = optarg; break;
	case CTL_OPTION_NAME: r->name = optarg; break;
	case CTL_OPTION_PROGRAM: r->program = optarg; break;
	case 'm': r->mask = optarg; break;
	case 'k': r->keep = optarg; break;
	default: return take_choice(r, option);
	}
	return true;
}

static int check(struct request *r, const char *unreadable)
{
	if (r->mask && r->keep)
		return ctl_misuse(r->self, "--mask and --keep cannot be combined");
	if (r->again && (r->mask || r->keep || r->cgroup || r->credentials || unreadable))
		return ctl_misuse(r->self, "--again takes over what the rule has; no other choice "
					   "goes with it");
	if (strspn(r->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
		    strlen(r->name) ||
	    !*r->name || strlen(r->name) > 60 || !strcmp(r->name, "register") ||
	    !strcmp(r->name, "status"))
		return ctl_misuse(r->self, "'%.60s' cannot be a rule's name", r->name);
	if (unreadable && strcmp(unreadable, "deny") && strcmp(unreadable, "run"))
		return ctl_misuse(r->self, "--unreadable: deny or run?");
	r->run_unmasked = unreadable && !strcmp(unreadable, "run");
	return CTL_OK;
}

static int run(struct request *r, const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(name, actions[i].name))
			continue;
		if (r->argc && !actions[i].words)
			return ctl_misuse(r->self, "%s takes no argument", name);
		return actions[i].run(r);
	}
	return ctl_misuse(r->self, "binfmt: unknown command '%.*s'", 40, name);
}

int ctl_binfmt(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "again", no_argument, NULL, CTL_OPTION_AGAIN },
		{ "cgroup", no_argument, NULL, CTL_OPTION_CGROUP },
		{ "copy", required_argument, NULL, CTL_OPTION_COPY },
		{ "credentials", no_argument, NULL, CTL_OPTION_CREDENTIALS },
		{ "exact", no_argument, NULL, CTL_OPTION_EXACT },
		{ "format", required_argument, NULL, CTL_OPTION_FORMAT },
		{ "instance", required_argument, NULL, CTL_OPTION_INSTANCE },
		{ "json", no_argument, NULL, 'j' },
		{ "keep", required_argument, NULL, 'k' },
		{ "mask", required_argument, NULL, 'm' },
		{ "name", required_argument, NULL, CTL_OPTION_NAME },
		{ "no-cgroup", no_argument, NULL, CTL_OPTION_NO_CGROUP },
		{ "no-credentials", no_argument, NULL, CTL_OPTION_NO_CREDENTIALS },
		{ "no-test", no_argument, NULL, CTL_OPTION_NO_TEST },
		{ "print", no_argument, NULL, CTL_OPTION_PRINT },
		{ "program", required_argument, NULL, CTL_OPTION_PROGRAM },
		{ "replace", no_argument, NULL, CTL_OPTION_REPLACE },
		{ "unreadable", required_argument, NULL, CTL_OPTION_UNREADABLE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct request r = {
		.ctl = ctl, .self = self, .instance = BINFMT_INSTANCE, .name = "hwcap-exec"
	};
	const char *unreadable = NULL;
	int option, failed;

	while ((option = getopt_long(argc, argv, "jk:m:hV", options, NULL)) != -1) {
		if (option == CTL_OPTION_UNREADABLE)
			unreadable = optarg;
		else if (!take_option(&r, option))
			return ctl_common_option(self, option);
	}
	if (optind == argc)
		return ctl_misuse(self, "binfmt: register, unregister, status, print or copy?");
	failed = check(&r, unreadable);
	if (failed)
		return failed;
	r.argc = argc - optind - 1;
	r.argv = argv + optind + 1;
	return run(&r, argv[optind]);
}
