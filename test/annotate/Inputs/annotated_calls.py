"""The annotated calls of a module as text, one a line and sorted: function, place, then the class that all contexts have, or the
contexts and the ids of `!callsite`; of other calls the ids of `!callsite`."""
import re
import sys

lines = open(sys.argv[1]).read().splitlines()
nodes = dict(re.match(r"(!\d+) = (?:distinct )?(.*)", l).groups() for l in lines if re.match(r"!\d+ = ", l))
groups = dict(re.match(r"attributes (#\d+) = (.*)", l).groups() for l in lines if l.startswith("attributes "))


def operands(node):
    return re.match(r"!\{(.*)\}", nodes[node]).group(1).split(", ")


def ids(node):
    return " ".join(str(int(o.split()[1]) & (1 << 64) - 1) for o in operands(node))


def attached(line, kind):
    found = re.search(rf"!{kind} (!\d+)", line)
    return found and found.group(1)


def place(line):
    location = nodes[attached(line, "dbg")]
    return ":".join(re.search(rf"\b{key}: (\d+)", location).group(1) for key in ("line", "column"))


function, calls = None, []
for line in lines:
    if line.startswith("define "):
        function = re.search(r"@([\w.]+)\(", line).group(1)
    if not re.search(r"\b(call|invoke)\b", line) or not attached(line, "dbg"):
        continue
    group = re.search(r"\) (#\d+)", line)
    hint = re.search(r'"memprof"="(\w+)"', groups.get(group.group(1), "") if group else "")
    contexts, callsite = attached(line, "memprof"), attached(line, "callsite")
    if contexts:
        mibs = (operands(mib)[:2] for mib in operands(contexts))
        text = "; ".join(sorted(f"{ids(stack)} {kind}" for stack, kind in mibs)) + f" at {ids(callsite)}"
    elif hint:
        text = hint.group(1)
    elif callsite:
        text = f"at {ids(callsite)}"
    else:
        continue
    calls.append(f"{function} {place(line)} {text}")
print("\n".join(sorted(calls)))
