"""Compare two profiles in DHAT's format: bytes and blocks by call stack (function and line). Prints the number of stacks."""
import collections
import json
import re
import sys


def totals(path):
    profile = json.load(open(path))
    sums = collections.defaultdict(lambda: [0, 0])
    for point in profile["pps"]:
        frames = []
        for number in point["fs"]:
            found = re.search(r"(?:0x[0-9A-F]+: )?(\w+) \((?:\S*/)?(\w+\.c):(\d+)", profile["ftbl"][number])
            if found:
                frames.append(found.groups())
        sums[tuple(frames)][0] += point["tb"]
        sums[tuple(frames)][1] += point["tbk"]
    return sums


ours, theirs = totals(sys.argv[1]), totals(sys.argv[2])
for stack in ours.keys() | theirs.keys():
    if ours[stack] != theirs[stack]:
        sys.exit(f"{stack}: {ours[stack]} bytes and blocks, DHAT says {theirs[stack]}")
print(len(ours), "stacks,", sum(row[0] for row in ours.values()), "bytes")
