#!/usr/bin/env python3
"""Compare the accesses that the oracle counted (oracle.c) with those of a profile (printed by raw_print.py).

usage: counts.py ORACLE PROFILE"""
import re
import sys
from collections import Counter
from pathlib import Path

oracle = {}
for line in Path(sys.argv[1]).read_text().splitlines():
    size, blocks, accesses = map(int, line.split())
    if accesses:  # libc's own blocks are made with one runtime and not the other, and never counted
        oracle[size] = accesses
profile, mixed = Counter(), False
for line in Path(sys.argv[2]).read_text().splitlines():
    fields = {name: int(value) for name, value in re.findall(r"\b([A-Z]\w+)=(\d+)", line)}
    if fields.get("TotalAccessCount"):
        mixed |= fields["MinSize"] != fields["MaxSize"]
        profile[fields["MinSize"]] += fields["TotalAccessCount"]
if mixed:
    oracle, profile = {"all": sum(oracle.values())}, {"all": sum(profile.values())}
if not oracle or oracle != dict(profile):
    wrong = {k: (oracle.get(k, 0), profile.get(k, 0)) for k in {*oracle, *profile} if oracle.get(k, 0) != profile.get(k, 0)}
    sys.exit(f"{sys.argv[2]}: by size, oracle's and ours: {wrong}")
