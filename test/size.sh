#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Prints how large the tree is, by part. Counted are the files that git knows.
#
#   code       lines that hold more than blanks and comments, of C, C++, .def tables, JavaScript and CSS (the rest of a
#              test, a .test or .ll file or a script of shell or Python, is counted as scripts; # and ; begin comments)
#   files      those of code; folders: those with a file of code; median: of the lines of code of a file
#   functions  definitions of functions in C and C++
#   twice      names of static functions that several files define, and how many functions these are
#   options    of commands (a row `.name = "--..."` or HEARTH_FLAG("--...", and its like), and rows of runtime_options.def
#   verbs      names of commands in the table of the `hearth` command
#   words      of *.md but CHANGELOG.md, as wc counts
#   glossary   rows of the table "Words" in docs/ARCHITECTURE.md
#
# Parts: a module of profile/ is its folder, tests are test/ and examples/, and the core is all else.
set -euo pipefail
cd "$(dirname "$0")/.."

exec python3 - <<'END'
import collections, os, re, statistics, subprocess

MODULES = ("views", "traces", "fleet")
CODE = (".c", ".h", ".cpp", ".def", ".js", ".css")
SCRIPTS = (".test", ".ll", ".sh", ".py", ".awk", ".ps1")
# A string or a comment: what begins first hides the other.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
FUNCTION = re.compile(r"^(?!typedef|struct [^()]*\{|enum|union|return|else|extern \"C\")((?:[A-Za-z_][^;{}()]*?[ *])(\w+)"
                      r"\((?:[^;{}()]|\([^()]*\))*\)[^;{}()=]*)\{", re.M)


def part_of(path):
    top, _, rest = path.partition("/")
    if top in ("test", "examples"):
        return "tests"
    module = rest.split("/")[0]
    return module if top == "profile" and module in MODULES else "core"


def without_comments(text):
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", "", m[0]) if m[0].startswith("/") else m[0], text)


def lines_of(text):
    return sum(1 for line in text.split("\n") if line.strip())


def without_strings(text):
    return TOKEN.sub(lambda m: '""', text)


class Part:
    def __init__(self):
        self.files, self.folders, self.functions, self.options, self.scripts = [], set(), 0, 0, 0


parts = collections.defaultdict(Part)
statics, words, verbs = collections.Counter(), 0, 0
for path in subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n"):
    suffix = os.path.splitext(path)[1]
    if not os.path.isfile(path) or suffix not in CODE + SCRIPTS + (".md",):
        continue
    with open(path, encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    part = parts[part_of(path)]
    if suffix == ".md":
        words += 0 if path == "CHANGELOG.md" else len(text.split())
    elif suffix in SCRIPTS:
        part.scripts += sum(1 for line in text.split("\n") if re.match(r"\s*[^\s#;]", line))
    else:
        code = without_comments(text)
        part.files.append(lines_of(code))
        part.folders.add(os.path.dirname(path))
        part.options += len(re.findall(r'(?:\.name = |HEARTH_(?:FLAG|TEXT|NUMBER|TAKE)\((?:\s|\\)*)"--', code))
        if path.endswith("runtime_options.def"):
            part.options += len(re.findall(r"^HEARTH_\w*OPTION\w*\(", code, re.M))
        if part_of(path) != "tests":
            verbs += len(re.findall(r'"[a-z+]+", +hearth_cmd_', code))
        if suffix in (".c", ".cpp", ".h"):
            found = FUNCTION.findall(without_strings(code))
            part.functions += len(found)
            if part_of(path) != "tests" and suffix != ".h":
                statics.update({name for head, name in found if head.startswith("static ")})

print(f"{'part':8}{'code':>8}{'scripts':>8}{'files':>7}{'folders':>8}{'median':>7}{'functions':>10}{'options':>8}")
whole = Part()
for name in ("core",) + MODULES + ("tests",):
    rows = [(name, parts[name])] if parts[name].files else []
    if name != "tests":
        whole.files += parts[name].files
        whole.folders |= parts[name].folders
        whole.functions += parts[name].functions
        whole.options += parts[name].options
        whole.scripts += parts[name].scripts
    else:
        rows.insert(0, ("product", whole))
    for title, p in rows:
        print(f"{title:8}{sum(p.files):8}{p.scripts:8}{len(p.files):7}{len(p.folders):8}"
              f"{int(statistics.median(p.files)):7}{p.functions:10}{p.options:8}")
with open("docs/ARCHITECTURE.md", encoding="utf-8") as stream:
    glossary = re.search(r"\n## Words\n(.*?)(\n## |\Z)", stream.read(), re.S)[1]
twice = [count for count in statics.values() if count > 1]
print(f"static names that occur twice: {len(twice)}, of {sum(twice)} functions")
print(f"verbs: {verbs}   words of docs: {words}   glossary: {len(re.findall(r'(?m)^[|]', glossary)) - 2}")
END
