"""check_help.py HEARTH SOURCES TOOLS.md: every command's help has each option of its table with a text, in lines of at
most 110 columns, and docs/tools.md names the same options. Prints how many options there are."""

import pathlib
import re
import subprocess
import sys

hearth, sources, docs = sys.argv[1:]
LABEL = re.compile(r"^  ((?:-\w, )?(--[a-z-]+)\S*)(?:  +(\S.*))?$")


def run(*arguments):
    return subprocess.run([hearth, *arguments], check=True, capture_output=True, text=True).stdout


def options_of(command):
    """The labels in the help, by name. Labels that are too long have their text in the next line."""
    lines = run(command, "--help").split("\n")
    labels = {}
    for line, following in zip(lines, lines[1:]):
        assert len(line) <= 110, line
        if found := LABEL.match(line):
            label, name, text = found.groups()
            assert name not in labels, f"{command}: {name} twice"
            assert text or re.match(r" {5,}\S", following), f"{command}: {name} has no text"
            labels[name] = label
    return labels


def documented():
    rows = re.findall(r"^\| `hearth (\w+)` \| (`-.*) \|$", pathlib.Path(docs).read_text(), re.M)
    return {command: re.findall(r"`([^`]+)`", cell.replace("\\|", "|")) for command, cell in rows}


in_docs = documented()
commands = set(re.findall(r"^  ([a-z]+) ", run("--help"), re.M)) - {"cc", "merge", "run"}  # clang's options; another name of index; none
assert set(in_docs) == commands, (sorted(in_docs), sorted(commands))
count = 0
for command in sorted(commands):
    labels = options_of(command)
    source = pathlib.Path(sources, f"cmd_{command}.c").read_text()
    table = re.findall(r'\.name = "(--[^"]+)"', source)
    missing = [name for name in table if name not in labels]
    assert table and not missing, f"{command}: not in the help: {missing}"
    assert list(labels.values()) == in_docs[command], f"{command}: {docs} has {in_docs[command]}, not {list(labels.values())}"
    count += len(labels)
print(f"{count} options of {len(commands)} commands")
