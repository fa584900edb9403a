"""Compare the frames of all calls of a program with those of llvm-symbolizer.

    compare_frames.py SYMBOLISE SYMBOLIZER REFERENCE [BINARY [DEBUG-DIR]]

SYMBOLISE (test/tools) reads BINARY, llvm-symbolizer reads REFERENCE: the same code, and debug information that both can
read; REFERENCE alone serves both. Addresses are those of return addresses less one. Compared are, per frame, linkage
name, declaring file, first line, line, column and discriminator."""
import json
import re
import subprocess
import sys

# The symbol table, from which llvm-symbolizer names the outermost frame, has the compiler's copies and parts.
SUFFIX = re.compile(r"(\.(cold|part|constprop|isra|llvm|lto_priv|specialized)(\.\d+)?)+$")

# Constructors and destructors whose two symbols are one function.
VARIANT = re.compile(r"([CD])[12](?=E)")


def plain(name):
    return VARIANT.sub(r"\1", SUFFIX.sub("", name))


def calls(objdump, binary):
    """Return addresses less one of all calls."""
    command = [objdump, "-d", "--no-show-raw-insn", binary]
    text = subprocess.run(command, capture_output=True, text=True, check=True)
    after_call = False
    for line in text.stdout.split("\n"):
        match = re.match(r"\s*([0-9a-f]+):\s+(\S+)", line)
        if not match:
            continue
        if after_call:
            yield int(match.group(1), 16) - 1
        after_call = match.group(2).startswith("call")


def frames(command, addresses):
    query = "".join(f"{a:#x}\n" for a in addresses)
    result = subprocess.run(command, input=query, capture_output=True, text=True)
    if result.returncode != 0 or not result.stdout:
        sys.exit(f"{command[0]}: {result.stderr}")
    blocks = []
    # One array of all, or one object a line.
    text = result.stdout.strip()
    for item in json.loads(text if text.startswith("[") else "[" + text.replace("\n", ",") + "]"):
        blocks.append([
            (
                plain(f["FunctionName"]),
                f["StartFileName"].rsplit("/", 1)[-1],
                f["StartLine"],
                f["Line"],
                f["Column"] if f["Line"] else 0,
                f["Discriminator"],
            )
            for f in item["Symbol"]
            if f["StartFileName"]
        ])
    return blocks


def main():
    symbolise, symbolizer, reference = sys.argv[1:4]
    binary_and_directory = sys.argv[4:6] or [reference]
    addresses = sorted(set(calls(symbolizer.replace("llvm-symbolizer", "llvm-objdump"), reference)))
    ours = frames([symbolise, *binary_and_directory], addresses)
    command = [symbolizer, f"--obj={reference}", "--inlines", "--functions=linkage", "--no-demangle"]
    theirs = frames(command + ["--output-style=JSON"], addresses)
    different = 0
    for address, a, b in zip(addresses, ours, theirs):
        if a != b:
            different += 1
            print(f"{address:#x}:\n  hearth          {a}\n  llvm-symbolizer {b}")
    known = [f for f in ours if f]
    print(
        f"{len(known)} calls, depth up to {max(map(len, known), default=0)},",
        f"{sum(f[5] != 0 for stack in known for f in stack)} frames with discriminators,",
        "different" if different else "equal",
    )
    return different != 0


sys.exit(main())
