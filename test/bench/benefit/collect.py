# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""collect.py FOLDER...: the results of benefit.sh as one table, on standard output: a line of titles, then a line for each
program and subject; before the lines of a program, "# PROGRAM DATE COMMIT MACHINE". Fields end with a tab; "-": not known.

A folder's name ends in PROGRAM/full or PROGRAM/quick. It holds
subjects/SUBJECT.runs        a line for each round: seconds, processor seconds, KiB, user seconds
subjects/SUBJECT.latencies   a line for each round: microseconds, median and p99
subjects/about               date, commit, machine
SUBJECT.instructions         a number
"""
import statistics
import sys
from pathlib import Path

SUBJECTS = ["plain", "engine", "cold", "inline", "calls", "hearth", "tuned", "hugetlb", "mimalloc", "jemalloc", "tcmalloc"]


def rows_of(path):
    return [[float(word) for word in line.split()] for line in path.read_text().splitlines()] if path.exists() else []


def subject_row(folder, name, plain):
    """Least times, as what disturbs a run only makes it longer; medians of ratios within a round, of memory and of p99."""
    rounds = rows_of(folder / "subjects" / f"{name}.runs")
    seconds, processor_seconds, kib, _ = zip(*rounds)
    latencies = rows_of(folder / "subjects" / f"{name}.latencies")
    instructions = rows_of(folder / f"{name}.instructions")
    return [folder.parent.name, name, len(rounds), f"{min(seconds):.3f}",
            f"{statistics.median(a / b[0] for a, b in zip(seconds, plain)):.3f}", f"{min(processor_seconds):.3f}",
            f"{statistics.median(kib):.0f}", f"{instructions[0][0]:.0f}" if instructions else "-",
            f"{statistics.median(row[1] for row in latencies):.0f}" if latencies else "-"]


def main(*folders):
    print("program", "subject", "rounds", "seconds", "ratio", "processor", "kib", "instructions", "p99", sep="\t")
    for folder in map(Path, folders):
        plain = rows_of(folder / "subjects" / "plain.runs")
        if not plain:
            continue
        print("#", folder.parent.name, *(folder / "subjects" / "about").read_text().splitlines(), sep="\t")
        for name in SUBJECTS:
            if (folder / "subjects" / f"{name}.runs").exists():
                print(*subject_row(folder, name, plain), sep="\t")


main(*sys.argv[1:])
