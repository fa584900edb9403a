"""Print a raw profile of LLVM's layout in which these libraries are at the same addresses: each reaches from where the
first begins to where the last ends.

    overlap_segments.py RAW LIBRARY... > OUTPUT"""
import struct
import sys

SEGMENT = "<4Q32s"  # start, end, offset, size of the build id, build id
raw, *libraries = sys.argv[1:]
data = bytearray(open(raw, "rb").read())
contents = [open(library, "rb").read() for library in libraries]
(table,) = struct.unpack_from("<Q", data, 24)
(count,) = struct.unpack_from("<Q", data, table)
found = []
for at in range(table + 8, table + 8 + count * struct.calcsize(SEGMENT), struct.calcsize(SEGMENT)):
    *_, size, build_id = struct.unpack_from(SEGMENT, data, at)
    if size and any(build_id[:size] in content for content in contents):
        found.append(at)
assert len(found) == len(libraries)
start = min(struct.unpack_from("<Q", data, at)[0] for at in found)
end = max(struct.unpack_from("<Q", data, at + 8)[0] for at in found)
for at in found:
    struct.pack_into("<2Q", data, at, start, end)
sys.stdout.buffer.write(data)
