#!/usr/bin/env python3
"""Kill a program with SIGKILL at any moment: what it allocated until shortly before is in its profile.

usage: killed.py PROGRAM LOG_PATH OPTIONS TIMES    the program writes to stdout, every 50 ms, how many blocks of 111 bytes
                                                   it has freed, 8 bytes each"""
import os
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

SEED = 20201
# The snapshot is a few intervals old at most; a busy machine may stop the program while it makes one.


def records(path):
    tool = Path(__file__).parent / "raw_print.py"
    text = subprocess.run([sys.executable, tool, path, "MaxSize", "AllocCount"], check=True, capture_output=True,
                          text=True).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("record: ")]
    return {int(row[1].split("=")[1]): int(row[2].split("=")[1]) for row in rows}


def kill_once(program, log_path, options, seconds):
    process = subprocess.Popen([program], env=dict(os.environ, HEARTH_OPTIONS=f"log_path={log_path}:{options}"),
                               stdout=subprocess.PIPE)
    time.sleep(seconds)
    process.kill()
    written = process.stdout.read()
    assert process.wait() == -9, process.returncode
    reports = [count for count, in struct.iter_unpack("<Q", written[: len(written) // 8 * 8])]
    if len(reports) < 6:
        return False
    found = records(f"{log_path}.{process.pid}")
    assert found[222] == 1 and found[111] >= reports[-5], f"seed {SEED}: {found}, {reports}"
    return True


program, log_path, options, times = sys.argv[1:5]
chance = random.Random(SEED)
checked = sum(kill_once(program, log_path, options, chance.uniform(0.05, 1)) for _ in range(int(times)))
assert checked >= int(times) // 4, f"only {checked} runs lived long enough"
print("killed:", checked)
