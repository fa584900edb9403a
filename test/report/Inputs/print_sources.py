# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print the source lines in a page; exit code 1: it has no such part."""
import sys

from page_data import Data

sources = Data(sys.argv[1]).json.get("sources")
if sources is None:
    sys.exit(1)
for file in sorted(sources):
    for line in sorted(sources[file], key=int):
        print(f"{file}:{line}: {sources[file][line]}")
