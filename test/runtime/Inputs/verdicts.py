#!/usr/bin/env python3
"""Compare the classes of contexts in two reports of `hearth show --json`.

usage: verdicts.py EXACT OTHER PERCENT    at least PERCENT of EXACT's bytes are in contexts of the same class in OTHER"""
import json
import sys


def frames(report):
    rows = report["frames"]
    return [json.dumps(row, sort_keys=True) for row in rows]


def classes(path):
    """stack: (class, bytes)"""
    report = json.load(open(path))
    names = frames(report)
    return {tuple(names[i] for i in context["stack"]): (context["class"], context["mib"]["TotalSize"])
            for function in report["functions"] for context in function["contexts"]}


exact, other = classes(sys.argv[1]), classes(sys.argv[2])
total = sum(size for _, size in exact.values())
same = sum(size for stack, (verdict, size) in exact.items() if other.get(stack, ("missing", 0))[0] == verdict)
assert len({verdict for verdict, _ in exact.values()}) > 1, "a test of one class only"
print("bytes with the same verdict: %.2f %%" % (100 * same / total))
assert 100 * same >= int(sys.argv[3]) * total
