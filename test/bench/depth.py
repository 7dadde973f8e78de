#!/usr/bin/env python3
"""depth.py - table and plot out of what depth printed

depth.py [--doc DIR] SAMPLES

"added" is the median over the rounds of the difference to --no-cgroup at the
same depth in the same round, "rate" the ratio of the medians: execs per second
with the cgroup's mask against without. With --doc the table goes to
DIR/depth.md and the plot to DIR/depth.svg.
"""
import argparse
import os
import platform
import statistics
import sys
from collections import defaultdict

VARIANTS = [
    ("none", "no mask anywhere"),
    ("before", "set at the top, then the tree made"),
    ("after", "set at the top of an older tree"),
    ("leaf", "mask set on the leaf"),
    ("file", "misc.mask (a file in a tree of files)"),
]
# The kernel patch against none, as its author measured it (percent).
AUTHOR = {64: 98.66, 128: 99.17, 256: 97.95}
COLOURS = ["#777777", "#d1495b", "#00798c", "#edae49", "#6a4c93"]


def read_samples(path):
    samples = defaultdict(dict)
    with open(path, encoding="ascii") as lines:
        for line in lines:
            depth, uid, name, number, nanoseconds = line.split()
            samples[int(uid), int(depth), name][int(number)] = int(nanoseconds) / 1000
    return samples


def median(samples, *key):
    return statistics.median(samples[key].values())


def added(samples, uid, depth, name):
    base = samples[uid, depth, "no-cgroup"]
    differences = [us - base[n] for n, us in samples[uid, depth, name].items()]
    low, _, high = statistics.quantiles(differences, n=4)
    return statistics.median(differences), high - low


def table(samples, uid, depths):
    yield "| depth | exec | --no-cgroup | " + " | ".join(n for n, _ in VARIANTS) + " | author |"
    yield "|" + "---:|" * (len(VARIANTS) + 4)
    for depth in depths:
        base = median(samples, uid, depth, "no-cgroup")
        cells = [f"{median(samples, uid, depth, 'native'):.0f}", f"{base:.0f}"]
        for name, _ in VARIANTS:
            us, spread = added(samples, uid, depth, name)
            rate = 100 * base / median(samples, uid, depth, name)
            cells.append(f"+{us:.1f} ±{spread / 2:.1f} ({rate:.1f} %)")
        cells.append(f"{AUTHOR[depth]} %" if depth in AUTHOR else "-")
        yield f"| {depth} | " + " | ".join(cells) + " |"


def plot(samples, uid, depths, left, title):
    """One panel: added microseconds over depth, both on logarithmic scales."""
    from math import log2, log10

    width, height = 360, 300
    top = 40

    def x(depth):
        return left + log2(depth + 1) / log2(257) * width

    def y(us):
        return top + height - (log10(min(max(us, 1), 3000))) / log10(3000) * height

    yield f'<text x="{left + width / 2}" y="20" text-anchor="middle" font-weight="bold">{title}</text>'
    for us in (1, 3, 10, 30, 100, 300, 1000, 3000):
        yield f'<path d="M{left} {y(us):.1f}h{width}" stroke="#ddd"/>'
        yield f'<text x="{left - 6}" y="{y(us) + 4:.1f}" text-anchor="end">{us}</text>'
    for depth in depths:
        yield f'<text x="{x(depth):.1f}" y="{top + height + 18}" text-anchor="middle">{depth}</text>'
    for (name, _), colour in zip(VARIANTS, COLOURS):
        points = [(x(d), y(added(samples, uid, d, name)[0])) for d in depths]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for px, py in points:
            yield f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>'


def svg(samples, uids, depths):
    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="880" height="460" viewBox="0 0 880 460" '
           'font-family="sans-serif" font-size="12">')
    yield '<rect width="880" height="460" fill="white"/>'
    for i, uid in enumerate(uids):
        title = "root" if uid == 0 else "unprivileged"
        yield from plot(samples, uid, depths, 60 + i * 430,
                        f"us more than --no-cgroup, by depth: {title}")
    for i, ((name, text), colour) in enumerate(zip(VARIANTS, COLOURS)):
        at_x, at_y = 60 + i % 3 * 280, 395 + i // 3 * 24
        yield f'<rect x="{at_x}" y="{at_y - 10}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{at_x + 18}" y="{at_y}">{name}: {text}</text>'
    yield "</svg>"


def document(samples, uids, depths):
    rounds = len(samples[uids[0], depths[0], "native"])
    yield "# The cgroup's mask, by nesting depth"
    yield ""
    yield (f"`make bench-depth` on Linux {platform.release()}, {platform.machine()}, "
           f"{os.cpu_count()} CPUs, {rounds} rounds.")
    yield ""
    yield "![microseconds added, by depth](depth.svg)"
    yield ""
    yield "vfork, exec and wait of a minimal static program in microseconds: natively, by hwcap-exec"
    yield "with `--no-cgroup`, and what the cgroup's mask adds to that (median ± half the distance"
    yield "between the quartiles; in parentheses the rate of execs with it against without). Beside it the"
    yield "rate that the author of the kernel patch reported for the patch. `file` is looked up by the path"
    yield "in `/proc/self/cgroup`, by root as well, because the tree of files is no hierarchy of the kernel."
    yield "Depth 0 is a child of the hierarchy's root, so that at depth 4 five cgroups are above."
    yield ""
    yield from (f"- `{name}`: {text}" for name, text in VARIANTS)
    for uid in uids:
        yield ""
        yield f"## {'Root' if uid == 0 else 'Unprivileged'}"
        yield ""
        yield from table(samples, uid, depths)


def main():
    parser = argparse.ArgumentParser(usage="depth.py [--doc DIR] SAMPLES")
    parser.add_argument("--doc")
    parser.add_argument("samples")
    arguments = parser.parse_args()
    samples = read_samples(arguments.samples)
    uids = sorted({key[0] for key in samples})
    depths = sorted({key[1] for key in samples})
    text = "\n".join(document(samples, uids, depths)) + "\n"
    sys.stdout.write(text)
    if arguments.doc:
        with open(os.path.join(arguments.doc, "depth.md"), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(arguments.doc, "depth.svg"), "w", encoding="utf-8") as file:
            file.write("\n".join(svg(samples, uids, depths)) + "\n")


if __name__ == "__main__":
    main()
