"""Checks what `hearth show --json` prints of the program hot-and-cold.c. counted, estimated: the classes; estimates do not
always tell hot from notcold. parted: hot blocks have several times the accesses a byte of cold ones; where other blocks are
busier still, classes, which compare with the run's mean, may call both cold."""
import json
import sys

shown = json.load(sys.stdin)
found, per_byte = {}, {}
for function in shown["functions"]:
    for context in function["contexts"]:
        for frame in context["stack"]:
            name = shown["frames"][frame]["function"]
            found.setdefault(name, context["class"])
            per_byte.setdefault(name, context["mib"]["TotalAccessCount"] / context["mib"]["TotalSize"])
print({name: (found[name], round(per_byte[name], 2)) for name in found if name.startswith("make_")}, shown["classify"])
assert shown["accesses_counted"] and shown["accesses_estimated"] == (sys.argv[1] != "counted")
for suffix in ("", "_buffer"):
    hot, cold = "make_hot" + suffix, "make_cold" + suffix
    assert per_byte[hot] >= 5 * per_byte[cold]
    if sys.argv[1] != "parted":
        assert found[cold] == "cold"
        assert found[hot] in (("hot",) if sys.argv[1] == "counted" else ("hot", "notcold"))
