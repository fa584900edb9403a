#!/usr/bin/env python3
"""Compare the estimates of a sampled profile with the truth.

usage: near.py PRINTED SIZE FIELD=VALUE...    PRINTED: raw_print.py's output for records of this MaxSize, which are added
                                              up. Allowed are 5 of the standard deviations that docs/options.md states."""
import sys

printed, size = sys.argv[1:3]
lines = open(printed).read().splitlines()
mean = next(int(line.split()[1]) for line in lines if line.startswith("sampled: "))
records = [dict(word.split("=") for word in line.split("|")[0].split()[1:]) for line in lines
           if line.startswith("record: MaxSize=%s " % size)]
truth = {field: int(value) for field, value in (argument.split("=") for argument in sys.argv[3:])}
allowed = 5 * (mean / truth["TotalSize"]) ** 0.5
assert allowed < 0.2, allowed
for field, value in truth.items():
    found = sum(int(record[field]) for record in records)
    assert abs(found - value) <= allowed * value, f"{field}: {found}, not {value} within {allowed:.1%}"
