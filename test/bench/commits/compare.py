#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the requests of two builds of one program (hints.c), one by one: all bytes, and per cent of them that have a hint
by the second build, hints of one kind by both, and one hint. Fails if the requests are not of the same sizes."""
import array
import sys


def read(name):
    rows = array.array("Q")
    with open(name, "rb") as file:
        rows.frombytes(file.read())
    return rows


def kind_of(hint):
    return "cold" if hint < 64 else "id" if hint >= 223 else "none"


a, b = read(sys.argv[1]), read(sys.argv[2])
if len(a) != len(b) or any(x >> 8 != y >> 8 for x, y in zip(a, b)):
    sys.exit(f"{sys.argv[1]} and {sys.argv[2]}: the programs did not allocate the same in the same order")
total = hinted = same_kind = same_hint = 0
for x, y in zip(a, b):
    size = x >> 8
    total += size
    hinted += size * (kind_of(y & 255) != "none")
    same_kind += size * (kind_of(x & 255) == kind_of(y & 255))
    same_hint += size * (x == y)
print(f"{total:14d}{100 * hinted / total:14.1f}{100 * same_kind / total:14.1f}{100 * same_hint / total:14.1f}")
