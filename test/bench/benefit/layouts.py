# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""layouts.py FOLDER...: what the plan predicts of layouts beside what was simulated and measured, from the files that
benefit.sh left in each program's folder, which ends in PROGRAM/full or PROGRAM/quick.

plan.json                    `hearth show --plan --json` of the profile
layout-NAME.misses           lines of a simulated run: misses of the second and third cache, and instructions; the same of the
                             two translation buffers; bytes of a page. plain.misses: without hints
layouts/layout-NAME.runs     a line for each round: seconds first, fourth those without the system's. layouts/plain.runs: without hints
"""
import json
import statistics
import sys
from pathlib import Path

# Cycles of a miss, as in profile/plan/cost_model.c, and of an instruction that misses nothing: two are done in one.
CACHES = [30, 100]
BUFFERS = [4, 30]
INSTRUCTION = 0.5


class Misses:
    """Of a simulated run."""

    def __init__(self, path):
        (*self.caches, instructions), (*self.buffers, _), (self.page,) = [map(float, line.split()) for line in open(path)]
        self.time = (INSTRUCTION * instructions + sum(a * b for a, b in zip(CACHES, self.caches))
                     + sum(a * b for a, b in zip(BUFFERS, self.buffers)))


def misses_of(path):
    return Misses(path) if path.exists() else None


def least_of(path, column):
    return min(float(line.split()[column]) for line in open(path)) if path.exists() else None


def ratio(a, b):
    return a / b if a is not None and b else None


class Layout:
    """Of one program; all numbers against the plain build, None where there is none."""

    def __init__(self, folder, entry, none, plain_misses):
        self.name = entry["layout"]
        self.predicted_lines = ratio(entry["lines"], none["lines"])
        self.predicted_time = entry["time"]
        misses = misses_of(folder / f"layout-{self.name}.misses")
        both = misses and plain_misses
        pages = entry["huge_pages" if misses.page > 4096 else "pages"] if both else None
        self.predicted_pages = ratio(pages, none["pages"])
        self.simulated_lines = ratio(misses.caches[0], plain_misses.caches[0]) if both else None
        self.simulated_pages = ratio(misses.buffers[0], plain_misses.buffers[0]) if both else None
        self.simulated_time = ratio(misses.time, plain_misses.time) if both else None
        runs, plain_runs = folder / "layouts" / f"layout-{self.name}.runs", folder / "layouts" / "plain.runs"
        self.measured_time = ratio(least_of(runs, 0), least_of(plain_runs, 0))
        self.measured_user = ratio(least_of(runs, 3), least_of(plain_runs, 3))


COLUMNS = ["predicted_lines", "simulated_lines", "predicted_pages", "simulated_pages", "predicted_time", "simulated_time",
           "measured_time", "measured_user"]


def read_layouts(folder):
    """The layouts that were looked at, and the name of the one that was chosen."""
    plan = json.loads((folder / "plan.json").read_text())
    plain_misses = misses_of(folder / "plain.misses")
    layouts = [Layout(folder, entry, plan["layouts"][0], plain_misses) for entry in plan["layouts"]]
    return [layout for layout in layouts if layout.simulated_time or layout.measured_time], plan["layout"]


def cell(value):
    return f"{value:11.3f}" if value is not None else " " * 11


def print_layouts(program, layouts, chosen):
    print(f"{program:18}" + "".join(f"{text:>11}" for text in ["lines: pre.", "sim.", "pages: pre.", "sim.", "time: pre.",
                                                                "sim.", "measured", "its user"]))
    for layout in layouts:
        mark = "*" if layout.name == chosen else " "
        print(f"{mark} {layout.name:16}" + "".join(cell(getattr(layout, column)) for column in COLUMNS))


def print_choice(layouts, chosen, column):
    """How far the chosen layout is from the best one."""
    known = [layout for layout in layouts if getattr(layout, column)]
    own = [layout for layout in known if layout.name == chosen]
    if own:
        best = min(known, key=lambda layout: getattr(layout, column))
        print(f"  {column.replace('_', ' ')}: {chosen}, which was chosen, takes "
              f"{getattr(own[0], column) / getattr(best, column):.3f} of that of the best, {best.name}")


def ranks(values):
    """1 for the least; equal values share the mean of their ranks."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def rank_correlation(layouts, a, b):
    """Spearman's, and the number of pairs; None if one side is all the same."""
    pairs = [(getattr(layout, a), getattr(layout, b)) for layout in layouts]
    pairs = [pair for pair in pairs if None not in pair]
    sides = [ranks(side) for side in zip(*pairs)]
    if not sides or any(len(set(side)) < 2 for side in sides):
        return None, len(pairs)
    return statistics.correlation(*sides), len(pairs)


def print_correlations(layouts):
    for a, b in [("predicted_lines", "simulated_lines"), ("predicted_pages", "simulated_pages"),
                 ("predicted_time", "simulated_time"), ("predicted_time", "measured_time"),
                 ("predicted_time", "measured_user"), ("simulated_time", "measured_time")]:
        correlation, count = rank_correlation(layouts, a, b)
        if correlation is not None:
            print(f"rank correlation of {a.replace('_', ' ')} and {b.replace('_', ' ')}: {correlation:.2f} ({count} pairs)")


def main(*folders):
    moved = []
    for folder in map(Path, folders):
        layouts, chosen = read_layouts(folder)
        print_layouts(folder.parent.name, layouts, chosen)
        for column in ["simulated_time", "measured_time", "measured_user"]:
            print_choice(layouts, chosen, column)
        print()
        moved += [layout for layout in layouts if layout.name != "none"]
    print_correlations(moved)


main(*sys.argv[1:])
