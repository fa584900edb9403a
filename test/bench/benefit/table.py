# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""table.py [--write | --check] RESULTS [DOCUMENT...]: tables of the results that collect.py made.

Alone: all figures. With documents: those between the lines "<!-- gains: NAME -->" and "<!-- end of NAME -->", written there, or
compared with what is there.
"""
import csv
import math
import re
import sys
from pathlib import Path

LEVELS = ["cold", "inline", "calls", "hearth", "tuned"]
OTHERS = ["hugetlb", "mimalloc", "jemalloc", "tcmalloc"]
TITLES = {"engine": "allocator alone", "hearth": "with a profile", "tuned": "tuned", "hugetlb": "glibc with huge pages"}


class Program:
    """Rows by subject, as dictionaries of numbers; None: not known. All ratios are to plain unless said otherwise."""

    def __init__(self, name, about, rows):
        self.name = name
        self.date, self.commit, self.machine = about
        self.rows = {row["subject"]: {key: None if text == "-" else float(text)
                                      for key, text in row.items() if key not in ("program", "subject")} for row in rows}

    def ratio(self, subject, field, to="plain"):
        own, base = (self.rows.get(name, {}).get(field) for name in (subject, to))
        return own / base if own is not None and base else None

    def time(self, subject, to="plain"):
        return self.ratio(subject, "seconds", to)

    def peak(self, subject, to="plain"):
        return self.ratio(subject, "kib", to)

    def with_profile(self):
        return "tuned" if "tuned" in self.rows else "hearth"

    def to_best(self):
        best = min((name for name in OTHERS if name in self.rows), key=self.time, default=None)
        return self.time(self.with_profile(), best)


def read(path):
    lines = Path(path).read_text().splitlines()
    about = {line.split("\t")[1]: line.split("\t")[2:] for line in lines if line.startswith("#")}
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    return [Program(name, about[name], [row for row in rows if row["program"] == name]) for name in about]


def subjects_of(programs, names):
    return [name for name in names if any(name in program.rows for program in programs)]


def geometric_mean(values):
    values = [value for value in values if value is not None]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


# ----------------------------------------------------- on the terminal -----------------------------------------------------


def cell(value, width=8, digits=3):
    return f"{value:{width}.{digits}f}" if value is not None else " " * width


def print_program(program):
    plain = program.rows["plain"]
    print(f"\n{program.name}: plain takes {plain['seconds']:.2f} s and {plain['kib'] / 1024:.0f} MiB; "
          f"{plain['rounds']:.0f} rounds")
    print(f"{'':16}{'time':>8}{'median':>8}{'CPU':>8}{'peak':>8}{'instr.':>8}{'p99':>8}")
    for name, row in program.rows.items():
        print(f"{name:16}{cell(program.time(name))}{cell(row['ratio'])}{cell(program.ratio(name, 'processor'))}"
              f"{cell(program.peak(name))}{cell(program.ratio(name, 'instructions'))}{cell(row['p99'], digits=0)}")


def print_columns(title, programs, columns):
    """A row for each program, and geometric means; columns: titles and functions of a program."""
    print(f"\n{title:18}" + "".join(f"{name[:10]:>11}" for name, _ in columns))
    for program in programs:
        print(f"{program.name:18}" + "".join(cell(of(program), 11) for _, of in columns))
    print(f"{'geometric mean':18}" + "".join(cell(geometric_mean(map(of, programs)), 11) for _, of in columns))


def time_column(name, to="plain"):
    return name, lambda program: program.time(name, to)


def peak_column(name, to="plain"):
    return name, lambda program: program.peak(name, to)


def instructions_column(name, to):
    return name, lambda program: program.ratio(name, "instructions", to)


def print_all(programs):
    for program in programs:
        print_program(program)
    subjects = subjects_of(programs, ["engine", "hearth", "tuned", *OTHERS])
    levels = subjects_of(programs, LEVELS)
    print_columns("time", programs, [time_column(name) for name in subjects] + [("to best", Program.to_best)])
    print_columns("peak", programs, [peak_column(name) for name in subjects])
    print_columns("time to engine", programs, [time_column(name, "engine") for name in levels])
    print_columns("peak to engine", programs, [peak_column(name, "engine") for name in levels])
    print_columns("instr. to engine", programs, [instructions_column(name, "engine") for name in levels])


# ------------------------------------------------------ in documents -------------------------------------------------------


def two_digits(*values):
    return ", ".join("" if value is None else f"{value:.2f}" for value in values)


def markdown_table(programs, columns):
    """Columns: titles, and functions that give the numbers of a program's cell, or its text, of which there is no mean."""
    cells = [[of(program) for _, of in columns] for program in programs]
    means = [None if isinstance(column[0], str) else [geometric_mean(values) for values in zip(*column)]
             for column in zip(*cells)]
    yield "| program | " + " | ".join(title for title, _ in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name, row in zip([program.name for program in programs] + ["geometric mean"], cells + [means]):
        yield f"| {name} | " + " | ".join(content if isinstance(content, str) else two_digits(*content or "")
                                         for content in row) + " |"


def plain_takes(program):
    plain = program.rows["plain"]
    return f"{plain['seconds']:.2f} s, {plain['kib'] / 1024:.0f} MiB"


def times(programs, names, titles):
    return [(titles.get(name, name), lambda program, name=name: [program.time(name)])
            for name in subjects_of(programs, names)]


def summary(programs):
    yield from markdown_table(programs, times(programs, ["engine", "hearth", "tuned", "hugetlb", "mimalloc"], TITLES) +
                              [("peak memory with a profile", lambda program: [program.peak("hearth")])])


def all_times(programs):
    yield from markdown_table(programs, [("plain", plain_takes), *times(programs, ["engine", "hearth", "tuned", *OTHERS], {}),
                                         ("to best", lambda program: [program.to_best()]),
                                         ("peak", lambda program: [program.peak("engine"),
                                                                         program.peak(program.with_profile())])])
    for p in programs:
        waits = [f"{name} {row['p99']:.0f}" for name, row in p.rows.items() if row["p99"] is not None]
        if waits:
            yield ""
            yield f"Of a hundred requests to {p.name}, the slowest takes, in microseconds: {', '.join(waits)}."
    measured = {}
    for p in programs:
        about = f"at {p.commit}, {p.date}, {p.rows['plain']['rounds']:.0f} rounds; {p.machine}"
        measured.setdefault(about, []).append(p.name)
    for about, names in measured.items():
        yield ""
        yield f"Measured {about}" + (f": {', '.join(names)}." if len(measured) > 1 else ".")


def levels(programs):
    yield from markdown_table(programs, [(name, lambda program, name=name: [program.time(name, "engine"),
                                                                            program.peak(name, "engine")])
                                         for name in subjects_of(programs, LEVELS)])


TABLES = {"summary": summary, "times": all_times, "levels": levels}


def with_tables(text, programs):
    """The document's text with its tables made anew."""
    def table(match):
        body = "\n".join(TABLES[match[1]](programs))
        return f"<!-- gains: {match[1]} -->\n\n{body}\n\n<!-- end of {match[1]} -->"
    return re.sub(r"<!-- gains: (\w+) -->\n.*?<!-- end of \1 -->", table, text, flags=re.DOTALL)


def main(*arguments):
    action = arguments[0] if arguments[0] in ("--write", "--check") else None
    results, *documents = arguments[1:] if action else arguments
    programs = read(results)
    if not action:
        return print_all(programs)
    for path in map(Path, documents):
        old = path.read_text()
        if "<!-- gains: " not in old:
            sys.exit(f"{path}: has no tables of gains")
        new = with_tables(old, programs)
        if action == "--write":
            path.write_text(new)
        elif new != old:
            sys.exit(f"{path}: its tables are not those of {results}: test/bench/benefit/table.py --write")


main(*sys.argv[1:])
