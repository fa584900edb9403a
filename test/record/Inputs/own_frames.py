"""Is no frame of a trace's text (on standard input) in the preloaded library?"""
import sys

low = high = 0
for line in sys.stdin:
    words = line.split()
    if words[0] == "mapping" and "libhearth_preload" in line:
        low, high = int(words[1], 16), int(words[2], 16)
    if words[0] == "node":
        assert not low <= int(words[2], 16) < high, line
assert high, "the library is not mapped"
