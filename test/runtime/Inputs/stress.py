#!/usr/bin/env python3
"""Compare what processes counted with their profiles: stress.py DIRECTORY, with `counts` and p.PID in it."""
import re
import subprocess
import sys
from pathlib import Path

directory = Path(sys.argv[1])
tool = Path(__file__).parent / "raw_print.py"
processes = blocks = wrong = 0
for line in (directory / "counts").read_text().splitlines():
    pid, *counts = line.split()
    expected = {int(size): int(count) for size, count in (word.split("=") for word in counts)}
    text = subprocess.run([sys.executable, tool, directory / f"p.{pid}", "MaxSize", "AllocCount"], check=True,
                          capture_output=True, text=True).stdout
    found = dict.fromkeys(expected, 0)
    for size, count in re.findall(r"^record: MaxSize=(\d+) AllocCount=(\d+) ", text, re.M):
        if int(size) in found:
            found[int(size)] += int(count)
    if found != expected:
        wrong += 1
        print("process", pid, "counted", expected, "but its profile has", found, text.splitlines()[0])
    # The library was closed when the profile was written, and opened before at any addresses.
    of_library = re.findall(r"MaxSize=2411 AllocCount=(\d+) \| stress\.c\.tmp\.so\+", text)
    assert sum(map(int, of_library)) == expected[2411], text
    processes += 1
    blocks += sum(expected.values())
left = [file.name for file in directory.iterdir() if file.suffix == ".tmp" or not re.match(r"p\.\d+$|counts$", file.name)]
assert not left, left
print(processes, "processes,", blocks, "blocks,", wrong, "wrong")
