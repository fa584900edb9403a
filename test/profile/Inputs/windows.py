# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a profile whose windows touched what the arguments say: FUNCTION SIZE BLOCKS PAGE TOUCHED SHARE [alone].

Of BLOCKS live blocks, each window in which any is touches TOUCHED, PAGE of them on a page. That are SHARE of all windows;
with `alone`, those in which the context before was not touched."""
import sys

WINDOWS, RUN_NS = 1000, 10**10

specs = sys.argv[1:]
if specs[0].startswith("--many="):
    count = int(specs[0][7:])
    specs = [f"f{i} 48 50000 2 12000 {1 / count} alone" for i in range(count)]
print("hearth-profile-text 1")
print(f"run duration_ns={RUN_NS} runs=1 accesses=1")
blocks = sum(int(spec.split()[2]) for spec in specs)
pages = blocks // 64 + 1
print(f"windows count={WINDOWS} ns={WINDOWS * 2000000} sampled_pages={WINDOWS * pages} pages={WINDOWS * pages}")
for number, spec in enumerate(specs):
    name, size, live, on_page, touched, share = spec.split()[:6]
    live, touched, windows = int(live), int(touched), int(WINDOWS * float(share))
    print(f"context\n  frame {name} a.c 1 1 1 0\n  frame main a.c 10 {number + 1} 1 0")
    print(f"  AllocCount {live}\n  TotalSize {live * int(size)}\n  TotalLifetime {live * RUN_NS}\n  LiveAtExit {live}")
    print(f"  TotalAccessCount {touched * windows * 8 * 5}")
    print(
        f"  touched live={live * WINDOWS} windows={windows} blocks={touched * windows} lines={touched * windows}"
        f" pages={max(1, touched // int(on_page)) * windows}"
    )
    if number > 0 and not spec.endswith("alone"):
        print(f"  with 0 windows={windows} lines={touched * windows}")
    elif number > 0:
        print("  with 0 windows=1 lines=1")
