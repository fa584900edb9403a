"""drive_owners.py PAGE: print the functions of the table, and those that a flame graph begins with, allocation first."""
import sys

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    browser.run("openTab('contexts')")
    print("table:", *browser.run("[...document.querySelectorAll('#table-view .row')].filter((row) => !row.hidden)"
                                 ".map((row) => row.children[tables.contexts.visible.findIndex((column) => column.name === 'function')].textContent)"))
    print("reversed:", *sorted(browser.run("(() => { const tree = treeOf('reversed'); const names = [];"
                                           "for (let node = tree.child[0]; node > 0; node = tree.sibling[node]) {"
                                           "names.push(nodeName(tree, node)); } return names; })()")))
    print("columns:", browser.run("tables.contexts.visible.map((column) => column.name).join(', ')"))
    print("classes:", browser.run("byId('class-boxes').clientWidth > 0"))
    print("tabs:", browser.run("[...document.querySelectorAll('#tabs button')].map((tab) => tab.textContent).join(', ')"))
    print("heap over time:", browser.run("heapPlot && heapPlot.most < 1.5 * heapPlot.peakBytes"))
    print("errors:", browser.errors)
