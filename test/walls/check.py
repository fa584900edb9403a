#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles an example file for each arrow of arrows.txt, with the flags of a file of its folder.

usage: check.py SOURCE-TREE BUILD-TREE
"""

import fnmatch
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PARTS = ("annotate", "mdlib", "profile", "runtime")


def read_arrows(path):
    """Rows of (pattern of a source file, header, whether it goes)."""
    arrows = []
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 3 or words[2] not in ("goes", "stops"):
            sys.exit(f"{path}: '{line}': write FILE HEADER goes|stops")
        arrows.append((words[0], words[1], words[2] == "goes"))
    return arrows


def flags_of(entry):
    """The compiler and its flags, without input, output and dependency files."""
    words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
    kept, skip = [], False
    for word in words:
        if skip or word in ("-c", "-MD", entry["file"]):
            skip = False
        elif word in ("-o", "-MT", "-MF"):
            skip = True
        else:
            kept.append(word)
    return kept


def include(flags, header, empty):
    """Compiles a file that includes the header, from a folder without any."""
    return subprocess.run(flags + ["-fsyntax-only", "-x", "c", "-"], input=f'#include "{header}"\n',
                          capture_output=True, text=True, cwd=empty)


def judge(result, header, goes):
    """What is wrong, or None."""
    if goes:
        return None if result.returncode == 0 else f"does not compile:\n{result.stderr}"
    if result.returncode == 0:
        return "compiles"
    missing = re.search(re.escape(header) + r".*(No such file|file not found)", result.stderr)
    return None if missing else f"fails for another reason:\n{result.stderr}"


def main():
    source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    arrows = read_arrows(source / "test/walls/arrows.txt")
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].startswith(f"{source}{os.sep}"):
            entries.setdefault(entry["file"][len(str(source)) + 1:], entry)
    headers = [path.as_posix() for part in PARTS for path in (source / part).rglob("*.h")]
    failures = []
    with tempfile.TemporaryDirectory() as empty:
        for pattern, header, goes in arrows:
            files = sorted(fnmatch.filter(entries, pattern))
            if not files:
                failures.append(f"{pattern}: no file of this name is compiled")
                continue
            if not goes and not any(h.endswith("/" + header) for h in headers):
                failures.append(f"{header}: no header of this name, so that it stops shows nothing")
            wrong = judge(include(flags_of(entries[files[0]]), header, empty), header, goes)
            if wrong:
                failures.append(f"{files[0]} -> {header}: {wrong}")
    for part in PARTS:
        for goes in (True, False):
            if not any(row[0].startswith(part + "/") and row[2] == goes for row in arrows):
                failures.append(f"arrows.txt: {part} has no row '{'goes' if goes else 'stops'}'")
    print("\n".join(failures) or f"{len(arrows)} arrows are as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
