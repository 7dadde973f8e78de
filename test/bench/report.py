#!/usr/bin/env python3
"""report.py - tables out of what bench printed

report.py [--json | --csv | --check] [--budget FILE] [--binary FILE] SAMPLES

Medians of all rounds; "added" is the median of the per-round differences to
native, which the machine's drift does not reach; "spread" is the distance
between the quartiles. --check prints the rows of the budget that were
measured and are exceeded, and exits with 1 if there are any. --binary is the
hwcap-exec whose stripped size counts.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict


def read_samples(path):
    samples = defaultdict(dict)
    order = ([], [])
    with open(path, encoding="ascii") as lines:
        for line in lines:
            engine, target, number, nanoseconds, faults = line.split()
            samples[engine, target][int(number)] = (int(nanoseconds) / 1000, int(faults))
            for name, seen in ((engine, order[0]), (target, order[1])):
                if name not in seen:
                    seen.append(name)
    return samples, order


def summarise(samples, engine, target):
    mine = samples[engine, target]
    native = samples.get(("native", target), {})
    times = [us for us, _ in mine.values()]
    quartiles = statistics.quantiles(times, n=4) if len(times) > 1 else times * 3
    row = {
        "engine": engine,
        "target": target,
        "rounds": len(times),
        "median": statistics.median(times),
        "min": min(times),
        "spread": quartiles[2] - quartiles[0],
    }
    both = mine.keys() & native.keys()
    if both:
        base = statistics.median(native[n][0] for n in both)
        row["ratio"] = row["median"] / base
        row["min_ratio"] = row["min"] / min(native[n][0] for n in both)
        row["added"] = statistics.median(mine[n][0] - native[n][0] for n in both)
        row["faults"] = statistics.median(mine[n][1] - native[n][1] for n in both)
    return row


def print_table(rows):
    form = "{:<10} {:<12} {:>9} {:>9} {:>8} {:>7} {:>7} {:>9} {:>7}"
    print(form.format("target", "engine", "median us", "min us", "spread", "ratio", "min", "added us",
                      "faults"))
    for row in rows:
        print(form.format(
            row["target"], row["engine"], *(f"{row[k]:.1f}" for k in ("median", "min", "spread")),
            *(f"{row[k]:.3f}" if k in row else "" for k in ("ratio", "min_ratio")),
            f"{row['added']:+.1f}" if "added" in row else "",
            f"{row['faults']:+.0f}" if "faults" in row else ""))


def stripped_size(binary):
    """KiB of what make install would install."""
    with tempfile.TemporaryDirectory() as directory:
        stripped = os.path.join(directory, "stripped")
        subprocess.run([os.environ.get("STRIP", "strip"), "-o", stripped, binary], check=True)
        return os.path.getsize(stripped) / 1024


def judge(rows, budget, binary=None):
    """Yield (row, measured, verdict) for each line of the budget."""
    measured = {(row["engine"], row["target"]): row for row in rows}
    if binary:
        measured["hwcap-exec", "stripped"] = {"KiB": stripped_size(binary)}
    with open(budget, encoding="ascii") as lines:
        table = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
        for line in table:
            row = measured.get((line["engine"], line["target"]))
            if row is None or line["figure"] not in row:
                yield line, None, "not measured"
                continue
            value = row[line["figure"]]
            if value > float(line["limit"]):
                verdict = "EXCEEDED"
            elif line["stretch"] != "-" and value <= float(line["stretch"]):
                verdict = "within, stretch met"
            else:
                verdict = "within"
            yield line, value, verdict


def print_budget(judged, only_exceeded):
    exceeded = 0
    for line, value, verdict in judged:
        exceeded += verdict == "EXCEEDED"
        if only_exceeded and verdict != "EXCEEDED":
            continue
        shown = "-" if value is None else f"{value:.3f}"
        print(f"{line['engine']:<10} {line['target']:<10} {line['figure']:<7} measured {shown:>8}  "
              f"limit {line['limit']:>5}  stretch {line['stretch']:>5}  {verdict}")
    return exceeded


def load(path):
    """The rows of all engines and targets, native first."""
    samples, (engines, targets) = read_samples(path)
    engines.sort(key=lambda name: name != "native")
    return [summarise(samples, e, t) for t in targets for e in engines if (e, t) in samples]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples")
    parser.add_argument("--budget")
    parser.add_argument("--binary")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    rows = load(arguments.samples)
    judged = list(judge(rows, arguments.budget, arguments.binary)) if arguments.budget else []
    if arguments.json:
        json.dump({"rows": rows, "budget": [dict(line, measured=value, verdict=verdict)
                                            for line, value, verdict in judged]},
                  sys.stdout, indent=1)
        print()
    elif arguments.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[-1].keys()), restval="")
        writer.writeheader()
        writer.writerows(rows)
    elif arguments.check:
        exceeded = print_budget(judged, only_exceeded=True)
        print(f"{exceeded} rows of the budget exceeded")
        sys.exit(exceeded > 0)
    else:
        print_table(rows)
        if judged:
            print()
            print_budget(judged, only_exceeded=False)


if __name__ == "__main__":
    main()
