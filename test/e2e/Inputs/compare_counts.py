#!/usr/bin/env python3
"""Compare a profile, context by context, with LLVM's of the same code and run, and with what an oracle counted.

usage: compare_counts.py TITLE HEARTH_JSON LLVM_JSON ORACLE_FOLDER ORACLE_BINARY

The JSON is `hearth show --json`'s; the folder has the file `stacks` (test/runtime/Inputs/oracle.c). Contexts are told apart by
function, line and column of their frames, from the leaf to main; what was allocated in another way is left out."""
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

SYMBOLIZER = "/usr/lib/llvm-22/bin/llvm-symbolizer"
LIBRARIES = 1 << 32  # lie above this address, and the program, which is not position-independent, below


def place(function, line, column):
    return function, line, column if line else 0  # without line, a column is none


def to_main(frames):
    """The frames up to main's; None: they do not lead there."""
    for i, (function, _, _) in enumerate(frames):
        if function == "main":
            return tuple(frames[: i + 1])
    return None


def read_profile(path):
    profile = json.loads(Path(path).read_text())
    frames = [place(f["linkage_name"], f["line"], f["column"]) for f in profile["frames"]]
    contexts = {}
    for context in (c for function in profile["functions"] for c in function["contexts"]):
        stack = to_main([frames[i] for i in context["stack"]])
        if stack:
            assert stack not in contexts, "contexts are distinct"
            contexts[stack] = context["mib"]
    return contexts


def read_oracle(folder, binary):
    rows = [line.split() for line in (Path(folder) / "stacks").read_text().splitlines()]
    rows = [row[:3] + [address for address in row[3:] if int(address, 16) < LIBRARIES] for row in rows]
    addresses = sorted({address for row in rows for address in row[3:]})
    output = subprocess.run([SYMBOLIZER, "--inlines", "--output-style=JSON", "--no-demangle", f"--obj={binary}"],
                            input="\n".join(addresses) + "\n", capture_output=True, text=True, check=True).stdout
    frames = {}
    for line in output.splitlines():
        answer = json.loads(line)
        frames[int(answer["Address"], 16)] = [place(s["FunctionName"], s["Line"], s["Column"]) for s in answer["Symbol"]]
    contexts = defaultdict(Counter)
    for row in rows:
        stack = to_main([frame for address in row[3:] for frame in frames[int(address, 16)]])
        if stack:
            contexts[stack].update(dict(zip(("AllocCount", "TotalSize", "TotalAccessCount"), map(int, row[:3]))))
    return contexts


def compare(what, ours, others, fields):
    """Prints what differs. Returns how many contexts do."""
    wrong = 0
    for stack in {*ours, *others}:
        a, b = (tuple(side[stack][field] for field in fields) if stack in side else None for side in (ours, others))
        if a != b:
            wrong += 1
            if wrong <= 10:
                print(f"  {fields}: ours {a}, {what} {b}:", *(f"{name}:{line}:{column}" for name, line, column in stack))
    return wrong


def main():
    title, hearth, llvm, folder, binary = sys.argv[1:]
    ours, others, oracle = read_profile(hearth), read_profile(llvm), read_oracle(folder, binary)
    sizes = compare("LLVM's", ours, others, ("AllocCount", "TotalSize", "MinSize", "MaxSize"))
    accesses = compare("the oracle's", ours, oracle, ("AllocCount", "TotalSize", "TotalAccessCount"))
    differ = sum(others[stack]["TotalAccessCount"] != ours[stack]["TotalAccessCount"] for stack in {*ours} & {*others})
    print(f"{title}: {len(ours)} contexts, {sum(m['AllocCount'] for m in ours.values())} blocks,",
          f"{sum(m['TotalAccessCount'] for m in ours.values())} accesses; counts and sizes differ from LLVM's in {sizes},",
          f"accesses from the oracle's in {accesses} contexts (LLVM's accesses from ours in {differ})")
    return 1 if sizes or accesses or not ours else 0


if __name__ == "__main__":
    sys.exit(main())
