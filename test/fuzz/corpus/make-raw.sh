#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes the seeds in corpus/raw: one small raw profile in each layout, without histograms and with them; two dumps in one
# file; a heap dump with names.
# Usage: make-raw.sh CLANG LIBHEARTH_RT OUTPUT_DIRECTORY
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/seed.c" <<'END'
#include <stdlib.h>
static void *get(size_t n) { return malloc(n); }
int main(void) {
  void *volatile kept = get(40);
  free(get(100));
  return kept == NULL;
}
END
cat > "$work/histograms.c" <<'END'
#include <stdlib.h>
static int *get(size_t n) { return malloc(n); }
int main(void) {
  int *volatile kept = get(40), *freed = get(100);
  for (int i = 0; i < 10; ++i)
    kept[3] += freed[i] = i;
  free(freed);
  return kept == NULL;
}
END
cat > "$work/names.c" <<'END'
#include <hearth/allocator.h>
#include <hearth/context.h>
#include <stdlib.h>
static hearth_allocator pool = HEARTH_ALLOCATOR("pool");
static char blocks[64];
int main(void) {
  HEARTH_SCOPE("seed", "scope");
  hearth_allocator_allocated(&pool, blocks, 8, "a");
  hearth_allocator_allocated(&pool, blocks + 8, 16, "b");
  void *volatile kept = malloc(5000);
  return kept == NULL;
}
END
include=$(dirname "$0")/../../../runtime/include
"$1" -static -O1 -fno-omit-frame-pointer -Wl,--build-id -I"$include" "$work/names.c" "$2" -o "$work/names"
HEARTH_OPTIONS=mode=live:residency=1:heap_peak=0:log_path=$work/dump "$work/names" 2> "$work/messages"
mv "$work"/dump.*.1 "$3/hearth-heap-dump"
"$1" -static -O1 -fno-omit-frame-pointer -fno-inline -Wl,--build-id "$work/seed.c" "$2" -o "$work/seed"
"$1" -O1 -fno-omit-frame-pointer -fno-inline -fno-builtin -fmemory-profile -mllvm -memprof-histogram -c "$work/histograms.c" \
  -o "$work/histograms.o"
"$1" -static -Wl,--build-id "$work/histograms.o" "$2" -o "$work/histograms"
cat > "$work/globals.c" <<'END'
#include <hearth/program_tables.h>
#include <stdlib.h>
void __hearth_globals(const hearth_global_table *table);
static volatile int hot[4], cold[40];
static const hearth_global_row rows[] = {{(uint64_t)hot, sizeof hot, 1, 0, 7, HEARTH_GLOBAL_BSS},
                                         {(uint64_t)cold, sizeof cold, 5, 10, 9, HEARTH_GLOBAL_BSS | HEARTH_GLOBAL_LOCAL}};
static const char names[] = "\0hot\0cold\0seed.c";
static const hearth_global_table table = {HEARTH_GLOBALS_MAGIC, (uint64_t)rows, (uint64_t)names, 2, sizeof names};
int main(void) {
  __hearth_globals(&table);
  for (int i = 0; i < 100; i++)
    hot[i % 4]++;
  void *volatile kept = malloc(40);
  return kept == NULL;
}
END
format=$(dirname "$0")/../../../profile/format
"$1" -O1 -fno-omit-frame-pointer -fmemory-profile -I"$format" -c "$work/globals.c" -o "$work/globals.o"
"$1" -static -Wl,--build-id "$work/globals.o" "$2" -o "$work/globals"
HEARTH_OPTIONS=log_path=$work/globals.raw "$work/globals"
mv "$work"/globals.raw.* "$3/hearth-globals"
for format in hearth llvm; do
  HEARTH_OPTIONS=format=$format:log_path=$work/$format "$work/seed"
  mv "$work/$format".* "$3/$format"
  HEARTH_OPTIONS=format=$format:log_path=$work/$format "$work/histograms"
  mv "$work/$format".* "$3/$format-histograms"
done
cat "$3/hearth" "$3/llvm" > "$3/two-dumps"
