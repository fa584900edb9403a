# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""open_page.py PAGE ROUNDS: seconds until a page is drawn, and until what a reader does is, in Chromium: least, median and
greatest of the rounds."""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "report", "Inputs"))
from browser import Browser  # noqa: E402

TIMED = "(() => { const begin = performance.now(); ACTION; return (performance.now() - begin) / 1000; })()"
ACTIONS = {
    "filter by text": "setFilter(data.functions.name[1].slice(0, 3))",
    "filter taken away": "setFilter('')",
    "functions": "openTab('functions')",
    "callers and callees": "choose({ group: tables.functions.order[0] })",
    "contexts": "openTab('contexts')",
    "sort by function": "tables.contexts.sortBy(contextColumns[0])",
    "scroll the table": "tables.contexts.moveTo(contexts.count - 1)",
    "flame graph": "openTab('flame')",
    "zoom": "zoomFlame(flame.rows[1][0].node)",
    "allocation first": "byId('flame-mode').value = 'reversed'; update()",
}


def measure(page):
    with Browser() as browser:
        yield "load and draw", browser.open(page)
        for name, action in ACTIONS.items():
            yield name, browser.run(TIMED.replace("ACTION", action))
        yield "memory of the script, MiB", browser.send("Runtime.getHeapUsage")["usedSize"] / 2**20
        assert not browser.errors, browser.errors


page, rounds = sys.argv[1], int(sys.argv[2])
figures = {}
for _ in range(rounds):
    for name, value in measure(page):
        figures.setdefault(name, []).append(value)
for name, values in figures.items():
    print(f"{name:32}{min(values):10.2f}{statistics.median(values):10.2f}{max(values):10.2f}")
