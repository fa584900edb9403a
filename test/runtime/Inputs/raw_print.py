#!/usr/bin/env python3
"""Print a raw profile in Hearth's layout as text: a second reader, written from docs/formats/raw.md.

usage: raw_print.py FILE [FIELD...]     one line a record, ordered by MaxSize, AllocCount: the named fields of it
                                        (default: all that are not 0), then its stack, leaf first, as MODULE+0xOFFSET
"""
import re
import struct
import sys
from pathlib import Path

FIELDS_DEF = Path(__file__).resolve().parents[3] / "profile/format/hearth/mib_fields.def"
FIELDS = re.findall(r"^HEARTH_MIB_FIELD\s*\(\s*\d+,\s*(\w+)", FIELDS_DEF.read_text(), re.M)
HEADER = struct.Struct("<QII8QII6Q")
MAPPING = struct.Struct("<3QII32s")
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


class Packed:
    """Numbers of 7 bits a byte, the lowest first."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def take(self):
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                assert number <= MASK, "number"
                return number

    def take_signed(self):
        number = self.take()
        return number >> 1 ^ -(number & 1)

    def end(self):
        padding = -self.at % 8
        assert self.data[self.at : self.at + padding] == bytes(padding), "padding"
        return self.at + padding


def quotient(dividend, divisor):
    return (dividend & MASK) // divisor if divisor else dividend & MASK


PREDICTIONS = {
    "AllocCount": lambda m, p: 1,
    "MaxSize": lambda m, p: m["MinSize"],
    "MaxAccessCount": lambda m, p: m["MinAccessCount"],
    "MaxLifetime": lambda m, p: m["MinLifetime"],
    "NumSameAllocCPU": lambda m, p: m["AllocCount"] - 1,
    "NumSameDeallocCPU": lambda m, p: m["NumSameAllocCPU"],
    "TotalSize": lambda m, p: m["MinSize"] * m["AllocCount"],
    "TotalAccessCount": lambda m, p: m["MinAccessCount"] * m["AllocCount"],
    "TotalLifetime": lambda m, p: m["MinLifetime"] * m["AllocCount"],
    "MinPercentUtilized": lambda m, p: quotient(m["TotalPercentUtilized"], m["AllocCount"]),
    "MaxPercentUtilized": lambda m, p: m["MinPercentUtilized"],
    "AllocTimestamp": lambda m, p: p["AllocTimestamp"],
    "DeallocTimestamp": lambda m, p: m["AllocTimestamp"] + m["MaxLifetime"],
    "AllocCPU": lambda m, p: p["AllocCPU"],
    "DeallocCPU": lambda m, p: m["AllocCPU"],
    "TotalAccessDensity": lambda m, p: quotient(m["TotalAccessCount"] * 100, m["TotalSize"]) * m["AllocCount"],
    "MinAccessDensity": lambda m, p: quotient(m["TotalAccessDensity"], m["AllocCount"]),
    "MaxAccessDensity": lambda m, p: m["MinAccessDensity"],
    "TotalLifetimeAccessDensity": lambda m, p: quotient(
        m["TotalAccessDensity"] * 1000, quotient(m["TotalLifetime"], m["AllocCount"]) // 1000000),
    "MinLifetimeAccessDensity": lambda m, p: quotient(m["TotalLifetimeAccessDensity"], m["AllocCount"]),
    "MaxLifetimeAccessDensity": lambda m, p: m["MinLifetimeAccessDensity"],
    "SizedAtExit": lambda m, p: m["LiveAtExit"],
    "LiveBytes": lambda m, p: m["TotalSize"] if m["SizedAtExit"] == m["AllocCount"] else 0,
}


def read_nodes(data, offset, count):
    packed, nodes, pc = Packed(data, offset), [], 0
    for i in range(count):
        distance = packed.take()
        pc = (pc + packed.take_signed()) & MASK
        assert distance <= i, "forest"
        nodes.append((pc, i - distance if distance else 0xFFFFFFFF))
    return nodes, packed.end()


def read_histogram(packed):
    counts = [packed.take() for _ in range(packed.take())]
    assert not counts or counts[-1], "histogram"
    return counts


def read_mibs(data, offset, count, has_histograms=False):
    packed, records, leaf, previous = Packed(data, offset), [], 0, dict.fromkeys(FIELDS, 0)
    for _ in range(count):
        leaf += packed.take_signed()
        present, mib = packed.take(), {}
        for i, field in enumerate(FIELDS):
            difference = packed.take_signed() if present >> i & 1 else 0
            mib[field] = (PREDICTIONS.get(field, lambda m, p: 0)(mib, previous) + difference) & MASK
        if has_histograms:
            assert sum(read_histogram(packed)) <= mib["TotalAccessCount"], "histogram"
        records.append((leaf, mib))
        previous = mib
    return records, packed.end()


def read_mappings(data, offset, count):
    found = []
    for _ in range(count):
        start, end, file_offset, id_size, path_size, build_id = MAPPING.unpack_from(data, offset)
        offset += MAPPING.size
        path = data[offset : offset + path_size].decode()
        offset += (path_size + 7) // 8 * 8
        found.append((start, end, file_offset, build_id[:id_size].hex(), path))
    return found, offset


def read_names(data, offset):
    packed, found = Packed(data, offset), []
    for _ in range(packed.take()):
        size = packed.take()
        found.append(data[packed.at : packed.at + size].decode())
        packed.at += size
    return found, packed.end()


def read_run(data, offset):
    """Peak and command; the end is not padded."""
    packed = Packed(data, offset)
    packed.take()
    size = packed.take()
    return packed.at + size


def read_levels(packed):
    """The levels of a history: 256 numbers."""
    shift, levels, level = packed.take(), [], 0
    while len(levels) < 256:
        levels += packed.take() * [level << shift]
        if len(levels) < 256:
            level += packed.take_signed()
            levels.append(level << shift)
    assert len(levels) == 256 and min(levels) >= 0, "levels"
    return levels


def read_history(data, offset, records):
    """Of all contexts, and of some records; the end is not padded."""
    packed = Packed(data, offset)
    packed.take()
    whole, record = read_levels(packed), -1
    for _ in range(packed.take()):
        record += packed.take() + 1
        assert record < records and max(read_levels(packed)) <= max(whole), "history"
    return packed.at


def place(mappings, names, pc):
    if pc >> 32 in (1 << 31, 1 << 31 | 1):
        return ("scope:" if pc >> 32 == 1 << 31 else "heap:") + names[pc & 0xFFFFFFFF]
    for start, end, file_offset, _, path in mappings:
        if start <= pc < end:
            return "%s+0x%x" % (Path(path).name, pc - start + file_offset)
    return "?+0x%x" % pc


def stack(nodes, mappings, names, leaf):
    while leaf != 0xFFFFFFFF:
        pc, leaf = nodes[leaf]
        yield place(mappings, names, pc)


def with_type(mib, names):
    """A type that the program named, by its name."""
    if mib["DataTypeId"] >> 32 == 1 << 31:
        mib["DataTypeId"] = names[mib["DataTypeId"] & 0xFFFFFFFF]
    return mib


def main(name, wanted):
    data = Path(name).read_bytes()
    (magic, version, header_size, total, map_at, map_n, stack_at, stack_n, mib_at, mib_n, checksum, columns, flags,
     duration, start, pid, dropped_blocks, dropped_stacks, sample) = HEADER.unpack_from(data)
    assert magic == 0x8157415248524881 and version == 2 and header_size == HEADER.size == 136, "header"
    assert total == len(data) and columns == len(FIELDS), "sizes"
    zeroed = data[:72] + bytes(8) + data[80:136]
    assert xxh64(data[136:] + zeroed) == checksum, "checksum"
    mappings, map_end = read_mappings(data, map_at, map_n)
    names = []
    if flags & 8192:
        map_end = read_run(data, map_end)
    clock = 0
    if flags & 16384:
        packed = Packed(data, map_end)
        clock = packed.take()
        assert clock > 0, "clock"
        map_end = packed.at
    if flags & 32768:
        map_end = read_history(data, map_end, mib_n)
    if flags & 8:
        names, map_end = read_names(data, map_end)
    map_end += -map_end % 8
    nodes, stack_end = read_nodes(data, stack_at, stack_n)
    mibs, mib_end = read_mibs(data, mib_at, mib_n, flags & 4)
    assert map_at == 136 and map_end == stack_at and stack_end == mib_at and mib_end == total, "sections"
    assert len(set(nodes)) == len(nodes), "shared nodes"
    assert duration < 10**15 and start > 10**18, "times"
    print("profile: accesses=%d contexts=%d dropped_blocks=%d dropped_stacks=%d" %
          (flags & 1, mib_n, dropped_blocks, dropped_stacks))
    if sample:
        print("sampled:", sample)
    if wanted[:1] == ["clock"]:
        print("clock:", "early" if clock else "exact")
        wanted = wanted[1:]
    for _, _, _, build_id, path in mappings:
        print("mapping:", Path(path).name, "build-id" if build_id else "no-build-id", build_id)
    records = []
    for leaf, mib in mibs:
        records.append((mib["MaxSize"], mib["AllocCount"], with_type(mib, names), list(stack(nodes, mappings, names, leaf))))
    for _, _, mib, frames in sorted(records, key=lambda record: record[:2]):
        shown = wanted or [field for field in FIELDS if mib[field]]
        print("record:", " ".join("%s=%s" % (field, mib[field]) for field in shown), "|", " ".join(frames) or "none")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
