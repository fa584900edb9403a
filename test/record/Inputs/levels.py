"""levels.py TEXT: of a profile in its text form, the greatest and the last of the levels of all contexts and of each leaf."""

import re
import sys


def summary(line):
    levels = [int(word) for word in line.split()[1:]]
    assert len(levels) == 256, len(levels)
    return f"{max(levels)} then {levels[-1]}"


name = None
peak = 0
for line in open(sys.argv[1]):
    if found := re.match(r"history runs=\d+ peak=(\d+)", line):
        peak = int(found[1])
    elif line.startswith("levels"):
        print(f"all: {summary(line)}, peak at {'a third' if 330000 < peak < 340000 else f'{peak} millionths'}")
    elif line.startswith("context"):
        name = None
    elif line.startswith("  frame") and name is None:
        name = line.split()[1]
    elif line.startswith("  levels"):
        print(f"{name}: {summary(line)}")
