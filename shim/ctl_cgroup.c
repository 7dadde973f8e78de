#include "ctl_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "spec.h"

struct request {
	const struct ctl *ctl;
	const struct ctl_command *self;
	const char *pid;
	const char *root;
	bool json, keep, exact, user, repair;
	int argc; /* words that are no options */
	char **argv;
};

/* Entries that this machine's vector has: those the kernel would list. */
static unsigned int own_entries(const struct ctl *ctl)
{
	struct ctl_vector v;
	unsigned int present = 0;

	ctl_own_vector(ctl, &v);
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (v.has[i])
			present |= 1U << i;
	return present;
}

/* Open the cgroup that PATH or the request names. */
static int open_place(const struct request *r, const char *path, struct cgroup_place *p)
{
	struct cgroup_request q = { .path = path, .root = r->root, .pid = path ? NULL : r->pid };
	enum cgroup_version versions[] = { CGROUP_V2, CGROUP_V1_MISC };
	struct diag d;

	for (int i = 0; i < 2; i++) {
		int found = cgroup_find(&d, &q, versions[i], p);

		if (found > 0)
			return CTL_OK;
		if (found < 0)
			return ctl_fail(CTL_FAILED, "%s", d.text);
	}
	return ctl_fail(CTL_FAILED, "no cgroup file system is mounted here, or /proc is not");
}

static bool is_root(const struct cgroup_place *p)
{
	struct stat st;

	return !fstat(p->dir, &st) && st.st_ino == 1;
}

static bool has_kernel_file(const struct cgroup_place *p)
{
	return !faccessat(p->dir, CGROUP_FILE, F_OK, 0);
}

/* ---- get ------------------------------------------------------------------ */

static int read_kernel(const struct cgroup_place *p, struct cgroup_record *r)
{
	char text[CGROUP_RECORD_MAX + 1];
	struct cgroup_fault f;
	ssize_t n;
	int fd = openat(p->dir, CGROUP_FILE, O_RDONLY | O_CLOEXEC);

	memset(r, 0, sizeof(*r));
	if (fd < 0 && errno == ENOENT)
		return CTL_OK;
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return ctl_fail(CTL_FAILED, "unable to read " CGROUP_FILE ": %s", strerror(errno));
	if (cgroup_parse_record(text, (size_t)n, r, &f))
		return ctl_fail(CTL_FAILED, CGROUP_FILE ": line %u, byte %u: %s", f.line, f.column,
				f.why);
	return CTL_OK;
}

/* Everything about one cgroup: its own masks, and what its processes miss. */
static int read_all(const struct request *r, const struct cgroup_place *p,
		    struct cgroup_record *all, struct cgroup_mask *mask)
{
	struct cgroup_request q = { .root = r->root };
	struct cgroup_record record;
	struct diag d;
	int status = read_kernel(p, all);

	if (status)
		return status;
	if (!all->present)
		all->present = own_entries(r->ctl);
	memset(mask, 0, sizeof(*mask));
	if (cgroup_read(&d, &q, p, mask))
		return ctl_fail(CTL_FAILED, "%s", d.text);
	hwcaps_or(&all->effective, &mask->kernel);
	hwcaps_or(&all->effective, &mask->records);
	if (record_read(p->dir, CGROUP_ROOT_RECORD, &record) > 0)
		hwcaps_or(&all->local, &record.local);
	if (record_read(p->dir, CGROUP_USER_RECORD, &record) > 0)
		hwcaps_or(&all->local, &record.local);
	return CTL_OK;
}

static void print_text(const struct cgroup_record *all)
{
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (all->present >> i & 1)
			printf("%s\t0x%014lx\t0x%014lx\n", spec_entry_name(i),
			       (unsigned long)all->local.word[i],
			       (unsigned long)all->effective.word[i]);
}

static void print_json(const struct cgroup_place *p, const struct cgroup_record *all,
		       const struct cgroup_mask *mask)
{
	static const char answers[][6] = { "false", "true" };
	char name[CGROUP_PATH_MAX];
	const char *comma = "";

	fputs("{\"path\":", stdout);
	ctl_json_string(stdout, cgroup_dir_name(p->dir, name, sizeof(name)));
	printf(",\"kernel\":%s,\"root\":%s,\"user\":%s,\"entries\":[\n", answers[mask->has_kernel],
	       answers[mask->has_root], answers[mask->has_user]);
	for (int i = 0; i < HWCAP_ENTRIES; i++) {
		if (!(all->present >> i & 1))
			continue;
		printf("%s{\"entry\":\"%s\",\"local\":\"0x%lx\",\"effective\":\"0x%lx\"}", comma,
		       spec_entry_name(i), (unsigned long)all->local.word[i],
		       (unsigned long)all->effective.word[i]);
		comma = ",\n";
	}
	fputs("\n],\"spec\":\"", stdout);
	ctl_print_spec(stdout, &all->effective);
	puts("\"}");
}

static int get(const struct request *r, const struct cgroup_place *p)
{
	struct cgroup_record all;
	struct cgroup_mask mask;
	int status = read_all(r, p, &all, &mask);

	if (status)
		return status;
	if (r->json)
		print_json(p, &all, &mask);
	else
		print_text(&all);
	return CTL_OK;
}

/* ---- set, clear ----------------------------------------------------------- */

/* One write for each entry: misc.mask takes no more at a time. */
static int write_kernel(const struct cgroup_place *p, const struct hwcaps *local,
			unsigned int present)
{
	int fd = openat(p->dir, CGROUP_FILE, O_WRONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	for (int i = 0; i < HWCAP_ENTRIES && !error; i++) {
		char line[48];
		int n = snprintf(line, sizeof(line), "%s 0x%lx\n", spec_entry_name(i),
				 (unsigned long)local->word[i]);

		if (present >> i & 1 && write(fd, line, (size_t)n) != n)
			error = errno;
	}
	if (fd >= 0)
		close(fd);
	if (error)
		return ctl_fail(CTL_FAILED, "unable to write " CGROUP_FILE ": %s", strerror(error));
	return CTL_OK;
}

/*
 * Anyone who may read the directory may hold this lock, so it is not waited
 * for long: it keeps two writers apart, and each write is whole without it.
 */
static void lock_briefly(int dir)
{
	struct timespec pause = { 0, 10000000 };

	for (int i = 0; i < 100 && flock(dir, LOCK_EX | LOCK_NB); i++)
		nanosleep(&pause, NULL);
}

static int set_user(const struct request *r, const struct cgroup_place *p,
		    const struct hwcaps *local)
{
	struct cgroup_record new = { own_entries(r->ctl), *local, *local };
	struct cgroup_request q = { .root = r->root };
	struct cgroup_mask mask = { 0 };
	struct cgroup_place above;
	struct diag d;

	lock_briefly(p->dir);
	if (!hwcaps_any(local)) {
		if (!fremovexattr(p->dir, CGROUP_USER_RECORD) || errno == ENODATA)
			return CTL_OK;
		return ctl_fail(CTL_FAILED, "unable to remove " CGROUP_USER_RECORD ": %s",
				strerror(errno));
	}
	/* The effective column is for show; readers add up the local ones. */
	if (cgroup_above(p, &above) > 0) {
		if (cgroup_read(&d, &q, &above, &mask))
			mask = (struct cgroup_mask){ 0 };
		close(above.dir);
	}
	hwcaps_or(&new.effective, &mask.records);
	hwcaps_or(&new.effective, &mask.kernel);
	return record_write(p->dir, CGROUP_USER_RECORD, &new, new.present);
}

/* A record is only as good as its directory. */
static void warn_of_owner(const struct cgroup_place *p)
{
	struct cgroup_place above;
	struct stat st;

	if (cgroup_above(p, &above) <= 0)
		return;
	if (!fstat(above.dir, &st) && st.st_uid)
		ctl_fail(0,
			 "note: the directory above belongs to user %u, who can remove this "
			 "one and make it anew; a mask set there binds",
			 (unsigned int)st.st_uid);
	close(above.dir);
}

static int set_root(const struct request *r, const struct cgroup_place *p,
		    const struct hwcaps *local, bool remove)
{
	struct records records = { .present = own_entries(r->ctl) };
	int lock = records_lock(&records), status;

	if (lock < 0)
		return CTL_FAILED;
	status = records_set(&records, lock, p, local, remove);
	records_unlock(lock);
	if (!status && !remove)
		warn_of_owner(p);
	return status;
}

static int store(const struct request *r, const struct cgroup_place *p, const struct hwcaps *local,
		 bool remove)
{
	struct cgroup_record old;
	int status = 0;

	if (r->user)
		return set_user(r, p, local);
	if (has_kernel_file(p)) {
		status = write_kernel(p, local, own_entries(r->ctl));
		/* An old record would go on hiding what is not to be hidden. */
		if (status || !record_read(p->dir, CGROUP_ROOT_RECORD, &old))
			return status;
		return set_root(r, p, &(struct hwcaps){ { 0 } }, true);
	}
	if (geteuid())
		return set_user(r, p, local);
	return set_root(r, p, local, remove);
}

static int parse_spec(const struct request *r, const char *spec, struct hwcaps *local)
{
	struct hwcaps bits = { { 0 } }, none = { { 0 } };
	unsigned int present = own_entries(r->ctl);
	struct diag d = { 0 };

	if (spec_parse(&d, r->keep ? SPEC_KEEP : SPEC_HIDE, r->exact, spec, &bits))
		return ctl_fail(EXIT_FAILED, "%s", d.text);
	spec_mask(r->keep ? &none : &bits, r->keep ? &bits : NULL, r->exact, local);
	/* Of entries that no vector here has nothing can be hidden. */
	for (int i = 0; i < HWCAP_ENTRIES; i++)
		if (!(present >> i & 1))
			local->word[i] = 0;
	return CTL_OK;
}

static int refuse_implicit_root(const struct request *r, const struct cgroup_place *p, int words)
{
	if (!is_root(p) || (r->argc > words && !r->pid))
		return CTL_OK;
	return ctl_fail(CTL_FAILED, "this is the root cgroup, and all others are below it; "
				    "name it (/) if that is meant");
}

static int set(const struct request *r, const struct cgroup_place *p)
{
	struct hwcaps local;
	int status = parse_spec(r, r->argv[0], &local);

	if (!status)
		status = refuse_implicit_root(r, p, 1);
	return status ? status : store(r, p, &local, false);
}

static int clear(const struct request *r, const struct cgroup_place *p)
{
	int status = refuse_implicit_root(r, p, 0);

	return status ? status : store(r, p, &(struct hwcaps){ { 0 } }, true);
}

/* ---- stamp, check --------------------------------------------------------- */

/* With both given, the process must be where it is expected. */
static int check_process(const struct request *r, const struct cgroup_place *p)
{
	struct cgroup_place named;
	struct stat a, b;
	int status;

	if (!r->pid)
		return CTL_OK;
	if (is_root(p))
		return ctl_fail(CTL_FAILED, "process %s is in the root cgroup", r->pid);
	if (!r->argc)
		return CTL_OK;
	status = open_place(r, r->argv[0], &named);
	if (status)
		return status;
	if (fstat(p->dir, &a) || fstat(named.dir, &b) || a.st_ino != b.st_ino ||
	    a.st_dev != b.st_dev)
		status = ctl_fail(CTL_FAILED, "process %s is not in cgroup %s", r->pid, r->argv[0]);
	close(named.dir);
	return status;
}

static int stamp(const struct request *r, const struct cgroup_place *p)
{
	struct records records = { .present = own_entries(r->ctl) };
	struct cgroup_record record;
	struct cgroup_mask mask;
	int status = check_process(r, p), lock;

	if (!status)
		status = refuse_implicit_root(r, p, 0);
	if (status)
		return status;
	lock = records_lock(&records);
	if (lock < 0)
		return CTL_FAILED;
	status = read_all(r, p, &record, &mask);
	if (!status && record_read(p->dir, CGROUP_ROOT_RECORD, &record) < 0)
		status = CTL_FAILED;
	hwcaps_or(&record.effective, &mask.kernel);
	hwcaps_or(&record.effective, &mask.records);
	if (!status)
		status = record_write(p->dir, CGROUP_ROOT_RECORD, &record, records.present);
	records_unlock(lock);
	return status;
}

static int check(const struct request *r, const struct cgroup_place *p)
{
	struct records records = { .present = own_entries(r->ctl),
				   .complain = true,
				   .repair = r->repair };
	int lock = r->repair ? records_lock(&records) : -1, status;

	if (r->repair && lock < 0)
		return CTL_FAILED;
	status = records_check(&records, p);
	if (lock >= 0)
		records_unlock(lock);
	return !status && records.wrong && !r->repair ? CTL_FAILED : status;
}

/* ---- the command ---------------------------------------------------------- */

struct action {
	char name[8];
	int words; /* before PATH */
	bool both; /* PATH and --pid go together */
	int (*run)(const struct request *r, const struct cgroup_place *p);
};

static const struct action actions[] = {
	{ "get", 0, false, get },    { "set", 1, false, set },     { "clear", 0, false, clear },
	{ "stamp", 0, true, stamp }, { "check", 0, false, check },
};

static int run(const struct request *r, const struct action *a)
{
	const char *path = r->argc > a->words ? r->argv[a->words] : NULL;
	struct cgroup_place place;
	int status;

	if (r->argc < a->words)
		return ctl_misuse(r->self, "%s: which SPEC?", a->name);
	if (r->argc > a->words + 1 || (path && r->pid && !a->both))
		return ctl_misuse(r->self, "%s takes one cgroup", a->name);
	if (!path && !r->pid && a->run == check)
		path = "/";
	if (a->both && r->pid)
		path = NULL;
	status = open_place(r, path, &place);
	if (status)
		return status;
	status = a->run(r, &place);
	close(place.dir);
	return status;
}

static bool take_option(struct request *r, int option)
{
	switch (option) {
	case CTL_OPTION_CGROUP_ROOT: r->root = optarg; break;
	case CTL_OPTION_EXACT: r->exact = true; break;
	case CTL_OPTION_PID: r->pid = optarg; break;
	case CTL_OPTION_REPAIR: r->repair = true; break;
	case CTL_OPTION_USER: r->user = true; break;
	case 'j': r->json = true; break;
	case 'k': r->keep = true; break;
	default: return false;
	}
	return true;
}

int ctl_cgroup(const struct ctl *ctl, const struct ctl_command *self, int argc, char **argv)
{
	static const struct option options[] = {
		{ "cgroup-root", required_argument, NULL, CTL_OPTION_CGROUP_ROOT },
		{ "exact", no_argument, NULL, CTL_OPTION_EXACT },
		{ "json", no_argument, NULL, 'j' },
		{ "keep", no_argument, NULL, 'k' },
		{ "pid", required_argument, NULL, CTL_OPTION_PID },
		{ "repair", no_argument, NULL, CTL_OPTION_REPAIR },
		{ "user", no_argument, NULL, CTL_OPTION_USER },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct request r = { .ctl = ctl, .self = self };
	int option;

	while ((option = getopt_long(argc, argv, "jkhV", options, NULL)) != -1)
		if (!take_option(&r, option))
			return ctl_common_option(self, option);
	if (optind == argc)
		return ctl_misuse(self, "cgroup: get, set, clear, stamp or check?");
	if (r.pid && (r.pid[strspn(r.pid, "0123456789")] || !*r.pid || strlen(r.pid) > 9))
		return ctl_misuse(self, "'%.*s' is not a process id", 40, r.pid);
	r.argc = argc - optind - 1;
	r.argv = argv + optind + 1;
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(argv[optind], actions[i].name))
			return run(&r, &actions[i]);
	return ctl_misuse(self, "cgroup: unknown command '%.*s'", 40, argv[optind]);
}
