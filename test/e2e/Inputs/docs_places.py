"""Finds places that a source tree names and does not have: sections, named behind a document in any text
(options.md, "Sampling"), and targets of links in *.md. A section is a heading, or bold text at the start of a paragraph; its beginning is enough."""
import re
import sys
from pathlib import Path

SUFFIXES = {".c", ".h", ".cpp", ".def", ".md", ".py", ".sh", ".test", ".ll", ".js", ".txt", ".cmake"}
SECTION = re.compile(r'([A-Za-z_-]+\.md)\)?, "([^"]+)"')
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
LINE_START = re.compile(r"\n\s*(?:\*|//|#|;)?\s*")  # a comment's, so that its lines are one text


def sources(root):
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root).parts
        if path.suffix in SUFFIXES and path.is_file() and not inside[0].startswith(("build", ".")):
            yield path, path.read_text(errors="replace")


def headings(text):
    return [re.sub("[`*]", "", line) for line in re.findall(r"^(?:#+ |\*\*)(.*)$", text, re.MULTILINE)]


def main(root):
    texts = dict(sources(root))
    sections = {}
    for path, text in texts.items():
        if path.suffix == ".md":
            sections.setdefault(path.name, []).extend(headings(text))
    missing, named, links = [], 0, 0
    for path, text in texts.items():
        place = path.relative_to(root)
        for file, section in SECTION.findall(LINE_START.sub(" ", text)):
            named += 1
            if not any(heading.startswith(section) for heading in sections.get(file, [])):
                missing.append(f'{place}: {file} has no section "{section}"')
        for target in LINK.findall(text) if path.suffix == ".md" else []:
            links += 1
            if not (path.parent / target).exists():
                missing.append(f"{place}: there is no {target}")
    print("\n".join(missing) or f"{named} sections and {links} links are named, all exist")
    return 1 if missing else 0


sys.exit(main(Path(sys.argv[1]).resolve()))
