"""compare_functions.py PAGE HEARTH PROFILE: the page's functions, their callers and callees, and its sums by file, library and type are
those of `hearth show`."""
import json
import re
import subprocess
import sys

from browser import Browser

page, hearth, profile = sys.argv[1:]
AMOUNT = r"([\d.]+ (?:B|[KMGT]iB))"
PER_CENT = r"\s+[\d.]+%\s+"
FUNCTION = re.compile(rf"\s+{AMOUNT}{PER_CENT}{AMOUNT}{PER_CENT}(\d+)\s+{AMOUNT}(?:\s+[\d.]+ [num]?s)?  (.+?)  (\S+)$")
# A line of a tree, whose indentation tells the level.
BRANCH = re.compile(rf"\s+{AMOUNT}{PER_CENT}\d+  (\s*)(.+?)(?:  \S+)?$")

ROWS = """groupsWith('flat').reduce((rows, g) => {
  const sums = groupSums(selectionNow);
  rows.push([bytesText(sums.flat[g]), bytesText(sums.cumulative[g]), String(sums.allocs[g]), bytesText(sums.live[g]),
    groupName(g), groupFile(g).slice(groupFile(g).lastIndexOf('/') + 1)]);
  return rows;
}, [])"""
RELATIVES = """Object.assign({}, ...Array.from(groupsWith('cumulative'), (g) => ({ [groupName(g)]:
  RELATIVES_OF(selectionNow, g).map(([other, sum]) => [bytesText(sum), other === ITSELF ? null : groupName(other)]) })))"""

# As the JSON has them: name, contexts, allocations and bytes of its own, bytes with all that it calls.
SUMS = """groupsWith('cumulative', BY).reduce((rows, g) => {
  const sums = groupSums(selectionNow, BY);
  rows.push([groupName(g, BY), sums.contexts[g], sums.allocs[g], sums.bytes[g], sums.cumulative[g]]);
  return rows;
}, [])"""


def show(*options):
    return subprocess.run([hearth, "show", *options, profile], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def level_of(line):
    return len(line.group(2)) // 2


def relatives(option, name):
    """Those of the first function of a tree, one level below it."""
    lines = [line for line in map(BRANCH.match, show(f"--{option}={name}")) if line]
    return [[line.group(1), line.group(3)] for line in lines if level_of(line) == 1]


def without_root(entries):
    """`show` has no line for a stack that begins with the function, and one for what it allocates itself."""
    return [[amount, name or "(allocates itself)"] for amount, name in entries]


with Browser() as browser:
    browser.open(page)
    rows = browser.run(ROWS)
    shown = [list(line.groups()) for line in map(FUNCTION.match, show("--by=function", "--full")) if line]
    assert shown and sorted(rows) == sorted(shown), [row for row in rows if row not in shown][:9] + [row for row in shown if row not in rows][:9]
    callers = browser.run(RELATIVES.replace("RELATIVES_OF", "callersOf"))
    callees = browser.run(RELATIVES.replace("RELATIVES_OF", "calleesOf"))
    pairs = 0
    for name in callers:
        assert [entry for entry in callers[name] if entry[1]] == relatives("callers", name), name
        assert without_root(callees[name]) == relatives("callees", name), (name, callees[name])
        pairs += len(callers[name]) + len(callees[name])
    print(f"{len(rows)} functions, {pairs} pairs")
    for by, groups in (("file", "files"), ("library", "libraries"), ("type", "types")):
        rows = browser.run(SUMS.replace("BY", f"'{by}'"))
        shown = [[group[by], *(group["all"][key] for key in ("contexts", "allocs", "bytes")), group["cumulative"]["bytes"]]
                 for group in json.loads("\n".join(show("--json", f"--by={by}", "--full")))[groups]]
        assert sorted(rows) == sorted(shown), (by, rows, shown)
        print(f"{len(rows)} by {by}")
    assert not browser.errors, browser.errors
