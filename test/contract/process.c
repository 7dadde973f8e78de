/* process.c - the kernel's record of the process, field by field */
#include "probe.h"

static char text[64 * 1024];

static void out_pid(const struct probe *p, long pid)
{
	if (pid <= 2)
		out_dec(pid);
	else if (pid == p->pid)
		out_text("announced");
	else if (pid == p->ppid)
		out_text("runner");
	else if (pid == SC0(SYS_getpid))
		out_text("self");
	else
		out_text("other");
}

/* The runner's session and group are the same in every run. */
static void out_group(const struct probe *p, long pid)
{
	if (pid == p->pid || pid == SC0(SYS_getpid))
		out_pid(p, pid);
	else
		out_dec(pid);
}

static void line_pid(const struct probe *p, int row, const char *name, long pid)
{
	key(row, name);
	out_pid(p, pid);
	end();
}

static void line_words(int row, const char *name, long rc, const unsigned long *w, int n)
{
	key(row, name);
	out_dec(rc);
	for (int i = 0; i < n; i++) {
		out_char(' ');
		out_hex(w[i]);
	}
	end();
}

static void report_credentials(const struct probe *p)
{
	unsigned long w[8] = { 0 };
	unsigned *u = (unsigned *)w;
	char path[512] = { 0 };
	long n;

	line_pid(p, 1, "pid", SC0(SYS_getpid));
	line_pid(p, 1, "tid", SC0(SYS_gettid));
	line_pid(p, 1, "ppid", SC0(SYS_getppid));
	key(1, "pgid");
	out_group(p, SC0(SYS_getpgid));
	end();
	key(1, "sid");
	out_group(p, SC0(SYS_getsid));
	end();
	SC(SYS_getresuid, u, u + 1, u + 2);
	line_words(1, "uids", 0, w, 2);
	SC(SYS_getresgid, u, u + 1, u + 2);
	line_words(1, "gids", 0, w, 2);
	n = SC(SYS_getcwd, path, sizeof(path), 0);
	line_text(1, "cwd", n < 0 ? "error" : path);
	n = SC4(SYS_readlinkat, -100, "/proc/self/root", path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = 0;
	line_text(1, "root", path);
	n = SC4(SYS_readlinkat, -100, "/proc/self/exe", path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = 0;
	line_text(7, "exe", n < 0 ? "error" : path);
}

static void report_prctl(void)
{
	static const struct {
		char name[24];
		int op;
		int row;
		int by_pointer;
		unsigned long arg;
	} get[] = {
		{ "pdeathsig", 2, 1, 1, 0 },
		{ "dumpable", 3, 1, 0, 0 },
		{ "keepcaps", 7, 1, 0, 0 },
		{ "timing", 13, 11, 0, 0 },
		{ "seccomp", 21, 1, 0, 0 },
		{ "tsc", 25, 11, 1, 0 },
		{ "securebits", 27, 1, 0, 0 },
		{ "timerslack", 30, 1, 0, 0 },
		{ "mce_kill", 34, 1, 0, 0 },
		{ "child_subreaper", 37, 1, 1, 0 },
		{ "no_new_privs", 39, 1, 0, 0 },
		{ "thp_disable", 42, 1, 0, 0 },
		{ "speculation.store", 52, 1, 0, 0 },
		{ "speculation.branch", 52, 1, 0, 1 },
		{ "speculation.l1d", 52, 1, 0, 2 },
		{ "io_flusher", 58, 1, 0, 0 },
		{ "mdwe", 66, 1, 0, 0 },
		{ "memory_merge", 68, 1, 0, 0 },
	};
	char name[16] = { 0 };

	for (unsigned i = 0; i < sizeof(get) / sizeof(get[0]); i++) {
		unsigned value = 0;
		long rc = SC4(SYS_prctl, get[i].op,
			      get[i].by_pointer ? (unsigned long)&value : get[i].arg, 0, 0);

		key(get[i].row, get[i].name);
		out_dec(rc);
		out_char(' ');
		out_hex(value);
		end();
	}
	SC(SYS_prctl, 16, name, 0);
	line_text(7, "comm", name);
}

static void report_thread(const struct probe *p)
{
	static unsigned long area[64] __attribute__((aligned(1024)));
	unsigned long w[4] = { 0 };
	long rc;

	if (p->bare) {
		rc = SC(SYS_prctl, 40, w, 0);
		line_words(11, "tid-address", rc, w, 1);
		rc = SC(SYS_get_robust_list, 0, w, w + 1);
		line_words(11, "robust-list", rc, w, 2);
		rc = SC(PROBE_ARCH_PRCTL, PROBE_GET_FS, w, 0);
		line_words(11, "fs", rc, w, 1);
		rc = SC(PROBE_ARCH_PRCTL, PROBE_GET_GS, w, 0);
		line_words(11, "gs", rc, w, 1);
	}
	rc = SC4(SYS_rseq, area, 32, 0, 0x53053053);
	line_dec(11, "rseq", rc);
	if (!rc)
		line_dec(11, "rseq.off", SC4(SYS_rseq, area, 32, 1, 0x53053053));
	line_dec(11, "cpuid", SC(PROBE_ARCH_PRCTL, PROBE_GET_CPUID, 0, 0));
	w[0] = 0;
	rc = SC(PROBE_ARCH_PRCTL, PROBE_SHSTK_STATUS, w, 0);
	line_words(11, "shadow-stack", rc, w, 1);
	w[0] = 0;
	rc = SC(PROBE_ARCH_PRCTL, PROBE_XCOMP_PERM, w, 0);
	line_words(11, "xcomp-permitted", rc, w, 1);
}

static void report_signals(void)
{
	unsigned long w[8] = { 0 };
	long rc;

	rc = SC4(SYS_rt_sigprocmask, 0, 0, w, 8);
	line_words(3, "sigmask", rc, w, 1);
	rc = SC(SYS_rt_sigpending, w, 8, 0);
	line_words(3, "sigpending", rc, w, 1);
	for (int i = 1; i <= 64; i++) {
		unsigned long a[4] = { 0 };

		rc = SC4(SYS_rt_sigaction, i, 0, a, 8);
		key_n(3, "sigaction", (unsigned long)i);
		out_dec(rc);
		for (int j = 0; j < 4; j++) {
			out_char(' ');
			out_hex(a[j]);
		}
		end();
	}
	rc = SC(SYS_sigaltstack, 0, w, 0);
	line_words(3, "sigaltstack", rc, w, 3);
}

static void report_limits(const struct probe *p)
{
	unsigned long w[16] = { 0 };

	for (int i = 0; i < 16; i++) {
		long rc = SC4(SYS_prlimit64, 0, i, 0, w);

		key_n(1, "limit", (unsigned long)i);
		out_dec(rc);
		out_char(' ');
		out_hex(w[0]);
		out_char(' ');
		out_hex(w[1]);
		end();
	}
	w[0] = 0;
	SC(SYS_sched_getaffinity, 0, 128, w);
	line_words(1, "affinity", 0, w, 2);
	line_dec(1, "nice", SC(SYS_getpriority, 0, 0, 0));
	line_dec(1, "ioprio", SC(SYS_ioprio_get, 1, 0, 0));
	line_dec(1, "scheduler", SC(SYS_sched_getscheduler, 0, 0, 0));
	line_hex(1, "personality", p->personality);
	for (int i = 0; i < 3; i++) {
		long rc = SC(SYS_getitimer, i, w, 0);

		key_n(1, "itimer", (unsigned long)i);
		out_dec(rc);
		out_char(' ');
		out_dec((long)w[0]);
		out_text(w[2] | w[3] ? " armed" : " not armed");
		end();
	}
}

static void report_fd(const char *name, long self)
{
	const char *s = name;
	unsigned long fd = number(&s, 10);
	char link[64] = "/proc/self/fd/", target[512];
	size_t n = length(link);
	long got;

	if (*name == '.' || fd == (unsigned long)self)
		return;
	for (s = name; *s && n < sizeof(link) - 1; s++)
		link[n++] = *s;
	link[n] = 0;
	got = SC4(SYS_readlinkat, -100, link, target, sizeof(target) - 1);
	key_n(2, "fd", fd);
	out_bytes(target, got < 0 ? 0 : (size_t)got);
	out_text(" flags ");
	out_hex((unsigned long)SC(SYS_fcntl, fd, 3, 0));
	out_char(' ');
	out_hex((unsigned long)SC(SYS_fcntl, fd, 1, 0));
	out_text(" at ");
	out_dec(SC(SYS_lseek, fd, 0, 1));
	end();
}

static void report_fds(void)
{
	long self = SC4(SYS_openat, -100, "/proc/self/fd", 0200000, 0);
	long n;

	while ((n = SC(SYS_getdents64, self, text, sizeof(text))) > 0) {
		for (long at = 0; at < n; at += *(unsigned short *)(void *)(text + at + 16))
			report_fd(text + at + 19, self);
	}
	line_dec(2, "fd.next", self);
	SC(SYS_close, self, 0, 0);
}

/* Lines whose value varies between native runs: only that they are there. */
static int varies(const char *s)
{
	static const char name[][24] = {
		"VmRSS:", "RssAnon:",       "RssFile:",          "RssShmem:", "VmHWM:",
		"VmPTE:", "voluntary_ctxt", "nonvoluntary_ctxt", "VmPeak:",   "VmSize:",
	};

	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (starts(s, name[i]))
			return 1;
	return 0;
}

static int is_pid(const char *s)
{
	return starts(s, "Pid:") || starts(s, "Tgid:") || starts(s, "PPid:") ||
	       starts(s, "NSpid:") || starts(s, "NStgid:") || starts(s, "NSpgid:") ||
	       starts(s, "NSsid:");
}

static int status_row(const char *s)
{
	if (starts(s, "Vm") || starts(s, "Rss") || starts(s, "Huge"))
		return 8;
	if (starts(s, "Sig") || starts(s, "Shd"))
		return 3;
	if (starts(s, "Name"))
		return 7;
	return starts(s, "FDSize") ? 2 : starts(s, "x86_Thread") ? 11 : 1;
}

static void out_status_value(const struct probe *p, const char *name, const char *v)
{
	if (varies(name)) {
		out_text("varies");
		return;
	}
	if (starts(name, "SigQ:")) {
		while (*v && *v != '/')
			v++;
	}
	while (*v && *v != '\n') {
		if (is_pid(name) && *v >= '0' && *v <= '9')
			out_pid(p, (long)number(&v, 10));
		else
			out_bytes(v++, 1);
	}
}

static unsigned long kilobytes(const char *name)
{
	const char *s = text;

	while (*s) {
		if (starts(s, name)) {
			s += length(name);
			while (*s == ' ' || *s == '\t')
				s++;
			return number(&s, 10);
		}
		while (*s && *s++ != '\n')
			;
	}
	return 0;
}

static void report_status(const struct probe *p)
{
	const char *s = text;

	if (slurp("/proc/self/status", text, sizeof(text)) < 0)
		text[0] = 0;
	while (*s) {
		const char *name = s;

		out_dec(status_row(s));
		out_text(" status.");
		while (*s && *s != ':' && *s != '\n')
			out_char(*s++);
		out_char(' ');
		if (*s == ':')
			s += s[1] == '\t' ? 2 : 1;
		out_status_value(p, name, s);
		end();
		while (*s && *s++ != '\n')
			;
	}
	/* VmPeak tells what the process once had mapped. */
	line_dec(8, "status.VmPeak-VmSize", (long)(kilobytes("VmPeak:") - kilobytes("VmSize:")));
}

/* Fields of /proc/PID/stat from the third on: proc(5) */
static const char stat_name[][16] = {
	"ppid",        "pgrp",      "session",   "tty",     "tpgid",       "flags",
	"minflt",      "cminflt",   "majflt",    "cmajflt", "utime",       "stime",
	"cutime",      "cstime",    "priority",  "nice",    "threads",     "itrealvalue",
	"starttime",   "vsize",     "rss",       "rsslim",  "startcode",   "endcode",
	"startstack",  "kstkesp",   "kstkeip",   "signal",  "blocked",     "sigignore",
	"sigcatch",    "wchan",     "nswap",     "cnswap",  "exit_signal", "processor",
	"rt_priority", "policy",    "blkio",     "guest",   "cguest",      "start_data",
	"end_data",    "start_brk", "arg_start", "arg_end", "env_start",   "env_end",
	"exit_code",
};

static int stat_varies(const char *n)
{
	return same(n, "minflt") || same(n, "majflt") || same(n, "utime") || same(n, "stime") ||
	       same(n, "starttime") || same(n, "vsize") || same(n, "rss") || same(n, "processor") ||
	       same(n, "cminflt") || same(n, "cmajflt") || same(n, "cutime") || same(n, "cstime") ||
	       same(n, "blkio");
}

static int stat_address(const char *n)
{
	return same(n, "startcode") || same(n, "endcode") || same(n, "startstack") ||
	       same(n, "start_data") || same(n, "end_data") || same(n, "start_brk") ||
	       same(n, "arg_start") || same(n, "arg_end") || same(n, "env_start") ||
	       same(n, "env_end");
}

/* The ends of argv and envp are the starts of what follows them. */
static void out_stat(const struct probe *p, const char *n, unsigned long v)
{
	if (same(n, "ppid"))
		out_pid(p, (long)v);
	else if (same(n, "pgrp") || same(n, "session"))
		out_group(p, (long)v);
	else if (stat_varies(n))
		out_text("varies");
	else if (same(n, "flags"))
		out_hex(v & ~0x100UL);
	else if (!stat_address(n))
		out_hex(v);
	else if (same(n, "start_brk") && !p->fixed && !region_of(p, v))
		out_text("unmapped");
	else if (same(n, "start_brk") && region_of(p, v) && region_of(p, v)->start == v)
		out_text("start of mapping");
	else
		out_address(p, v);
}

static void report_stat(const struct probe *p)
{
	const char *s = text, *close = NULL;

	if (slurp("/proc/self/stat", text, sizeof(text)) < 0)
		text[0] = 0;
	for (; *s; s++)
		if (*s == ')')
			close = s;
	if (!close)
		return;
	s = text;
	while (*s && *s != ' ')
		s++;
	key(7, "stat.comm");
	out_bytes(s + 1, (size_t)(close - s));
	end();
	s = close + 4;
	for (unsigned i = 0; i < sizeof(stat_name) / sizeof(stat_name[0]) && *s; i++) {
		int minus = *s == '-';
		unsigned long v;

		s += minus;
		v = number(&s, 10);
		out_dec(stat_address(stat_name[i]) ? 8 : 7);
		out_text(" stat.");
		out_text(stat_name[i]);
		out_char(' ');
		out_stat(p, stat_name[i], minus ? -v : v);
		end();
		if (same(stat_name[i], "flags"))
			line_dec(7, "stat.superpriv", (v & 0x100) != 0);
		while (*s == ' ')
			s++;
	}
}

static void report_files(void)
{
	static const char name[][32] = {
		"oom_score_adj", "coredump_filter", "loginuid", "sessionid",
		"timerslack_ns", "autogroup",       "cgroup",   "attr/current",
		"uid_map",       "timers",          "cpuset",   "setgroups",
	};
	/* include/uapi/linux/stat.h: struct statx */
	struct {
		unsigned mask, blksize;
		unsigned long attributes;
		unsigned nlink, uid, gid, more[57];
	} st = { 0 };

	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		char path[64] = "/proc/self/";
		long n;

		for (size_t at = 11, j = 0; name[i][j]; j++)
			path[at + j] = name[i][j];
		n = slurp(path, text, sizeof(text));
		key(1, path + 11);
		if (n < 0)
			out_dec(n);
		else if (same(name[i], "autogroup")) /* numbered by session */
			out_text("there");
		else
			out_bytes(text, (size_t)n);
		end();
	}
	/* Who owns /proc/self tells whether the process is dumpable. */
	sc6(SYS_statx, -100, (long)"/proc/self/environ", 0, 0x7ff, (long)&st, 0);
	line_dec(1, "proc-owner", st.uid);
	line_dec(1, "proc-group", st.gid);
}

void report_process(struct probe *p)
{
	report_credentials(p);
	report_prctl();
	report_thread(p);
	report_signals();
	report_limits(p);
	report_fds();
	report_status(p);
	report_stat(p);
	report_files();
}

/* The heap works, and nothing is in its way: grow it, write, shrink it. */
void report_memory_use(struct probe *p)
{
	unsigned long start = (unsigned long)SC(SYS_brk, 0, 0, 0);
	static const unsigned long step[] = { 0x1000, 0x100000, 0x20000000 };

	line_text(9, "brk.zone", probe_zone_of(start));
	key(9, "brk.now");
	if (region_of(p, start - 1) && same(region_of(p, start - 1)->name, "[heap]"))
		out_text("end of heap");
	else if (p->fixed)
		out_hex(start);
	else
		out_text(start & 4095 ? "unaligned" : "aligned");
	end();
	for (unsigned i = 0; i < 3; i++) {
		unsigned long got = (unsigned long)SC(SYS_brk, start + step[i], 0, 0);

		key_n(9, "brk.grow", i);
		out_text(got == start + step[i] ? "works" : "fails");
		end();
		if (got == start + step[i])
			*(volatile char *)(got - 1) = 1;
	}
	SC(SYS_brk, start, 0, 0);
	for (unsigned long at = 0x10000; at <= 0x70000000; at += 0x6fff0000) {
		long got = sc6(SYS_mmap, (long)at, 4096, 3, 0x100022, -1, 0);

		out_text("9 low.");
		out_hex(at);
		out_char(' ');
		out_hex((unsigned long)got);
		end();
	}
}
