"""Compare the contexts of an indexed profile with what llvm-symbolizer makes of the raw profile.

    compare_symbolizer.py SYMBOLIZER BINARY[,BINARY...] RAW... < output of 'hearth show --text'

Reads Hearth's raw layout and the program headers on its own, so that the two have nothing in common but the files.
Frames are compared as (function, line, column), contexts as a multiset of stacks weighted with AllocCount."""
import collections
import shlex
import struct
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "runtime/Inputs"))
import raw_print


def code_segments(binary):
    data = open(binary, "rb").read()
    offset, size, count = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, flags, file_offset, address, _, file_size = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind == 1 and flags & 1:
            yield file_offset, address, file_size


def read_raw(path):
    """Yields (addresses leaf first as offsets in (path, file), AllocCount) of each record."""
    data = open(path, "rb").read()
    map_at, map_count, stack_at, stack_count, mib_at, mib_count = struct.unpack_from("<6Q", data, 24)
    maps, at = [], map_at
    for _ in range(map_count):
        start, end, offset, _, path_size = struct.unpack_from("<QQQII", data, at)
        maps.append((start, end, offset, data[at + 64 : at + 64 + path_size].decode()))
        at += (64 + path_size + 7) // 8 * 8
    nodes, _ = raw_print.read_nodes(data, stack_at, stack_count)
    for leaf, mib in raw_print.read_mibs(data, mib_at, mib_count)[0]:
        stack = []
        while leaf != 0xFFFFFFFF:
            pc, leaf = nodes[leaf]
            stack += [(name, pc - start + offset) for start, end, offset, name in maps if start <= pc < end]
        yield stack, mib["AllocCount"]


def symbolize(symbolizer, binary, offsets):
    """Maps file offsets to frames, innermost first; offsets without debug information to ()."""
    segments = list(code_segments(binary))
    addresses = {o: a + o - f for o in offsets for f, a, size in segments if f <= o < f + size}
    query = "".join(f"{a:#x}\n" for a in addresses.values())
    command = [symbolizer, f"--obj={binary}", "--inlines", "--functions=linkage", "--no-demangle"]
    blocks = subprocess.run(command, input=query, capture_output=True, text=True, check=True).stdout.split("\n\n")
    result = {}
    for offset, block in zip(addresses, blocks):
        lines = block.strip().split("\n")
        frames = []
        for function, place in zip(lines[0::2], lines[1::2]):
            file, line, column = place.rsplit(":", 2)
            if file != "??":
                # The name is the symbol's: "f.specialized.1" for a copy that debug information calls f.
                frames.append((function.split(".")[0], int(line), int(column) if line != "0" else 0))
        result[offset] = tuple(frames)
    return result


def read_text(stream):
    contexts, frames = collections.Counter(), None
    for words in map(shlex.split, stream):
        if words and words[0] == "context":
            frames = []
        elif words and words[0] == "frame":
            start, line, column = words[3:6]
            frames.append((words[1], 0 if line == "?" else int(start) + int(line), int(column)))
        elif words and words[0] == "AllocCount":
            contexts[tuple(frames)] += int(words[1])
    return contexts


def main():
    symbolizer, binaries, *raws = sys.argv[1:]
    records = [record for raw in raws for record in read_raw(raw)]
    frames = {}
    for binary in binaries.split(","):
        name = Path(binary).name
        offsets = sorted({offset for stack, _ in records for path, offset in stack if Path(path).name == name})
        frames |= {(name, offset): found for offset, found in symbolize(symbolizer, binary, offsets).items()}
    expected = collections.Counter()
    for stack, allocations in records:
        context = tuple(frame for path, offset in stack for frame in frames.get((Path(path).name, offset), ()))
        if context and allocations:
            expected[context] += allocations
    found = read_text(sys.stdin)
    for title, difference in (("only symbolizer", expected - found), ("only hearth", found - expected)):
        for context, count in difference.items():
            print(title, count, context)
    equal = expected == found
    print(f"{len(expected)} contexts,", "equal" if equal else "different")
    return not equal


sys.exit(main())
