#!/bin/sh
# Makes indexed-2.txt and indexed-2.prof, the golden files of the indexed format, version 2: odd names, unknown lines,
# functions known by their id, recursion, inlined frames, and more contexts and nodes than one block of a packed table
# holds, with numbers of all sizes. Once a release has written this version, its files are never made again.
# Usage: make-indexed.sh BUILD, the folder where Hearth and its tests are built
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
awk 'BEGIN {
  print "hearth-profile-text 1"
  print "run duration_ns=18446744073709551615 runs=3 accesses=1 dropped_blocks=4 dropped_frames=5"
  print "binary \"a program\" 00112233445566778899aabbccddeeff00112233\nbinary libx.so"
  print "context\n  frame \"quoted \\\"name\\\"\\\\ \\x80\" \"/a b/c.c\" 7 1 2 3\n  frame 0x0123456789abcdef \"\" 0 ? 0 0"
  print "  AllocCount 18446744073709551615\n  DataTypeId 18446744073709551615\n  TotalLifetime 9223372036854775808"
  for (i = 0; i < 80; i++) {
    print "context"
    print "  frame leaf" i % 3 " src/leaf.c " 10 + i % 3 " " i % 7 " 4 0"
    for (k = i; k > 0; k = int(k / 2))
      print "  frame step src/dir/step.cpp 100 " k % 5 " " 1 + k % 4 " " k % 2 (k % 3 ? "" : " inlined")
    print "  frame main src/main.c 1 5 3 0"
    print "  AllocCount " 1 + (i % 9 == 0) * i "\n  MinSize " 8 * (i % 5) "\n  MaxSize " 8 * (i % 5) + (i % 9 == 0) * 1000
    print "  TotalSize " 8 * (i % 5) * (1 + (i % 9 == 0) * i) "\n  TotalAccessCount " i * i "\n  MaxAccessCount " i
    print "  TotalLifetime " i * 1000003 "\n  MinLifetime " i * 7 "\n  MaxLifetime " i * 1000003
    print "  AllocTimestamp " sprintf("%.0f\n  DeallocTimestamp %.0f", i * 4294967296, i * 4294967296 + i * 1000003)
    print "  NumMigration " i % 2 "\n  NumLifetimeOverlaps " (i % 9 == 0) * i "\n  LiveAtExit " (i == 77)
  }
}' >indexed-2.new
"$build/bin/hearth" merge -q --recursion=full indexed-2.new -o indexed-2.prof
"$build/bin/hearth" show --text indexed-2.prof >indexed-2.txt # in the canonical order
"$build/bin/test_indexed_golden" "$PWD/indexed-2.prof"        # the same without a plan
rm indexed-2.new
