"""Compare two heap profiles in LLVM's YAML, as llvm-profdata prints it: usage: compare_llvm_yaml.py A B

Every record must have the same allocation sites with the same numbers, and the same call sites. LLVM does not sum equal
call stacks (of a loop that was unrolled, say) and repeats a site for inlined recursion; Hearth sums. So equal sites are
summed here, too; a field that is 0 may be missing. An unknown line is 0
less the function's first line with LLVM, with or without a column, and one value with Hearth."""
import re
import sys

UNKNOWN_LINE = re.compile(r"LineOffset: \d{10}, Column: \d+,")

def merge(into, mib):
    for key, value in mib.items():
        old = into.get(key)
        if old is None:
            into[key] = value
        elif key.startswith("Min"):
            into[key] = min(old, value)
        elif key.startswith("Max") or key.endswith(("Timestamp", "CpuId")):
            into[key] = max(old, value)
        else:
            into[key] = old + value


def parse(path):
    """(allocations: {(guid, frames): mib}, calls: {(guid, frames)})"""
    allocations, calls = {}, set()
    guid, is_call, frames, mib = None, False, [], {}

    def finish():
        if frames and is_call:
            calls.add((guid, tuple(frames)))
        elif frames:
            merge(allocations.setdefault((guid, tuple(frames)), {}), mib)
        frames.clear()
        mib.clear()

    for line in open(path):
        words = line.split()
        if line.startswith(("#", "---", "...", "HeapProfileRecords")):
            continue
        if words[:2] == ["-", "GUID:"]:
            finish()
            guid = int(words[2], 16)
        elif words in (["-", "Callstack:"], ["-", "Frames:"]):
            finish()
            is_call = words[1] == "Frames:"
        elif "Function:" in words:
            frames.append(UNKNOWN_LINE.sub("LineOffset: ?, Column: ?,", line.strip()))
        elif len(words) == 2 and words[0].endswith(":"):
            mib[words[0][:-1]] = int(words[1])
        elif words not in (["AllocSites:"], ["CallSites:"], ["MemInfoBlock:"]):
            sys.exit(f"{path}: not understood: {line}")
    finish()
    for numbers in allocations.values():
        for key in [key for key, value in numbers.items() if value == 0]:
            del numbers[key]
    return allocations, calls


a, b = parse(sys.argv[1]), parse(sys.argv[2])
if not a[0] or not a[1]:
    sys.exit(f"{sys.argv[1]}: no sites")
for part, name in ((0, "allocations"), (1, "calls")):
    for site in set(a[part]) ^ set(b[part]):
        print(f"{name}: only in {sys.argv[1] if site in a[part] else sys.argv[2]}: {site}")
different = [site for site in a[0] if a[0][site] != b[0].get(site)]
for site in different:
    print(f"{site}:\n  {a[0][site]}\n  {b[0].get(site)}")
if a[1] != b[1] or set(a[0]) != set(b[0]) or different:
    sys.exit("the profiles differ")
print(f"{len(a[0])} allocations and {len(a[1])} calls are equal")
