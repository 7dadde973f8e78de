/*
 * gen-filter.c - the seccomp filters of --follow, as numbers
 *
 *	gen-filter ARCH ENDIAN [RULES]
 *
 * Runs on the build machine and prints a C header: one array with all filters
 * for ARCH, and where each begins. libseccomp knows the system calls of every
 * ABI; RULES (arch/ARCH/filter.rules) adds what it does not.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CODE = 1024, MAX_RULES = 32, MAX_ABIS = 3 };

struct arch {
	const char *name, *endian;
	uint32_t abi[MAX_ABIS]; /* its own, then those a process can switch to */
};

/* One line of RULES. */
struct rule {
	char group[32];
	int entry, bit; /* condition: hidden by the mask; -1: always */
	unsigned int arch, number, action;
	long argument; /* value of the first one, -1: any */
};

static const struct arch arches[] = {
	{ "x86_64", "little", { SCMP_ARCH_X86_64, SCMP_ARCH_X32, SCMP_ARCH_X86 } },
	{ "arm64", "little", { SCMP_ARCH_AARCH64, SCMP_ARCH_ARM } },
	{ "ppc64", "little", { SCMP_ARCH_PPC64LE } },
	{ "ppc64", "big", { SCMP_ARCH_PPC64, SCMP_ARCH_PPC } },
	{ "riscv", "little", { SCMP_ARCH_RISCV64 } },
};

static const char *const exec_calls[] = { "execve", "execveat", NULL };
/* What changes ids, by which a process leaves an unprivileged tracer's reach. */
static const char *const setid_calls[] = {
	"setuid",      "setgid",      "setreuid",   "setregid",   "setresuid",  "setresgid",
	"setfsuid",    "setfsgid",    "setuid32",   "setgid32",   "setreuid32", "setregid32",
	"setresuid32", "setresgid32", "setfsuid32", "setfsgid32", NULL,
};

static unsigned int total;

__attribute__((noreturn)) static void fail(const char *what, int error)
{
	fprintf(stderr, "gen-filter: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

static void print_code(const struct sock_filter *code, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		printf("\t{ 0x%02x, %u, %u, %#x },\n", code[i].code, code[i].jt, code[i].jf,
		       code[i].k);
	total += count;
}

static void add_calls(scmp_filter_ctx filter, const char *const *calls)
{
	for (; *calls; calls++) {
		int number = seccomp_syscall_resolve_name(*calls), error;

		if (number == __NR_SCMP_ERROR)
			fail(*calls, ENOSYS);
		/* Not on every ABI: then libseccomp leaves it out there. */
		error = seccomp_rule_add(filter, SCMP_ACT_NOTIFY, number, 0);
		if (error && error != -EDOM)
			fail(*calls, error);
	}
}

/* libseccomp writes the bytes of the target; what is printed are numbers. */
static void swap_bytes(struct sock_filter *code, size_t count)
{
	for (; count; count--, code++) {
		code->code = (uint16_t)(code->code << 8 | code->code >> 8);
		code->k = __builtin_bswap32(code->k);
	}
}

static unsigned int export(scmp_filter_ctx filter, const struct arch *a, struct sock_filter *code)
{
	FILE *f = tmpfile();
	size_t count;
	int error;

	if (!f)
		fail("tmpfile", errno);
	error = seccomp_export_bpf(filter, fileno(f));
	if (error)
		fail("seccomp_export_bpf", error);
	rewind(f);
	count = fread(code, sizeof(*code), MAX_CODE, f);
	if (count == 0 || count == MAX_CODE)
		fail("filter size", E2BIG);
	fclose(f);
	if (!strcmp(a->endian, "big"))
		swap_bytes(code, count);
	return (unsigned int)count;
}

/* The part libseccomp makes: notify of CALLS, on all ABIs of A. */
static void print_notify(const struct arch *a, int with_setid)
{
	static struct sock_filter code[MAX_CODE];
	scmp_filter_ctx filter;
	int error;

	seccomp_api_set(6);
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		fail("seccomp_init", ENOMEM);
	/* An ABI nobody has heard of can neither be let through nor served. */
	error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	/* Endianness has to agree: the build machine's ABI goes first. */
	if (!error && seccomp_arch_native() != a->abi[0])
		error = seccomp_arch_remove(filter, seccomp_arch_native());
	for (int i = 0; !error && i < MAX_ABIS && a->abi[i]; i++) {
		error = seccomp_arch_add(filter, a->abi[i]);
		if (error == -EEXIST)
			error = 0;
	}
	if (error)
		fail(a->name, error);
	add_calls(filter, exec_calls);
	if (with_setid)
		add_calls(filter, setid_calls);
	print_code(code, export(filter, a, code));
	seccomp_release(filter);
}

static uint32_t action_of(const char *name)
{
	if (!strcmp(name, "NOTIFY"))
		return SECCOMP_RET_USER_NOTIF;
	if (!strcmp(name, "ENOSYS"))
		return SECCOMP_RET_ERRNO | ENOSYS;
	if (!strcmp(name, "EINVAL"))
		return SECCOMP_RET_ERRNO | EINVAL;
	fprintf(stderr, "gen-filter: %s: unknown action\n", name);
	exit(1);
}

static int read_rules(const char *path, struct rule *rules)
{
	char line[256], entry[16], bit[8], action[16], argument[16];
	FILE *f = fopen(path, "r");
	int count = 0;

	if (!f)
		fail(path, errno);
	while (fgets(line, sizeof(line), f)) {
		struct rule *r = &rules[count];

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (count == MAX_RULES ||
		    sscanf(line, "%31s %15s %7s %i %u %15s %15s", r->group, entry, bit,
			   (int *)&r->arch, &r->number, action, argument) != 7) {
			fprintf(stderr, "gen-filter: %s: bad line: %s", path, line);
			exit(1);
		}
		r->entry = entry[0] == '-' ? -1 : entry[8] ? entry[8] - '1' : 0;
		r->bit = bit[0] == '-' ? -1 : atoi(bit);
		r->action = action_of(action);
		r->argument = argument[0] == '-' ? -1 : atol(argument);
		count++;
	}
	fclose(f);
	return count;
}

/* Every rule is a block that falls through to the next. */
static void print_rule(const struct rule *r)
{
	enum { DATA_NR = 0, DATA_ARCH = 4, DATA_ARG = 16 };
	const unsigned char rest = r->argument < 0 ? 1 : 3;
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA_ARCH),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->arch, 0, (unsigned char)(rest + 2)),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA_NR),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->number, 0, rest),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA_ARG),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->argument, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, r->action),
	};

	print_code(code, 4);
	if (r->argument >= 0)
		print_code(code + 4, 2);
	print_code(code + 6, 1);
}

static void print_group(const struct rule *rules, int count, const char *group)
{
	const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

	for (int i = 0; i < count; i++)
		if (!strcmp(rules[i].group, group))
			print_rule(&rules[i]);
	if (strcmp(group, "exec") != 0)
		print_code(&allow, 1);
}

/* What the supervisor has to know: which notification is an exec. */
static void print_exec_calls(const struct arch *a, const struct rule *rules, int count)
{
	printf("#define FILTER_AUDIT_ARCH %#x\n\n", a->abi[0]);
	printf("/* Calls that execute; AT: the path is the second argument. */\n"
	       "__attribute__((unused)) static const struct {\n"
	       "\tunsigned int arch, number, at;\n} filter_exec_call[] = {\n");
	for (int i = 0; i < MAX_ABIS && a->abi[i]; i++) {
		/* libseccomp's own token, for what the kernel calls x86_64. */
		uint32_t arch = a->abi[i] == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : a->abi[i];

		for (int at = 0; at < 2; at++)
			printf("\t{ %#x, %#x, %d },\n", arch,
			       (unsigned int)seccomp_syscall_resolve_name_arch(a->abi[i],
									       exec_calls[at]),
			       at);
	}
	for (int i = 0; i < count; i++)
		if (!strcmp(rules[i].group, "exec"))
			printf("\t{ %#x, %#x, %d },\n", rules[i].arch, rules[i].number,
			       rules[i].argument == 1);
	printf("};\n\n");
}

/* First of its group, and a group of its own? */
static int starts_extra(const struct rule *rules, int i)
{
	if (!strcmp(rules[i].group, "exec"))
		return 0;
	for (int j = 0; j < i; j++)
		if (!strcmp(rules[j].group, rules[i].group))
			return 0;
	return 1;
}

static void print_header(const struct arch *a, const struct rule *rules, int count)
{
	unsigned int at[MAX_RULES + 3], extras = 0;

	printf("/* Made by gen-filter for %s, %s endian. */\n", a->name, a->endian);
	print_exec_calls(a, rules, count);
	printf("__attribute__((unused)) static const struct sock_filter filter_code[] = {\n");
	for (int with_setid = 0; with_setid < 2; with_setid++) {
		at[with_setid] = total;
		print_group(rules, count, "exec");
		print_notify(a, with_setid);
	}
	at[2] = total;
	for (int i = 0; i < count; i++) {
		if (!starts_extra(rules, i))
			continue;
		print_group(rules, count, rules[i].group);
		at[3 + extras++] = total;
	}
	printf("};\n\nenum {\n\tFILTER_EXEC_AT = %u,\n\tFILTER_EXEC_LENGTH = %u,\n"
	       "\tFILTER_SETID_AT = %u,\n\tFILTER_SETID_LENGTH = %u,\n\tFILTER_EXTRAS = %u,\n};\n\n",
	       at[0], at[1] - at[0], at[1], at[2] - at[1], extras);
	printf("/* Entry 255: always; else if the mask hides that bit. */\n"
	       "__attribute__((unused)) static const struct {\n\tunsigned char entry, bit;\n"
	       "\tunsigned short at, length;\n} filter_extra[] = {\n");
	extras = 0;
	for (int i = 0; i < count; i++) {
		if (!starts_extra(rules, i))
			continue;
		printf("\t{ %d, %d, %u, %u }, /* %s */\n", rules[i].entry & 255, rules[i].bit & 255,
		       at[2 + extras], at[3 + extras] - at[2 + extras], rules[i].group);
		extras++;
	}
	printf("\t{ 0, 0, 0, 0 },\n};\n");
}

int main(int argc, char **argv)
{
	static struct rule rules[MAX_RULES];
	int count = argc > 3 ? read_rules(argv[3], rules) : 0;

	for (size_t i = 0; argc > 2 && i < sizeof(arches) / sizeof(arches[0]); i++) {
		if (strcmp(arches[i].name, argv[1]) || strcmp(arches[i].endian, argv[2]))
			continue;
		print_header(&arches[i], rules, count);
		return fflush(stdout) || ferror(stdout);
	}
	fprintf(stderr, "gen-filter: usage: gen-filter ARCH little|big [RULES]\n");
	return 1;
}
