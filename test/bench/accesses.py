# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the classes of two listings (hearth show --json) of one program: NAME COUNTED LOOKS."""

import collections
import json
import sys


def contexts(path):
    """The class, bytes and byte-seconds of each context, by its stack."""
    with open(path, encoding="utf-8") as file:
        listing = json.load(file)
    frames = [(f["function"], f["line_offset"], f["column"], f["discriminator"]) for f in listing["frames"]]
    found = {}
    for function in listing["functions"]:
        for context in function["contexts"]:
            mib = context["mib"]
            stack = tuple(frames[i] for i in context["stack"])
            lives = mib["TotalSize"] / max(1, mib["AllocCount"]) * mib["TotalLifetime"] / 1e9
            found[stack] = (context["class"], mib["TotalSize"], lives)
    return found


def share(part, whole):
    return f"{100 * part / whole:6.1f}%" if whole else "   none"


def compare(counted, looks, weight):
    """Sums of one weight, by pairs of classes; a context that the looks did not see is unknown to them."""
    sums = collections.Counter()
    for stack, of in counted.items():
        sums[of[0], looks[stack][0] if stack in looks else "unknown"] += of[weight]
    return sums


def report(title, sums):
    whole = sum(sums.values())
    equal = sum(n for (a, b), n in sums.items() if a == b)
    cold_equal = sum(n for (a, b), n in sums.items() if (a == "cold") == (b == "cold"))
    cold, found = (sum(n for pair, n in sums.items() if pair[i] == "cold") for i in (0, 1))
    both = sums["cold", "cold"]
    print(f"  {title}: equal {share(equal, whole)}, cold or not {share(cold_equal, whole)}; cold {share(cold, whole)} of all, "
          f"precision {share(both, found)}, recall {share(both, cold)}")
    for (a, b), n in sorted(sums.items(), key=lambda item: -item[1]):
        if a != b and n > 0.001 * whole:
            print(f"    {share(n, whole)} counted {a}, looks {b}")


def main():
    name, counted, looks = sys.argv[1], contexts(sys.argv[2]), contexts(sys.argv[3])
    print(f"{name}: {len(counted)} contexts counted, {len(looks)} with looks")
    report("bytes", compare(counted, looks, 1))
    report("live ", compare(counted, looks, 2))


main()
