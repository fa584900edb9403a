# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HEARTH PROGRAM: start and stop sampling in the running program twenty times, ask for a part each time, and look at what the
process holds. Or - FUNCTION ALLOCATIONS BYTES: a listing's sums of a function, which is the only one of its kind."""

import json
import os
import subprocess
import sys


def check_listing(function, allocations, size):
    listing = json.load(sys.stdin)
    names = [frame["function"] for frame in listing["frames"]]
    found = [c["mib"] for f in listing["functions"] for c in f["contexts"] if any(names[i] == function for i in c["stack"])]
    sums = sum(m["AllocCount"] for m in found), sum(m["TotalSize"] for m in found)
    assert sums == (allocations, size), sums
    assert "work_alone" not in names, names


def held(pid):
    """Descriptors and mappings of a process."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        return len(os.listdir(f"/proc/{pid}/fd")), len(file.readlines())


def order(program, letter):
    program.stdin.write(letter)
    program.stdin.flush()
    assert program.stdout.read(1) == letter


def main():
    hearth, path = sys.argv[1:]
    with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        order(program, "a")

        def ask(*arguments):
            subprocess.run([hearth, "dump", *arguments, str(program.pid)], check=True, stdout=subprocess.DEVNULL)

        for turn in range(20):
            ask("--sampling=on")
            order(program, "r")
            ask("--sampling=off")
            ask()
            order(program, "a")
            if turn == 4:
                before = held(program.pid)
        after = held(program.pid)
        ask("--sampling=on")
        order(program, "k")
        program.stdin.close()
        assert program.wait() == 0
    assert after[0] == before[0] and after[1] <= before[1] + 2, (before, after)


if sys.argv[1] == "-":
    check_listing(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    main()
