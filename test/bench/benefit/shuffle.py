# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""shuffle.py SEED < PROFILE.txt > SHUFFLED.txt: contexts of a profile in text form get each other's numbers."""
import random
import sys

lines = sys.stdin.read().split("\n")
contexts = [i for i, line in enumerate(lines) if line == "context"] + [len(lines)]
heads, numbers = [], []
for start, end in zip(contexts, contexts[1:]):
    frames = [line for line in lines[start:end] if line == "context" or line.startswith("  frame ")]
    heads.append(frames)
    numbers.append([line for line in lines[start:end] if line and line not in frames])
random.Random(int(sys.argv[1])).shuffle(numbers)
print("\n".join(lines[: contexts[0]]))
for head, number in zip(heads, numbers):
    print("\n".join(head + number))
