#!/usr/bin/env python3
"""Compare call stacks of a profile with those that the program printed.

usage: backtraces.py PROFILE OUTPUT    lines of OUTPUT: program|library|nobody SIZE RETURN-ADDRESS...
                                       the addresses are those behind the function of the program that allocates
"""
import sys
from collections import Counter
from pathlib import Path

import raw_print

START_CODE = 2  # frames of the C library's that may be missing at the outer end
STACK_DEPTH = 64


def printed(name):
    stacks = Counter()
    for line in Path(name).read_text().splitlines():
        by, size, *pcs = line.split()
        if by != "nobody":
            stacks[by, int(size), tuple(int(pc) - 1 for pc in pcs)] += 1
    return stacks


def recorded(name):
    data = Path(name).read_bytes()
    stack_at, stack_n, mib_at, mib_n = raw_print.HEADER.unpack_from(data)[6:10]
    nodes, _ = raw_print.read_nodes(data, stack_at, stack_n)
    stacks = Counter()
    for leaf, mib in raw_print.read_mibs(data, mib_at, mib_n)[0]:
        pcs = []
        while leaf != 0xFFFFFFFF:
            pc, leaf = nodes[leaf]
            pcs.append(pc)
        stacks[mib["MaxSize"], tuple(pcs)] += mib["AllocCount"]
    return stacks


def agree(by, own, callers):
    """Does the stack `own` go on with these callers, behind the allocating function or functions?"""
    if callers[0] not in own:
        return False
    begin = own.index(callers[0])
    common = own[begin:]
    complete = len(common) >= len(callers) - START_CODE or len(own) == STACK_DEPTH
    return (begin == 1 if by == "program" else begin > 1) and common == callers[: len(common)] and complete


def main(profile, output):
    stacks, wanted, wrong = recorded(profile), printed(output), 0
    assert len(wanted) > 20, "few stacks"
    for (by, size, callers), count in wanted.items():
        found = sum(n for (s, own), n in stacks.items() if s == size and agree(by, own, callers))
        if found != count:
            wrong += 1
            print("%s %d: %d blocks, not %d, of" % (by, size, found, count), *map(hex, callers))
    print(len(wanted), "stacks,", wrong, "wrong")
    return wrong > 0


sys.exit(main(*sys.argv[1:]))
