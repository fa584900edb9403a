"""Makes 64 small profiles in text form, merges them in ten random trees and compares.

usage: merge_trees.py HEARTH MIB_FIELDS_DEF DIRECTORY

All ten results must be one file. What it says is compared with sums that are computed here, from the 64 texts and the
merge rules of the table of fields, without any of the program's code."""
import os
import random
import re
import struct
import subprocess
import sys

hearth, fields_def, directory = sys.argv[1:]
SEED, PROFILES, TREES = 20260817, 64, 10
rng = random.Random(SEED)
print("seed", SEED)

# Tags 38 to 45 and 52 are about looks at pages: no run here has any (unit/test_estimates.c).
fields = re.findall(r"HEARTH_MIB_FIELD\s*\(\s*(\d+),\s*(\w+),\s*\w+,\s*(\w+),", open(fields_def).read())
rules = {name: rule for tag, name, rule in fields if not (38 <= int(tag) <= 45 or tag == "52")}
assert len(rules) > 20 and set(rules.values()) == {"SUM", "MIN", "MAX", "SAME"}
TOP = 2**64 - 1

def merge_value(rule, a, b):
    if rule == "SUM":
        return min(a + b, TOP)
    if rule == "SAME":
        return a if a == b or b == 0 else b if a == 0 else TOP
    return min(a, b) if rule == "MIN" else max(a, b)

def random_frame(leaf):
    function = rng.randrange(3 if leaf else 12)
    line = rng.choice(["?", rng.randrange(4)])
    column = 0 if line == "?" else rng.randrange(3)
    inlined = " inlined" if rng.random() < 0.3 else ""
    return f"frame function{function} src/file{function % 4}.c {10 * function} {line} {column} {rng.randrange(2)}{inlined}"

def random_context():
    frames = tuple(random_frame(i == 0) for i in range(rng.randrange(1, 7)))
    numbers = {name: rng.choice([0, 1, rng.randrange(1000), rng.randrange(2**rng.randrange(1, 65))])
               for name in rules if rng.random() < 0.7}
    numbers["AllocCount"] = rng.randrange(1, 1000)
    return frames, numbers

runs = {"duration_ns": 0, "runs": 0, "dropped_blocks": 0, "dropped_frames": 0}
expected = {}
VARIANCE = ["runs", "squares", "density", "density_squares", "lifetime", "lifetime_squares", "bytes", "bytes_squares"]
variances = {} # by frames

def level(number):
    return max(0, min(2047, (struct.unpack(">Q", struct.pack(">d", number))[0] >> 48) - 0x3ff0 + 1024))

def variance_of_run(mib, duration):
    """One observation, as profile/include/hearth/classify.h says."""
    blocks, accesses = float(mib["AllocCount"]), mib["TotalAccessCount"]
    size = float(mib["TotalSize"]) / blocks if mib["TotalSize"] else 1
    byte_seconds = size * (max(float(mib["TotalLifetime"]), blocks * 1e3) / 1e9)
    levels = (level(float(accesses) / byte_seconds if accesses else 1.0 / byte_seconds / 2),
              level(float(mib["TotalLifetime"]) / blocks / float(max(duration, 1))), level(float(mib["TotalSize"])))
    return dict(zip(VARIANCE, [1, 1] + [n for x in levels for n in (x, x * x)]))

def random_sums(names):
    return {name: rng.choice([0, rng.randrange(1000), rng.randrange(2**rng.randrange(1, 65))]) for name in names}

def add_sums(to, more):
    for name, value in more.items():
        to[name] = merge_value("SUM", to.get(name, 0), value)

globals_ = {} # by name, and file if local: file and line, kind, then size, accesses, touched lines, stores (None: not all counted)

def add_global(name, file, line, kind, local, size, accesses, touched, stores):
    key = (name, file if local else "")
    known = globals_.setdefault(key, [(file, line), kind, size, 0, touched, 0])
    known[0] = min(known[0], (file, line))
    known[1] = max(known[1], kind, key=lambda kind: (kind + 1) % 6) # 5: unknown
    for i, value in (2, size), (4, touched):
        known[i] = max(known[i], value)
    known[3] = merge_value("SUM", known[3], accesses)
    known[5] = None if known[5] is None or stores is None else merge_value("SUM", known[5], stores)

def random_global():
    local = rng.randrange(2)
    return (f"global{rng.randrange(9)}", f"file{rng.randrange(3)}.c", rng.randrange(1, 4), rng.randrange(6), local,
            rng.randrange(1000), rng.choice([0, rng.randrange(1000), rng.randrange(2**rng.randrange(1, 65))]), rng.randrange(9),
            rng.choice([None] + [rng.randrange(2**rng.randrange(1, 65)) for _ in range(9)]))

def words(sums):
    return " ".join(f"{name}={value}" for name, value in sums.items())

def make_profile(path, stock):
    run = {"duration_ns": rng.randrange(10**10), "runs": rng.randrange(1, 4), "dropped_blocks": rng.randrange(3),
           "dropped_frames": rng.randrange(3)}
    contexts = [random_context() for _ in range(rng.randrange(1, 20))]
    if stock: # contexts of other profiles, so that there is something to sum
        contexts += [(rng.choice(stock), random_context()[1]) for _ in range(rng.randrange(20))]
    own = {}
    with open(path, "w") as out:
        print("hearth-profile-text 1\nrun", *(f"{k}={v}" for k, v in run.items()), file=out)
        print(f"binary program{rng.randrange(3)} {rng.randrange(256):02x}", file=out)
        for _ in range(rng.randrange(8)):
            row = random_global()
            add_global(*row)
            print("global {} {} line={} kind={} local={} size={} accesses={} touched_lines={}".format(*row),
                  *([] if row[-1] is None else [f"stores={row[-1]}"]), file=out)
        for frames, numbers in contexts:
            print("context", *frames, *(f"{k} {v}" for k, v in numbers.items()), sep="\n", file=out)
            if run["runs"] > 1 and rng.random() < 0.5:
                sums = random_sums(VARIANCE)
                sums["runs"] += 1
                print("variance", words(sums), file=out)
                add_sums(variances.setdefault(frames, {}), sums)
            stock.append(frames)
            full = {name: numbers.get(name, 0) for name in rules}
            for table in expected, own:
                known = table.get(frames)
                table[frames] = full if known is None else {
                    name: merge_value(rules[name], known[name], full[name]) for name in rules}
    if run["runs"] == 1:
        for frames, mib in own.items():
            add_sums(variances.setdefault(frames, {}), variance_of_run(mib, run["duration_ns"]))
    for key, value in run.items():
        runs[key] += value

def merge(inputs, output, *options):
    subprocess.run([hearth, "merge", "-q", "--recursion=full", *options, *inputs, "-o", output], check=True)

def merge_as_tree(number, leaves):
    """Merge random groups until one profile is left. What is in between may be of either form."""
    nodes = list(leaves)
    while len(nodes) > 1:
        rng.shuffle(nodes)
        size = rng.randrange(2, 9)
        output = os.path.join(directory, f"tree{number}.{len(nodes)}")
        merge(nodes[:size], output)
        if rng.random() < 0.5:
            text = subprocess.run([hearth, "show", "--text", output], check=True, capture_output=True).stdout
            with open(output, "wb") as file:
                file.write(text)
        nodes = nodes[size:] + [output]
    result = os.path.join(directory, f"result{number}")
    merge(nodes, result)
    return result

def read_text(profile):
    text = subprocess.run([hearth, "show", "--text", profile], check=True, capture_output=True, text=True).stdout
    head, *contexts = text.split("\ncontext\n")
    def sums_of(line):
        return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", line)}
    found_runs = sums_of(re.search("^run .*", head, re.M)[0])
    found, found_variances = {}, {}
    for context in contexts:
        lines = [line.strip() for line in context.splitlines()]
        frames = tuple(line for line in lines if line.startswith("frame "))
        numbers = dict.fromkeys(rules, 0)
        for line in lines[len(frames):]:
            name, rest = line.split(" ", 1)
            if name == "variance":
                found_variances[frames] = sums_of(rest)
            else:
                numbers[name] = int(rest)
        found[frames] = numbers
    found_globals = {}
    for row in re.findall(r"^global (\S+) (\S+) line=(\d+) kind=(\d+) local=(\d+) size=(\d+) accesses=(\d+) touched_lines=(\d+)(?: stores=(\d+))?$", head, re.M):
        name, file = row[:2]
        line, kind, local, *sums = map(int, row[2:-1])
        found_globals[(name, file if local else "")] = [(file, line), kind, *sums, int(row[-1]) if row[-1] else None]
    return found_runs, found, found_variances, found_globals

stock = []
leaves = [os.path.join(directory, f"profile{i}.txt") for i in range(PROFILES)]
for leaf in leaves:
    make_profile(leaf, stock)
results = [merge_as_tree(i, leaves) for i in range(TREES)]
contents = {open(result, "rb").read() for result in results}
assert len(contents) == 1, f"{len(contents)} different results"

found_runs, found, found_variances, found_globals = read_text(results[0])
for key, value in runs.items():
    assert found_runs[key] == value, (key, found_runs[key], value)
assert found.keys() == expected.keys(), (len(found), len(expected))
for frames, numbers in expected.items():
    assert found[frames] == numbers, (frames, found[frames], numbers)
assert found_globals == globals_ and len(globals_) > 20, (found_globals, globals_)
assert found_variances == variances and len(variances) > 20
print(TREES, "trees of", PROFILES, "profiles: one result,", len(found), "contexts")
