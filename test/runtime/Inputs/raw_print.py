#!/usr/bin/env python3
"""Print a raw profile in Hearth's layout as text: a second reader, written from docs/formats/raw.md.

usage: raw_print.py FILE [FIELD...]     one line a record, ordered by MaxSize, AllocCount: the named fields of it
                                        (default: all that are not 0), then its stack, leaf first, as MODULE+0xOFFSET
"""
import re
import struct
import sys
from pathlib import Path

FIELDS_DEF = Path(__file__).parents[3] / "profile/format/hearth/mib_fields.def"
FIELDS = re.findall(r"^HEARTH_MIB_FIELD\s*\(\s*\d+,\s*(\w+)", FIELDS_DEF.read_text(), re.M)
HEADER = struct.Struct("<QII8QII6Q")
SNAPSHOTS = struct.Struct("<QIIQ2Q")
MAPPING = struct.Struct("<3QII32s")
NODE = struct.Struct("<QII")
MIB = struct.Struct("<II%dQ" % len(FIELDS))
MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotl(x, n):
    return (x << n | x >> (64 - n)) & MASK


def mix(acc, lane):
    return rotl((acc + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """XXH64 with seed 0, of at least 32 bytes, a multiple of 8 of them."""
    acc = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
    end = len(data) // 32 * 32
    for at in range(0, end, 32):
        acc = [mix(a, lane) for a, lane in zip(acc, struct.unpack_from("<4Q", data, at))]
    h = sum(rotl(a, n) for a, n in zip(acc, (1, 7, 12, 18))) & MASK
    for a in acc:
        h = ((h ^ mix(0, a)) * P1 + P4) & MASK
    h = (h + len(data)) & MASK
    for at in range(end, len(data), 8):
        h = (rotl(h ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def rows(data, layout, offset, count):
    return [layout.unpack_from(data, offset + i * layout.size) for i in range(count)]


def read_mappings(data, offset, count):
    found = []
    for _ in range(count):
        start, end, file_offset, id_size, path_size, build_id = MAPPING.unpack_from(data, offset)
        offset += MAPPING.size
        path = data[offset : offset + path_size].decode()
        offset += (path_size + 7) // 8 * 8
        found.append((start, end, file_offset, build_id[:id_size].hex(), path))
    return found, offset


def place(mappings, pc):
    for start, end, file_offset, _, path in mappings:
        if start <= pc < end:
            return "%s+0x%x" % (Path(path).name, pc - start + file_offset)
    return "?+0x%x" % pc


def stack(nodes, mappings, leaf):
    while leaf != 0xFFFFFFFF:
        pc, leaf, _ = nodes[leaf]
        yield place(mappings, pc)


def newest_snapshot(data):
    """The raw profile in a snapshot file; other files are returned as they are."""
    magic, version, header_size, half_size, *sequence = SNAPSHOTS.unpack_from(data)
    if magic != 0x8157415350524881:
        return data
    assert version == 2 and len(data) == header_size + 2 * half_size, "snapshot header"
    print("snapshots:", len(data), "bytes")
    assert max(sequence) > 0, "no snapshot"
    begin = header_size + (sequence[1] > sequence[0]) * half_size
    total = HEADER.unpack_from(data, begin)[3]
    assert total <= half_size, "half"
    return data[begin : begin + total]


def main(name, wanted):
    data = newest_snapshot(Path(name).read_bytes())
    (magic, version, header_size, total, map_at, map_n, stack_at, stack_n, mib_at, mib_n, checksum, mib_size, flags,
     duration, start, pid, dropped_blocks, dropped_stacks, sample) = HEADER.unpack_from(data)
    assert magic == 0x8157415248524881 and version == 2 and header_size == HEADER.size == 136, "header"
    assert total == len(data) and mib_size == MIB.size, "sizes"
    zeroed = data[:72] + bytes(8) + data[80:136]
    assert xxh64(data[136:] + zeroed) == checksum, "checksum"
    mappings, map_end = read_mappings(data, map_at, map_n)
    assert map_at == 136 and map_end == stack_at and stack_at + stack_n * NODE.size == mib_at, "sections"
    assert mib_at + mib_n * MIB.size == total, "end"
    nodes = rows(data, NODE, stack_at, stack_n)
    assert all(parent == 0xFFFFFFFF or parent < i for i, (_, parent, _) in enumerate(nodes)), "forest"
    assert len({(pc, parent) for pc, parent, _ in nodes}) == len(nodes), "shared nodes"
    assert duration < 10**15 and start > 10**18, "times"
    print("profile: accesses=%d contexts=%d dropped_blocks=%d dropped_stacks=%d" %
          (flags & 1, mib_n, dropped_blocks, dropped_stacks))
    if sample:
        print("sampled:", sample)
    for _, _, _, build_id, path in mappings:
        print("mapping:", Path(path).name, "build-id" if build_id else "no-build-id", build_id)
    records = []
    for leaf, _, *values in rows(data, MIB, mib_at, mib_n):
        mib = dict(zip(FIELDS, values))
        records.append((mib["MaxSize"], mib["AllocCount"], mib, list(stack(nodes, mappings, leaf))))
    for _, _, mib, frames in sorted(records, key=lambda record: record[:2]):
        shown = wanted or [field for field in FIELDS if mib[field]]
        print("record:", " ".join("%s=%d" % (field, mib[field]) for field in shown), "|", " ".join(frames) or "none")


main(sys.argv[1], sys.argv[2:])
