"""Print what is in a raw profile: mappings, and records with their call stacks.

    print.py RAW                print it
    print.py --version-3 RAW    write a profile of LLVM's version 4 as version 3, which has no histograms

Written from docs/formats/raw.md."""
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "runtime/Inputs"))
import raw_print

HEADER = struct.Struct("<6Q")  # magic, version, total size, offsets of segments, MIBs, stacks
SEGMENT = struct.Struct("<4Q32s")
MIB_BYTES = {3: 132, 4: 144, 5: 144}
COUNTER_BYTES = {3: 0, 4: 8, 5: 2}


def take_count(data, at):
    return struct.unpack_from("<Q", data, at)[0], at + 8


def llvm_segments(data, at):
    count, at = take_count(data, at)
    for i in range(count):
        start, end, bias, size, build_id = SEGMENT.unpack_from(data, at + i * SEGMENT.size)
        yield start, end, bias, build_id[:size]


def llvm_mibs(data, version, at):
    """Yields the stack id and the bytes of each."""
    count, at = take_count(data, at)
    for _ in range(count):
        (stack,) = struct.unpack_from("<Q", data, at)
        mib = data[at + 8 : at + 8 + MIB_BYTES[version]]
        at += 8 + len(mib)
        if COUNTER_BYTES[version]:
            at += struct.unpack_from("<I", mib, 132)[0] * COUNTER_BYTES[version]
        yield stack, mib


def llvm_stacks(data, at):
    count, at = take_count(data, at)
    stacks = {}
    for _ in range(count):
        stack, depth = struct.unpack_from("<2Q", data, at)
        stacks[stack] = struct.unpack_from(f"<{depth}Q", data, at + 16)
        at += 16 + 8 * depth
    return stacks


def llvm_contents(data):
    _, version, _, segments, mibs, stacks = HEADER.unpack_from(data)
    stacks = llvm_stacks(data, stacks)
    records = []
    for stack, mib in llvm_mibs(data, version, mibs):
        count, accesses, _, _, size = struct.unpack_from("<I4Q", mib)
        records.append((count, size, accesses, stacks[stack]))
    return llvm_segments(data, segments), records


def hearth_contents(data):
    map_at, map_count, stack_at, stack_count, mib_at, mib_count = struct.unpack_from("<6Q", data, 24)
    maps, at = [], map_at
    for _ in range(map_count):
        start, end, offset, id_size, path_size, build_id = raw_print.MAPPING.unpack_from(data, at)
        maps.append((start, end, offset, build_id[:id_size]))
        at += (64 + path_size + 7) // 8 * 8
    nodes, _ = raw_print.read_nodes(data, stack_at, stack_count)
    records = []
    for leaf, mib in raw_print.read_mibs(data, mib_at, mib_count)[0]:
        stack = []
        while leaf != 0xFFFFFFFF:
            pc, leaf = nodes[leaf]
            stack.append(pc)
        records.append((mib["AllocCount"], mib["TotalSize"], mib["TotalAccessCount"], stack))
    return maps, records


def as_version_3(data):
    magic, version, _, segments, mibs, stacks = HEADER.unpack_from(data)
    assert version == 4
    entries = [struct.pack("<Q", stack) + mib[: MIB_BYTES[3]] for stack, mib in llvm_mibs(data, version, mibs)]
    body = struct.pack("<Q", len(entries)) + b"".join(entries)
    body += bytes(-len(body) % 8)
    total = mibs + len(body) + len(data) - stacks
    return HEADER.pack(magic, 3, total, segments, mibs, mibs + len(body)) + data[HEADER.size : mibs] + body + data[stacks:]


def main():
    data = open(sys.argv[-1], "rb").read()
    if sys.argv[1] == "--version-3":
        sys.stdout.buffer.write(as_version_3(data))
        return
    maps, records = (llvm_contents if data[:2] == b"\x81r" and data[7] == 0xFF else hearth_contents)(data)
    for start, end, base, build_id in maps:
        print(f"map {start:x} {end:x} {base:x} {build_id.hex()}")
    for count, size, accesses, stack in records:
        print(f"record {count} {size} {accesses}" + "".join(f" {pc:x}" for pc in stack))


main()
