#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many profiles are enough? The share of bytes whose context has the same class in a profile of k runs as in that of all.

usage: stability.py HEARTH PROFILE...      profiles of one program

For each k, 5 random samples: the median, and the worst in parentheses. A context that is missing in a sample counts as
different. Uncertain are the bytes that the sample itself says may be cold or not."""
import json
import os
import random
import subprocess
import sys
import tempfile

SAMPLES, STEPS = 5, (1, 3, 10, 30, 100, 300, 1000, 3000)
hearth, *profiles = sys.argv[1:]


def classes(directory, chosen):
    """By stack: class, bytes, is it uncertain."""
    names, merged = os.path.join(directory, "list"), os.path.join(directory, "merged")
    with open(names, "w") as out:
        out.writelines(os.path.abspath(p) + "\n" for p in chosen)
    subprocess.run([hearth, "merge", "-q", "-f", names, "-o", merged], check=True, stderr=subprocess.DEVNULL)
    shown = json.loads(subprocess.run([hearth, "show", "--json", merged], capture_output=True, check=True).stdout)
    frames = [(f["linkage_name"], f["line_offset"], f["column"], f["discriminator"]) for f in shown["frames"]]
    return {tuple(frames[i] for i in c["stack"]): (c["class"], c["mib"]["TotalSize"], c.get("uncertain", False))
            for f in shown["functions"] for c in f["contexts"]}


def shares(whole, part):
    """Of all bytes: of equal class, uncertain in the part."""
    total = sum(size for _, size, _ in whole.values())
    same = uncertain = 0
    for stack, (name, size, _) in whole.items():
        found = part.get(stack)
        same += size if found and found[0] == name else 0
        uncertain += size if found and found[2] else 0
    return [100 * x / total for x in (same, uncertain)]


with tempfile.TemporaryDirectory() as directory:
    whole = classes(directory, profiles)
    unsure = sum(size for _, size, is_uncertain in whole.values() if is_uncertain)
    total = sum(size for _, size, _ in whole.values())
    print(f"{len(profiles)} profiles, {len(whole)} contexts; uncertain: {100 * unsure / total:.1f} % of the bytes")
    print("   runs   same class (worst)   uncertain")
    for k in (k for k in STEPS if k < len(profiles)):
        rows = [shares(whole, classes(directory, random.Random(1000 * s + k).sample(profiles, k))) for s in range(SAMPLES)]
        same, uncertain = (sorted(column) for column in zip(*rows))
        middle = SAMPLES // 2
        print(f"{k:7}   {same[middle]:10.1f} ({same[0]:5.1f}) {uncertain[middle]:11.1f}", flush=True)
