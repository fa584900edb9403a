#!/usr/bin/env python3
"""Run endings.c with each way to end: exit status as without the runtime, one complete profile, no other file.

usage: endings.py PROGRAM DIRECTORY WAY=STATUS...    status as from subprocess: negative for signals"""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

BLOCKS = {10007: (100, 0), 20014: (3, 3), 30021: (1, 0)}  # size: blocks, of these live; no message of libc's is so long
EXTRA = {"exec-fails": {40028: (1, 0)}}


def records(path):
    """size: (blocks, of these live)"""
    tool = Path(__file__).parent / "raw_print.py"
    text = subprocess.run([sys.executable, tool, path, "MaxSize", "AllocCount", "LiveAtExit"], check=True,
                          capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        if line.startswith("record: "):
            size, count, live = (int(word.split("=")[1]) for word in line.split()[1:4])
            before = found.get(size, (0, 0))
            found[size] = (before[0] + count, before[1] + live)
        if line.startswith("profile: "):
            assert "dropped_blocks=0 dropped_stacks=0" in line, line
    return {size: found[size] for size in found if size % 10007 == 0}


def default_signals():
    """Background jobs of a shell have some ignored, and Python ignores others."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def check(program, directory, way, expected):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    env = dict(os.environ, HEARTH_OPTIONS=f"log_path={directory}/p")
    all_ended, held = os.pipe()
    process = subprocess.Popen([program, way], env=env, stderr=subprocess.DEVNULL, preexec_fn=default_signals,
                               pass_fds=[held])
    os.close(held)
    status = process.wait()
    os.read(all_ended, 1)  # when its children have ended, too
    os.close(all_ended)
    assert status == expected, f"{way}: exit status {status}, not {expected}"
    main = directory / f"p.{process.pid}"
    want = [{**BLOCKS, **EXTRA.get(way, {})}]
    if way == "exec-self":
        want.append({50035: (1, 1)})
    if way in ("fork", "fork-exec"):
        want.append({40028: (1, 0)})  # by the child
    if way == "daemon":
        want.append({40028: (1, 0)})  # by the child, which goes on alone
    files = sorted(directory.iterdir(), key=lambda file: (file.name.split(".")[1] != str(process.pid), file.name))
    got = [records(file) for file in files]
    assert files[0] == main and got == want, f"{way}: {files} have {got}, not {want}"


for argument in sys.argv[3:]:
    way, expected = argument.split("=")
    check(sys.argv[1], Path(sys.argv[2]), way, int(expected))
print(len(sys.argv) - 3, "endings")
