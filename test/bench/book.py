#!/usr/bin/env python3
"""book.py - the measured section of doc/bench.md, and its plots

book.py --budget FILE --binary FILE --counts FILE --doc DIR SAMPLES

Replaces what is between the two markers in DIR/bench.md, and nothing else;
writes DIR/bench.svg (every engine, as ratio to native) and
DIR/bench-budget.svg (what the budget's engines add).
"""
import argparse
import os
import platform
import re
import sys
from math import log10

sys.dont_write_bytecode = True
import report  # noqa: E402

BEGIN = "<!-- written by make bench-book: begin -->"
END = "<!-- written by make bench-book: end -->"
ENGINES = {
    "native": "the target itself",
    "loader": "`--engine=loader`, with /proc/PID/exe set",
    "nolink": "the same without capabilities, as any other user runs it: /proc/PID/exe stays",
    "trace": "`--engine=trace`",
    "follow": "each exec below `--follow`",
    "binfmt": "a binfmt_misc rule whose interpreter carries the mask",
    "env": "`env TARGET`",
    "floor": "a program that does only what the loader cannot do without (test/bench/floor.c)",
    "setarch": "`setarch MACHINE TARGET`",
    "ld.so": "the dynamic linker run with the target as argument",
    "proot": "`proot TARGET`",
    "qemu": "qemu-user of the same architecture",
}
TARGETS = {
    "minimal": "a static program of one system call",
    "musl": "a static program that returns from main, musl",
    "glibc": "the same, glibc",
    "true": "/bin/true, dynamic, glibc",
}
OWN = ("loader", "nolink", "trace", "follow", "binfmt")
COLOURS = {"native": "#777777", "own": "#00798c", "other": "#edae49"}


def first_match(path, pattern):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(pattern, file.read(), re.M)
    except OSError:
        return None
    return found.group(1) if found else None


def machine():
    model = first_match("/proc/cpuinfo", r"^model name\s*: (.*)$") or platform.machine()
    virtual = re.search(r"\bhypervisor\b", first_match("/proc/cpuinfo", r"^flags\s*: (.*)$") or "")
    memory = int(first_match("/proc/meminfo", r"^MemTotal:\s*(\d+)") or 0) / 2**20
    system = first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)') or platform.system()
    libc = " ".join(platform.libc_ver())
    kind = "virtual machine" if virtual else "machine"
    return (f"Linux {platform.release()}, {platform.machine()}, {system}, {libc}; {kind} with "
            f"{os.cpu_count()} CPUs ({model}), {memory:.1f} GiB.")


def read_counts(path):
    counts = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            engine, target, *numbers = line.split()
            counts[engine, target] = numbers
    return counts


def engine_table(rows, counts, target):
    yield ("| engine | median us | quartiles apart | min us | ratio | added us | page faults added "
           "| system calls |")
    yield "|---|" + "---:|" * 7
    for row in rows:
        if row["target"] != target:
            continue
        calls = counts.get((row["engine"], target), ["-"])[0]
        calls = calls if calls == "-" else f"{float(calls):.0f}"
        added = row["engine"] != "native"
        yield (f"| {row['engine']} | {row['median']:.1f} | {row['spread']:.1f} | {row['min']:.1f} | "
               f"{row['ratio']:.2f} | " + (f"{row['added']:+.1f} | {row['faults']:+.0f}" if added
                                           else "- | -") + f" | {calls} |")


def instruction_lines(rows, counts):
    known = [(row["engine"], row["target"], counts[row["engine"], row["target"]])
             for row in rows if "-" not in counts.get((row["engine"], row["target"]), "-")]
    if not known:
        yield "Instructions: not available here (perf stat: the machine has no such counter)."
        return
    yield "| target | engine | instructions, user | kernel |"
    yield "|---|---|---:|---:|"
    for engine, target, (_, user, kernel) in known:
        yield f"| {target} | {engine} | {float(user):.0f} | {float(kernel):.0f} |"


def budget_table(judged, rows):
    spreads = {(row["engine"], row["target"]): row["spread"] for row in rows}
    medians = {(row["engine"], row["target"]): row["median"] for row in rows}
    yield "| engine | target | figure | measured | limit | stretch | median us | quartiles apart | |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---|"
    for line, value, verdict in judged:
        key = line["engine"], line["target"]
        shown = "-" if value is None else f"{value:.2f}"
        yield (f"| {line['engine']} | {line['target']} | {line['figure']} | {shown} | {line['limit']} | "
               f"{line['stretch']} | " +
               (f"{medians[key]:.1f} | {spreads[key]:.1f}" if key in medians else "- | -") +
               f" | {verdict.lower()} |")


def document(rows, judged, counts):
    targets = [name for name in TARGETS if any(row["target"] == name for row in rows)]
    names = [name for name in ENGINES if any(row["engine"] == name for row in rows)]
    yield machine()
    yield (f"{rows[0]['rounds']} rounds, by {'root' if os.geteuid() == 0 else 'a user'}; "
           "`make bench-book` wrote this section.")
    yield ""
    yield from (f"- `{name}`: {ENGINES[name]}" for name in names)
    yield ""
    yield "![ratio to native of every engine](bench.svg)"
    yield ""
    yield "![microseconds added by the engines of hwcap-exec](bench-budget.svg)"
    for target in targets:
        yield ""
        yield f"### {target}: {TARGETS[target]}"
        yield ""
        yield from engine_table(rows, counts, target)
    yield ""
    yield "System calls are those of all processes that take part, the exec itself included, counted by"
    yield "the kernel's tracepoint; page faults those of the process that was started and of what it"
    yield "waited for. `added` is the median of the differences to native in the same round, `ratio`"
    yield "that of the medians."
    yield ""
    yield from instruction_lines(rows, counts)
    yield ""
    yield "## The budget"
    yield ""
    yield from budget_table(judged, rows)
    exceeded = [line for line, _, verdict in judged if verdict == "EXCEEDED"]
    if exceeded:
        yield ""
        yield "Rows not met, and why:"
        yield ""
    for line in exceeded:
        yield f"- {line['engine']}, {line['target']}, {line['figure']}: {line['reason']}"


def text(x, y, what, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{what}</text>'


def picture(width, height, body):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">')
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    yield from body
    yield "</svg>"


def ratio_panel(rows, target, left, top):
    """Bars of the ratio to native, on a logarithmic scale from 1 to 1000."""
    mine = [row for row in rows if row["target"] == target]
    width, step = 300, 20

    def x(ratio):
        return left + log10(min(max(ratio, 1), 1000)) / 3 * width

    yield text(left, top - 12, f"{target} (native {mine[0]['median']:.0f} us): times native",
               extra=' font-weight="bold"')
    for tick in (1, 3, 10, 30, 100, 300, 1000):
        yield f'<path d="M{x(tick):.1f} {top}v{len(mine) * step}" stroke="#ddd"/>'
        yield text(x(tick), top + len(mine) * step + 14, tick, "middle")
    for i, row in enumerate(mine):
        y = top + i * step
        kind = row["engine"] if row["engine"] == "native" else "own" if row["engine"] in OWN else "other"
        yield text(left - 6, y + 14, row["engine"], "end")
        yield (f'<rect x="{left}" y="{y + 3}" width="{max(x(row["ratio"]) - left, 1):.1f}" height="14" '
               f'fill="{COLOURS[kind]}"/>')
        yield text(x(row["ratio"]) + 5, y + 14, f"{row['ratio']:.2f}")


def ratio_plot(rows):
    for i, target in enumerate(t for t in TARGETS if any(row["target"] == t for row in rows)):
        yield from ratio_panel(rows, target, 70 + i % 2 * 430, 40 + i // 2 * 290)


def added_plot(rows, judged):
    """Per target and engine: us added, with the limit that the budget sets."""
    left, top, width, step = 130, 40, 560, 20
    mine = [row for row in rows if row["engine"] in OWN and row["target"] in ("minimal", "true")]
    native = {row["target"]: row["median"] for row in rows if row["engine"] == "native"}
    limits = {}
    for line, _, _ in judged:
        key = line["engine"], line["target"]
        if line["figure"] == "ratio" and key[1] in native:
            limits.setdefault(key, []).append((float(line["limit"]) - 1) * native[key[1]])
        elif line["figure"] == "added":
            limits.setdefault(key, []).append(float(line["limit"]))
    limits = {key: min(values) for key, values in limits.items()}
    most = max([row["added"] for row in mine] + list(limits.values())) * 1.1

    def x(us):
        return left + max(us, 0) / most * width

    yield text(left, top - 12, "us more than native (line: the budget's limit)", extra=' font-weight="bold"')
    for tick in range(0, int(most) + 1, 50):
        yield f'<path d="M{x(tick):.1f} {top}v{len(mine) * step}" stroke="#ddd"/>'
        yield text(x(tick), top + len(mine) * step + 14, tick, "middle")
    for i, row in enumerate(mine):
        y = top + i * step
        limit = limits.get((row["engine"], row["target"]))
        yield text(left - 6, y + 14, f"{row['target']}, {row['engine']}", "end")
        yield (f'<rect x="{left}" y="{y + 3}" width="{max(x(row["added"]) - left, 1):.1f}" height="14" '
               f'fill="{COLOURS["own"]}"/>')
        yield text(max(x(row["added"]), x(limit or 0)) + 6, y + 14, f"{row['added']:+.1f}")
        if limit is not None:
            yield f'<path d="M{x(limit):.1f} {y + 1}v18" stroke="#d1495b" stroke-width="3"/>'


def write_file(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def replace_section(path, section):
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    write_file(path, f"{before}{BEGIN}\n{section}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--budget", "--binary", "--counts", "--doc"):
        parser.add_argument(option, required=True)
    parser.add_argument("samples")
    arguments = parser.parse_args()
    rows = report.load(arguments.samples)
    rows.sort(key=lambda row: list(ENGINES).index(row["engine"]) if row["engine"] in ENGINES else 99)
    judged = list(report.judge(rows, arguments.budget, arguments.binary))
    replace_section(os.path.join(arguments.doc, "bench.md"),
                    "\n".join(document(rows, judged, read_counts(arguments.counts))))
    for name, lines in (("bench.svg", picture(880, 620, ratio_plot(rows))),
                        ("bench-budget.svg", picture(760, 280, added_plot(rows, judged)))):
        write_file(os.path.join(arguments.doc, name), "\n".join(lines) + "\n")


main()
