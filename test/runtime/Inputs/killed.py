#!/usr/bin/env python3
"""Kill a program with SIGKILL at any moment: what it allocated until shortly before is in its profile.

usage: killed.py PROGRAM LOG_PATH OPTIONS TIMES    the program writes to stdout, every 50 ms of its time, how many blocks of
                                                   111 bytes it has freed, 8 bytes each

How old a profile may be is not a matter of the machine's time: what was reported before the last profile but one was
made is in it. A look sees one report and one profile at most."""
import os
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

SEED = 20201
REPORTS_MOST = 4  # for each profile, in the best run


class Profiles:
    """Counts the profiles that a file is replaced by, as far as they are seen."""

    def __init__(self, path):
        self.path, self.last, self.count = path, None, 0

    def look(self):
        if os.path.exists(self.path):
            info = os.stat(self.path)
            file = info.st_ino, info.st_mtime_ns
            self.count += file != self.last
            self.last = file
        return self.count


def records(path):
    tool = Path(__file__).parent / "raw_print.py"
    text = subprocess.run([sys.executable, tool, path, "MaxSize", "AllocCount"], check=True, capture_output=True,
                          text=True).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("record: ")]
    return {int(row[1].split("=")[1]): int(row[2].split("=")[1]) for row in rows}


def follow(process, path, seconds):
    """Watch the program until `seconds` after the first report that a profile must hold. Returns the last such, and how
    many reports came for each profile."""
    profiles, reports, held, end = Profiles(path), [], 0, None
    while not held or time.monotonic() < end:
        report, made = process.stdout.read(8), profiles.look()
        if report:
            reports.append((struct.unpack("<Q", report)[0], made))
        before = held
        held = max((count for count, earlier in reports if made >= earlier + 2), default=0)
        if held and not before:
            end = time.monotonic() + seconds
        time.sleep(0.005)
    return held, len(reports) / made


def kill_once(program, log_path, options, seconds):
    process = subprocess.Popen([program], env=dict(os.environ, HEARTH_OPTIONS=f"log_path={log_path}:{options}"),
                               stdout=subprocess.PIPE, bufsize=0)
    os.set_blocking(process.stdout.fileno(), False)
    path = f"{log_path}.{process.pid}"
    held, reports_each = follow(process, path, seconds)
    process.kill()
    assert process.wait() == -9, process.returncode
    found = records(path)
    assert found[222] == 1 and found[111] >= held, f"seed {SEED}: {found}, {held}"
    return reports_each


program, log_path, options, times = sys.argv[1:5]
chance = random.Random(SEED)
reports_each = [kill_once(program, log_path, options, chance.uniform(0, 0.5)) for _ in range(int(times))]
assert min(reports_each) < REPORTS_MOST, f"too few profiles: {reports_each} reports for each"
print("killed:", len(reports_each))
