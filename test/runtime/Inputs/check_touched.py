"""Checks the classes that `hearth show --json` prints of the program hot-and-cold.c: counted, or estimated; estimates do not
always tell hot from notcold."""
import json
import sys

shown = json.load(sys.stdin)
found = {}
for function in shown["functions"]:
    for context in function["contexts"]:
        for frame in context["stack"]:
            found.setdefault(shown["frames"][frame]["function"], context["class"])
print({name: found[name] for name in found if name.startswith("make_")}, shown["classify"])
assert shown["accesses_counted"] and shown["accesses_estimated"] == (sys.argv[1] == "estimated")
for suffix in ("", "_buffer"):
    assert found["make_cold" + suffix] == "cold"
    assert found["make_hot" + suffix] in (("hot",) if sys.argv[1] == "counted" else ("hot", "notcold"))
