"""Checks what `hearth show --json` prints of the program hot-and-cold.c. Hot blocks have several times the accesses a byte of
cold ones. counted, estimated: the classes, too. An estimate may
call hot nodes notcold. It takes each touch of a page for the same number of accesses, so that the hot buffer may get less than
a hundredth of the nodes' accesses; classes are shares of the run's accesses, and may then call it cold."""
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
    if sys.argv[1] == "counted":
        assert found[hot] == "hot"
if sys.argv[1] == "estimated":
    assert found["make_hot"] in ("hot", "notcold")
