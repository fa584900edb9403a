"""Checks the picks that `hearth show --json` prints of the lists a, b and c of own-thread.c.

a and b are walked in the first quarter of the run, c in the rest. `none`: there are no picks, or hardly any."""
import json
import sys

shown = json.load(sys.stdin)
picks = {}
for function in shown["functions"]:
    for context in function["contexts"]:
        for position in context["stack"]:
            name = shown["frames"][position]["function"]
            if name.startswith("make_"):
                picks[name[-1]] = context["mib"].get("Picks", 0), context["mib"].get("LatePicks", 0)
print(picks)
assert sorted(picks) == ["a", "b", "c"]
if sys.argv[1:] == ["none"]:
    assert sum(count for count, _ in picks.values()) < 50
else:
    assert min(count for count, _ in picks.values()) >= 100
    for name, (count, late) in picks.items():
        assert late > 0.9 * count if name in "ab" else late < 0.1 * count
