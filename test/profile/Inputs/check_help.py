"""check_help.py HEARTH SOURCES TOOLS.md: every command's help has each option of its table with a text, in lines of at
most 110 columns, and docs/tools.md describes every command, and names no command and no long option of `hearth` that does not
exist. Prints how many options there are."""

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


in_help = set(re.findall(r"^  ([a-z+]+) ", run("--help"), re.M))
text = pathlib.Path(docs).read_text()
in_docs = set(re.findall(r"`hearth ([a-z+]+)", text)) | {"c++"}  # described with cc
assert in_docs - {"help"} <= in_help, sorted(in_docs - in_help)
undescribed = {command for command in in_help if not re.search(rf"hearth[ -]{re.escape(command)}\b", text)} - {"c++"}
assert not undescribed, sorted(undescribed)
count, names = 0, {"--help", "--name"}  # of every command; of none
commands = in_help - {"c++", "cc", "merge", "run", "trace"}  # clang's options; another name of index; none
for command in sorted(commands):
    labels = options_of(command)
    source = next(pathlib.Path(sources).rglob(f"cmd_{command}.c")).read_text()
    table = re.findall(r'(?:\.name = |HEARTH_[A-Z]+\()"(--[^"]+)"', source)
    missing = [name for name in table if name not in labels]
    assert table and not missing, f"{command}: not in the help: {missing}"
    count += len(labels)
    names |= set(labels)
unknown = set(re.findall(r"`(--[a-z-]+)", text)) - names
assert not unknown, f"{docs} has options of no command: {sorted(unknown)}"
print(f"{count} options of {len(commands)} commands")
