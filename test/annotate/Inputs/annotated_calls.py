"""The annotated calls of a module as text, one a line and sorted: function, place, then the class that all contexts have, or the
contexts and `!callsite`; of other calls `!callsite`. Ids are written as the place of the call that has the id as its own, or ?."""
import re
import sys

lines = re.sub(r"\n +to label", " to label", open(sys.argv[1]).read()).splitlines()  # of invokes
nodes = dict(re.match(r"(!\d+) = (?:distinct )?(.*)", l).groups() for l in lines if re.match(r"!\d+ = ", l))
groups = dict(re.match(r"attributes (#\d+) = (.*)", l).groups() for l in lines if l.startswith("attributes "))


def operands(node):
    return re.match(r"!\{(.*)\}", nodes[node]).group(1).split(", ")


def ids(node):
    return " ".join(places.get(operand, "?") for operand in operands(node))


def attached(line, kind):
    found = re.search(rf"!{kind} (!\d+)", line)
    return found and found.group(1)


def place(line):
    location = nodes[attached(line, "dbg")]
    return ":".join((re.search(rf"\b{key}: (\d+)", location) or [0, "0"])[1] for key in ("line", "column"))


def annotated():
    function = None
    for line in lines:
        if line.startswith("define "):
            function = re.search(r"@([\w.]+)\(", line).group(1)
        if re.search(r"\b(call|invoke)\b", line) and attached(line, "dbg"):
            yield line, f"{function} {place(line)}"


places = {operands(attached(line, "callsite"))[0]: at.replace(" ", "@")
          for line, at in annotated() if attached(line, "callsite")}
calls = []
for line, at in annotated():
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
    calls.append(f"{at} {text}")
print("\n".join(sorted(calls)))
