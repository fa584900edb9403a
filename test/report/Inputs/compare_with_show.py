"""compare_with_show.py PAGE SHOW: the page is well-formed, fetches nothing, and has the contexts of `hearth show --json`."""
import json
import re
import sys
from collections import Counter

from page_data import Data

page = Data(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    show = json.load(file)

outside_data = page.text.replace(page.page.scripts[0], "")
assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", outside_data), "a resource from elsewhere"


def place(number):
    frame = show["frames"][number]
    return frame["function"], frame["file"], frame["line"], frame["column"]


rows = Counter()
for function in show["functions"]:
    for context in function["contexts"]:
        mib = context["mib"]
        several = "(several types)" if mib["DataTypeId"] == 2**64 - 1 else None
        rows[(context["class"], context.get("type", several), tuple(map(place, context["stack"])), mib["AllocCount"],
              mib["TotalSize"], mib["TotalAccessCount"], mib["TotalLifetime"])] += 1
assert rows == Counter(page.rows()), f"only one side: {rows ^ Counter(page.rows())}"

for name, totals in show["classes"].items():
    selected = [row for row in page.rows() if row[0] == name]
    sums = [len(selected)] + [min(sum(row[i] for row in selected), 2**64 - 1) for i in (3, 4, 5)]
    assert sums == [totals[key] for key in ("contexts", "allocs", "bytes", "accesses")], f"{name}: {sums}, {totals}"

cells = page.json["plots"]["lifetime-size"]["cells"]
quantity = {entry["key"]: i + 2 for i, entry in enumerate(page.json["quantities"])}
for key in ("allocs", "bytes"):
    assert min(sum(cell[quantity[key]] for cell in cells), 2**64 - 1) == show["selected"][key], key

print(f"{page.contexts['count']} contexts, title {page.page.titles[0]!r}")
