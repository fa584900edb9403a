#!/usr/bin/env python3
"""Compare the raw profile of a run that counted in bursts with one of all accesses.

usage: bursts.py PERCENT EXACT BURSTS   contexts must be the same, and sums of accesses over those of one size differ
                                        by at most so much, where there are many
"""
import collections
import subprocess
import sys
from pathlib import Path

LEAST = 100000  # accesses


def read(path):
    fields = ["AllocCount", "MinSize", "MaxSize", "TotalAccessCount"]
    printer = Path(__file__).with_name("raw_print.py")
    lines = subprocess.run([sys.executable, printer, path, *fields], check=True, capture_output=True, text=True).stdout
    contexts, sums = collections.Counter(), collections.Counter()
    for line in lines.splitlines():
        if not line.startswith("record: "):
            continue
        allocs, least, most, accesses = (int(word.split("=")[1]) for word in line.split()[1:5])
        contexts[allocs, least, most] += 1
        sums[least, most] += accesses
    return contexts, sums


def main():
    percent, exact, bursts = int(sys.argv[1]), read(sys.argv[2]), read(sys.argv[3])
    if exact[0] != bursts[0]:
        sys.exit(f"contexts differ: {exact[0]} {bursts[0]}")
    compared = 0
    for size, accesses in exact[1].items():
        if percent and accesses < LEAST:
            continue
        compared += accesses >= LEAST
        if abs(bursts[1][size] - accesses) * 100 > percent * accesses:
            sys.exit(f"blocks of {size} bytes: {accesses} accesses, in bursts {bursts[1][size]}")
    if compared < 3:
        sys.exit(f"too few accesses to compare: {exact[1]}")


main()
