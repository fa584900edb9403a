"""drive_comparison.py PAGE: print what a page of two profiles says, in Chromium."""
import sys

from browser import Browser

CELLS = ".map((row) => [...row.children].map((cell) => cell.textContent).join(' | '))"

with Browser() as browser:
    browser.open(sys.argv[1])
    print("facts:", browser.run("byId('facts').textContent"))
    for row in browser.run(f"[...document.querySelector('#summary table').querySelectorAll('tr')]{CELLS}"):
        print("change:", row)
    browser.run("openTab('functions')")
    for row in browser.run("[...document.querySelectorAll('#functions-table-view .row')].filter((row) => !row.hidden)"
                           ".map((row) => [0, 1, 2].map((i) => row.children[i].textContent).join(' | '))"):
        print("function:", row)
    browser.run("openTab('flame')")
    print("legend:", browser.run("byId('flame-legend').textContent"))
    print("flame:", browser.run("byId('flame-text').textContent"))
    for box in browser.run("flame.rows[2].map((box) => `${bytesText(flame.sums.all[box.node])} ${nodeName(flame.tree, box.node)}`)"):
        print("box:", box)
    print("tabs:", browser.run("[...document.querySelectorAll('#tabs button')].map((tab) => tab.textContent).join(', ')"))
    print("errors:", browser.errors)
