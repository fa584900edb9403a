# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses to the blocks of each function make_...: PROGRAM LISTING DHAT, of hearth show --json and of valgrind's DHAT, in units of 8
bytes. Exit status 1 if some differ by more than 5 %."""

import collections
import json
import re
import sys

MAKER = re.compile(r"\bmake_(\w+)")


def maker(functions):
    """What is allocated for, by the names of a stack's functions, leaf first; None: the program itself."""
    return next((found[1] for found in map(MAKER.search, functions) if found), None)


def counted(path):
    with open(path, encoding="utf-8") as file:
        listing = json.load(file)
    sums = collections.Counter()
    for function in listing["functions"]:
        for context in function["contexts"]:
            stack = [listing["frames"][i]["function"] for i in context["stack"]]
            sums[maker(stack)] += context["mib"].get("TotalAccessCount", 0)
    return sums


def observed(path):
    with open(path, encoding="utf-8") as file:
        dump = json.load(file)
    sums = collections.Counter()
    for point in dump["pps"]:
        sums[maker(dump["ftbl"][i] for i in point["fs"])] += (point["rb"] + point["wb"]) / 8
    return sums


def main():
    program, listing, dhat = sys.argv[1:]
    ours, theirs = counted(listing), observed(dhat)
    worst = 0
    for name in sorted(filter(None, ours.keys() | theirs.keys())):
        difference = ours[name] / theirs[name] - 1 if theirs[name] else float("inf")
        worst = max(worst, abs(difference))
        mark = "  differs" if abs(difference) > 0.05 else ""
        print(f"{program:<10} {name:<18} {ours[name]:10.0f} {theirs[name]:10.0f} {100 * difference:+8.1f}%{mark}")
    return worst > 0.05


sys.exit(main())
