"""Checks what `hearth show --together --json` prints of the lists a, b and c of used-together.c.

a and b are walked side by side in one half of the run, c in the other one. While they are made, all three are touched."""
import json
import sys

shown = json.load(sys.stdin)
rows, places = {}, {}
for row in shown["contexts"]:
    for position in row["stack"]:
        name = shown["frames"][position]["function"]
        if name.startswith("make_"):
            rows[name[-1]], places[row["row"]] = row, name[-1]
pairs = {places[p["a"]] + places[p["b"]]: p for p in shown["pairs"] if p["a"] in places and p["b"] in places}


def of_pair(x, y, field):
    return pairs.get(x + y, pairs.get(y + x, {})).get(field, 0)


print(shown["windows"], {name: (row["windows"], row["live"]) for name, row in rows.items()}, pairs)
assert shown["windows"] >= 8 and shown["lost_pairs"] == 0
assert min(rows[x]["windows"] for x in "abc") >= 2
least = min(rows["a"]["windows"], rows["b"]["windows"])
assert of_pair("a", "b", "windows") >= 0.8 * least
# A window or two of a short run fall on the making of the lists, but they see few lines.
assert 10 * max(of_pair("a", "c", "lines"), of_pair("b", "c", "lines")) <= of_pair("a", "b", "lines")
for row in rows.values():
    # Sums of a scaled sample are rounded.
    assert row["pages"] <= row["lines"] <= 64 * row["pages"] + 32 and row["windows"] <= shown["windows"]
    assert 30000 < row["live"] / shown["windows"] < 150000
