"""Print a raw profile of LLVM's layout in which these libraries are at the same addresses: all are where the first is.

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
for at in found[1:]:
    data[at : at + 16] = data[found[0] : found[0] + 16]
sys.stdout.buffer.write(data)
