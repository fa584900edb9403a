"""A report's data, read without a browser (profile/views/page/html.c, which writes it)."""
import base64
import json
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """Elements must be closed in the order in which they were opened, and ids be unique; nothing may be fetched."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.scripts, self.titles = [], set(), [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("src", "href"):
            assert attributes.get(name, "data:").startswith("data:"), f"{tag} fetches {attributes[name]}"
        if "id" in attributes:
            assert attributes["id"] not in self.ids, f"id {attributes['id']} twice"
            self.ids.add(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> does not close what is open"

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += text
        if self.open and self.open[-1] in ("title", "h1"):
            self.titles.append(text)


def column(text, count):
    numbers, number, shift = [], 0, 0
    for byte in base64.b64decode(text, validate=True):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    assert shift == 0 and len(numbers) == count, f"{len(numbers)} numbers, not {count}"
    return numbers


def table(value):
    return {key: column(item, value["count"]) if isinstance(item, str) else item for key, item in value.items()}


class Data:
    def __init__(self, path):
        with open(path, encoding="utf-8", errors="strict") as file:
            self.text = file.read()
        self.page = Page(self.text)
        assert len(self.page.scripts) == 2, "data and script"
        self.json = json.loads(self.page.scripts[0])
        assert (self.json["format"], self.json["version"]) == ("hearth-page", 1)
        for name in ("functions", "places", "nodes", "contexts"):
            setattr(self, name, table(self.json[name]))

    def stack(self, node):
        """(function, file, line, column), leaf first."""
        frames = []
        while True:
            place = self.nodes["place"][node]
            function = self.places["function"][place]
            file = self.functions["file"][function]
            frames.append((self.functions["name"][function], self.json["files"][file - 1] if file else "",
                           self.places["line"][place], self.places["column"][place]))
            distance = self.nodes["caller"][node]
            if distance == 0:
                return tuple(frames)
            node -= distance

    def rows(self):
        """A tuple for each context: class, type, stack, allocs, bytes, accesses, sum of lifetimes."""
        c = self.contexts
        for i in range(c["count"]):
            kind = c["type"][i]
            yield (self.json["classes"][c["class"][i]], self.json["types"][kind - 1] if kind else None,
                   self.stack(c["node"][i]), c["allocs"][i], c["bytes"][i], c["accesses"][i], c["lifetime_ns"][i])
