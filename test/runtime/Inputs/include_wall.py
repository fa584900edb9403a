#!/usr/bin/env python3
"""include_wall.py COMPILE_COMMANDS SOURCE HEADER...: which headers a source of the build may include.

Each header is compiled alone with the flags of the source; one line each, 'HEADER: yes' or 'HEADER: no'."""
import json
import shlex
import subprocess
import sys

commands, source, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
entry = next(entry for entry in json.load(open(commands)) if entry["file"].endswith(source))
words = shlex.split(entry["command"])
flags = [word for word in words if word.startswith(("-I", "-D", "-std="))]
compiler = next(word for word in words if word.endswith(("cc", "gcc", "clang")))
for header in headers:
    result = subprocess.run([compiler, *flags, "-fsyntax-only", "-xc", "-"], input=f'#include "{header}"\n', text=True,
                            cwd=entry["directory"], stderr=subprocess.PIPE)
    missing = "No such file" in result.stderr or "file not found" in result.stderr
    print(f"{header}: {'yes' if result.returncode == 0 else 'no' if missing else result.stderr}")
