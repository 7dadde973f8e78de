#include "ctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

static const struct ctl_command commands[] = {
	{ "list", "list the features of an architecture",
	  "[--arch=ARCH] [--json | --names | --baselines]",
	  "      --arch=ARCH     of x86_64, arm64, ppc64 or riscv (default: of this machine)\n"
	  "  -j, --json          print JSON\n"
	  "      --names         print names alone, one a line\n"
	  "      --baselines     print the names of the baselines, one a line\n",
	  ctl_list },
	{ "show", "show the vector of a process (default: of hwcapctl itself)", "[--json] [PID]",
	  "  -j, --json          print JSON\n", ctl_show },
	{ "explain", "show what a SPEC hides or keeps, and why",
	  "[--keep] [--exact] [--arch=ARCH] [--json] SPEC",
	  "  -k, --keep          SPEC is for --keep (default: for --mask)\n"
	  "      --exact         no closure over implied features\n"
	  "      --arch=ARCH     as it would be on x86_64, arm64, ppc64 or riscv\n"
	  "  -j, --json          print JSON\n",
	  ctl_explain },
	{ "cgroup", "show, store and check the masks of cgroups",
	  "get|set|clear|stamp|check [OPTION]... [SPEC] [PATH | --pid=PID]",
	  "      --pid=PID       the cgroup of process PID (default: of hwcapctl itself)\n"
	  "  -j, --json          get: print JSON\n"
	  "  -k, --keep          set: SPEC names what is not to be hidden\n"
	  "      --exact         set: no closure over implied features\n"
	  "      --user          set, clear: the record of the directory's owner\n"
	  "      --repair        check: make the records agree\n"
	  "      --cgroup-root=DIR\n"
	  "                      the hierarchy, if it is not where it is mounted\n",
	  ctl_cgroup },
	{ "dump", "write down what this machine advertises", "[--force]",
	  "      --force         even if the vector seems to be masked\n", ctl_dump },
	{ "common", "find what several machines have in common",
	  "[--dump | --keep | --json] FILE...",
	  "  -d, --dump          print the common features as a dump\n"
	  "  -k, --keep          print one SPEC for --keep (default: one for --mask each)\n"
	  "  -j, --json          print JSON\n",
	  ctl_common },
	{ "check", "does this machine have all that a dump has?", "FILE", "", ctl_check },
	{ "matrix", "print a SPEC for each feature of this machine", "[--json]",
	  "  -j, --json          print a JSON array\n", ctl_matrix },
	{ "binfmt", "have every program of an instance of binfmt_misc masked",
	  "register|unregister|status|print|copy [OPTION]... [FILE]",
	  "  -m, --mask=SPEC     register, print, copy: hide these\n"
	  "  -k, --keep=SPEC     hide everything but these\n"
	  "      --exact         no closure over implied features\n"
	  "      --cgroup        insist on the mask of each program's cgroup (default: it\n"
	  "                      is added if there is one)\n"
	  "      --no-cgroup     leave it out\n"
	  "      --unreadable=deny|run\n"
	  "                      what a program does whose cgroup's mask cannot be read\n"
	  "      --credentials   set-id programs work; hwcap-exec runs with their rights\n"
	  "      --no-credentials\n"
	  "                      set-id programs are refused\n"
	  "      --replace       register: in place of the rule that is there\n"
	  "      --again         register: the same with the hwcap-exec of today\n"
	  "      --print         register: as the command print\n"
	  "      --no-test       register: not tested in a namespace before\n"
	  "      --instance=DIR  (default: /proc/sys/fs/binfmt_misc)\n"
	  "      --name=NAME     of the rule (default: hwcap-exec)\n"
	  "      --program=FILE  hwcap-exec (default: beside hwcapctl)\n"
	  "      --copy=FILE     its copy that carries the mask (default:\n"
	  "                      /var/lib/hwcap-exec/NAME)\n"
	  "      --format=binfmt.d|update-binfmts\n"
	  "                      print: for which program\n"
	  "  -j, --json          status: print JSON\n",
	  ctl_binfmt },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

__attribute__((format(printf, 1, 0))) static void print_error(const char *format, va_list ap)
{
	struct text t;
	char line[1024];

	text_init(&t, line, sizeof(line));
	text_vadd(&t, format, ap);
	fprintf(stderr, "hwcapctl: %s\n", line);
}

int ctl_fail(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_error(format, ap);
	va_end(ap);
	return status;
}

int ctl_misuse(const struct ctl_command *self, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_error(format, ap);
	va_end(ap);
	fprintf(stderr, "Try 'hwcapctl %s --help'.\n", self->name);
	return EXIT_FAILED;
}

static int print_version(void)
{
	puts("hwcapctl (hwcap-exec) " HWCAP_EXEC_VERSION);
	return CTL_OK;
}

int ctl_common_option(const struct ctl_command *self, int option)
{
	if (option == 'V')
		return print_version();
	if (option == 'h') {
		printf("Usage: hwcapctl %s %s\n%c%s.\n\n%s"
		       "  -h, --help          print this help\n"
		       "  -V, --version       print the version\n",
		       self->name, self->arguments, self->summary[0] - 'a' + 'A', self->summary + 1,
		       self->options);
		return CTL_OK;
	}
	/* getopt_long() has said what is wrong. */
	fprintf(stderr, "Try 'hwcapctl %s --help'.\n", self->name);
	return EXIT_FAILED;
}

static int print_help(void)
{
	puts("Usage: hwcapctl COMMAND [OPTION]... [ARG]...\n"
	     "Show and compute masks of hardware capabilities.\n\nCommands:");
	for (int i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	puts("\nOptions:\n"
	     "  -h, --help     print this help (after a COMMAND: its help)\n"
	     "  -V, --version  print the version");
	return CTL_OK;
}

static int run(const struct ctl *ctl, int argc, char **argv)
{
	char name[32];

	if (argc < 2)
		return ctl_fail(EXIT_FAILED, "no command given (see hwcapctl --help)");
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return print_help();
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))
		return print_version();
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		/* getopt_long() begins its messages with argv[0]. */
		snprintf(name, sizeof(name), "hwcapctl %s", commands[i].name);
		argv[1] = name;
		return commands[i].run(ctl, &commands[i], argc - 1, argv + 1);
	}
	return ctl_fail(EXIT_FAILED, "unknown %s '%.*s' (see hwcapctl --help)",
			argv[1][0] == '-' ? "option" : "command", 40, argv[1]);
}

int main(int argc, char **argv, char **envp)
{
	struct ctl ctl;
	int status;

	/* The vector follows the environment on the initial stack. */
	while (*envp)
		envp++;
	ctl.auxv = (const unsigned long *)(const void *)(envp + 1);

	status = run(&ctl, argc, argv);
	if ((fflush(stdout) || ferror(stdout)) && !status)
		status = ctl_fail(CTL_FAILED, "unable to write the result: %s", strerror(errno));
	return status;
}
