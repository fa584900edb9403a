# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""table.py RESULTS FOLDER...: the tables of benefit.sh, from what it left in each program's folder: RESULTS is `subjects` or
`layouts`. A folder's name ends in PROGRAM/full or PROGRAM/quick.

RESULTS/SUBJECT.runs        a line for each round: seconds, processor seconds, KiB, user seconds
RESULTS/SUBJECT.latencies   a line for each round: microseconds, median and p99
SUBJECT.instructions        a number
plan.json                   `hearth show --plan --json` of the profile
"""
import json
import math
import statistics
import sys
from pathlib import Path

OTHERS = ["hugetlb", "mimalloc", "jemalloc", "tcmalloc"]


class Subject:
    """What was measured of one subject of one program."""

    def __init__(self, folder, results, name):
        rows = [[float(word) for word in line.split()] for line in open(folder / results / f"{name}.runs")]
        self.name = name
        self.seconds, self.processor_seconds, self.kib, _ = zip(*rows)
        self.instructions = self.p99 = None
        file = folder / f"{name}.instructions"
        if file.exists():
            self.instructions = float(file.read_text())
        file = folder / results / f"{name}.latencies"
        if file.exists():
            self.p99 = statistics.median(float(line.split()[1]) for line in open(file))


class Program:
    def __init__(self, folder, results):
        self.name = folder.parent.name
        names = [file.stem for file in (folder / results).glob("*.runs")]
        self.subjects = {name: Subject(folder, results, name) for name in names}
        self.plain = self.subjects["plain"]
        self.chosen, self.predicted = predictions(folder / "plan.json")

    def time(self, name):
        """Least time against plain's least: what disturbs a run only makes it longer."""
        return min(self.subjects[name].seconds) / min(self.plain.seconds)

    def median_time(self, name):
        return statistics.median(a / b for a, b in zip(self.subjects[name].seconds, self.plain.seconds))

    def processor_time(self, name):
        return min(self.subjects[name].processor_seconds) / min(self.plain.processor_seconds)

    def peak(self, name):
        return statistics.median(self.subjects[name].kib) / statistics.median(self.plain.kib)

    def instructions(self, name):
        subject = self.subjects[name]
        return subject.instructions and self.plain.instructions and subject.instructions / self.plain.instructions

    def predicted_time(self, name):
        layout = self.chosen if name == "hearth" else name.removeprefix("layout-")
        return self.predicted.get(layout)

    def best_other(self):
        names = [name for name in OTHERS if name in self.subjects]
        return min(names, key=self.time) if names else None


def predictions(path):
    """The layout that the plan chose, and for each layout its predicted time against none."""
    if not path.exists():
        return None, {}
    plan = json.loads(path.read_text())
    return plan.get("layout"), {entry["layout"]: entry["time"] for entry in plan.get("layouts", [])}


def cell(value, width=8, digits=3):
    return f"{value:{width}.{digits}f}" if value is not None else " " * width


def print_program(program, order):
    plain = program.plain
    layout = f", layout {program.chosen}" if program.chosen else ""
    print(f"\n{program.name}: plain takes {min(plain.seconds):.2f} s and {statistics.median(plain.kib) / 1024:.0f} MiB; "
          f"{len(plain.seconds)} rounds{layout}")
    print(f"{'':16}{'time':>8}{'median':>8}{'CPU':>8}{'peak':>8}{'instr.':>8}{'p99':>8}{'pred.':>8}")
    for name in order:
        if name in program.subjects:
            print(f"{name:16}{cell(program.time(name))}{cell(program.median_time(name))}"
                  f"{cell(program.processor_time(name))}{cell(program.peak(name))}{cell(program.instructions(name))}"
                  f"{cell(program.subjects[name].p99, digits=0)}{cell(program.predicted_time(name))}")


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def print_summary(programs, order):
    """Each program's time by each subject, Hearth beside the best of the others, and geometric means."""
    print(f"\n{'time':12}" + "".join(f"{name[:10]:>11}" for name in order[1:]) + f"{'to best':>11}{'peak':>8}")
    to_best = {}
    for program in programs:
        best = program.best_other()
        if best and "hearth" in program.subjects:
            to_best[program.name] = program.time("hearth") / program.time(best)
        cells = [cell(program.time(name) if name in program.subjects else None, 11) for name in order[1:]]
        peak = program.peak("hearth") if "hearth" in program.subjects else None
        print(f"{program.name:12}{''.join(cells)}{cell(to_best.get(program.name), 11)}{cell(peak)}")
    means = [geometric_mean(p.time(name) for p in programs if name in p.subjects) for name in order[1:]]
    peak = geometric_mean(p.peak("hearth") for p in programs if "hearth" in p.subjects)
    print(f"{'geom. mean':12}{''.join(cell(mean, 11) for mean in means)}{cell(geometric_mean(to_best.values()), 11)}"
          f"{cell(peak)}")


def main(results, *folders):
    programs = [Program(Path(folder), results) for folder in folders if (Path(folder) / results / "plain.runs").exists()]
    present = {name for program in programs for name in program.subjects}
    known = ["plain", "hearth", "engine", *OTHERS]
    order = [name for name in known if name in present] + sorted(present - set(known))
    for program in programs:
        print_program(program, order)
    if len(programs) > 1:
        print_summary(programs, order)


main(*sys.argv[1:])
