#!/usr/bin/env python3
"""Run crash.c with signals: with the runtime's handlers, the status says as much of a core file as without them.

usage: cores.py PROGRAM DIRECTORY SIGNAL..."""
import os
import resource
import signal
import sys
from pathlib import Path


def allow_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def run(program, directory, number, options):
    """The wait status."""
    child = os.fork()
    if child == 0:
        os.chdir(directory)
        allow_cores()
        signal.signal(number, signal.SIG_DFL)
        os.environ["HEARTH_OPTIONS"] = options
        os.execv(program, [program, str(int(number))])
    return os.waitpid(child, 0)[1]


program, directory = sys.argv[1:3]
for name in sys.argv[3:]:
    number = signal.Signals["SIG" + name]
    plain = run(program, directory, number, "handle_signals=0:dump_at_exit=0")
    status = run(program, directory, number, f"log_path={directory}/{name}")
    assert os.WTERMSIG(plain) == os.WTERMSIG(status) == number, (name, plain, status)
    assert os.WCOREDUMP(plain) == os.WCOREDUMP(status), f"{name}: core {os.WCOREDUMP(status)}, not {os.WCOREDUMP(plain)}"
    assert len(list(Path(directory).glob(name + ".*"))) == 1, f"{name}: no profile"
    print(name, "with core" if os.WCOREDUMP(plain) else "without core")
