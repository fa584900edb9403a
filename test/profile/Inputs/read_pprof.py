"""Print a pprof profile (profile.proto) in words, checking that every reference and string is valid.

A reader of its own, so that the writer is not compared with itself: wire format and field numbers are those of
protobuf.dev and github.com/google/pprof/proto/profile.proto."""
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Field number -> list of values, in order; of one message."""
    result, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size, "cut off"
        else:
            raise AssertionError(f"wire type {tag & 7}")
        result.setdefault(tag >> 3, []).append(value)
    return result


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def one(message, field):
    values = message.get(field, [0])
    assert len(values) == 1
    return values[0]


with gzip.open(sys.argv[1]) as file:
    profile = fields(file.read())
strings = [text.decode("utf-8") for text in profile[6]]
assert strings[0] == ""


def string(message, field):
    return strings[one(message, field)]


def by_id(field):
    messages = [fields(data) for data in profile.get(field, [])]
    table = {one(message, 1): message for message in messages}
    assert len(table) == len(messages) and 0 not in table
    return table


types = [fields(data) for data in profile[1]]
functions, locations = by_id(5), by_id(4)
used_functions, used_locations = set(), set()
print("types", " ".join(f"{string(t, 1)}/{string(t, 2)}" for t in types))
print("default", strings[one(profile, 14)], "duration", one(profile, 10))
for mapping in by_id(3).values():
    print("mapping", string(mapping, 5), string(mapping, 6), [one(mapping, field) for field in range(7, 11)])
for data in profile.get(2, []):
    sample = fields(data)
    values = packed(one(sample, 2))
    assert len(values) == len(types)
    label = fields(one(sample, 3))
    print("sample", *values, f"{string(label, 1)}={string(label, 2)}")
    for number in packed(one(sample, 1)):
        used_locations.add(number)
        lines = []
        for line in map(fields, locations[number][4]):
            function = functions[one(line, 1)]
            used_functions.add(one(line, 1))
            lines.append(f"{string(function, 2)!r} [{string(function, 3)!r}] {string(function, 4)!r}"
                         f" from {one(function, 5)}: {one(line, 2)}:{one(line, 3)}")
        print("  location", " <- ".join(lines))
assert used_functions == set(functions) and used_locations == set(locations), "something is never used"
