// Many inputs: the bytes are those of one merge, whatever the threads, the memory and the interruptions.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id \
// RUN:   %s %rt -lpthread -o program
// RUN: for i in $(seq 300); do env HEARTH_OPTIONS=log_path=%t/raw ./program $i || exit 1; done
// RUN: ls raw.* > list
// RUN: %hearth merge -f list -j1 -o alone.prof | FileCheck %s
// CHECK: alone.prof: 3 contexts, 4 functions, 300 runs
//
// The list comes from standard input; debug information is read once for all threads.
// RUN: %hearth merge -f - -j4 -v -o threads.prof < list 2>&1 | grep -c 'using .*/program' | FileCheck %s --check-prefix=ONCE
// RUN: cmp alone.prof threads.prof
// ONCE: 1
//
// A limit that no partial result stays below.
// RUN: %hearth merge -f list -j4 --memory-limit=1K -q -o limited.prof && cmp alone.prof limited.prof
// RUN: %hearth merge -f list --memory-limit=1G -q -o limited.prof && cmp alone.prof limited.prof
// RUN: not %hearth merge -f list --memory-limit=1T -o none 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not %hearth merge -f list --memory-limit=0 -o none 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not %hearth merge -f list --memory-limit=99999999999G -o none 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: hearth: error: --memory-limit needs a size such as 500M or 2G
//
// Parts: two for 300 inputs. The first input is damaged, and named by each merge; what it left out stays so.
// RUN: head -c 100 $(head -n 1 list) > cut && (echo cut; cat list) > with-cut
// RUN: %hearth merge -f with-cut --failure-mode=all --parts=parts -o parts.prof 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: cmp alone.prof parts.prof && ls parts/*.heap | count 2 && ls parts/*.left-out | count 1
// CUT: hearth: warning: left out: cut: offset 0: the file ends
//
// Again, without reading a raw profile: their bytes are gone, their sizes and times are not.
// RUN: mkdir kept && cp -p raw.* kept
// RUN: for i in $(cat list); do truncate -s 0 $i && truncate -r kept/$i $i && touch -r kept/$i $i || exit 1; done
// RUN: %hearth merge -f with-cut --failure-mode=all --parts=parts -o again.prof 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: cmp alone.prof again.prof && cp -p kept/* .
//
// A part that was lost or damaged is made again; it is not taken for other options.
// RUN: rm $(ls parts/*.heap | head -n 1) && head -c 50 /dev/zero | tee $(ls parts/*.heap) > zeros
// RUN: %hearth merge -f with-cut --failure-mode=all --parts=parts -j2 -q -o mended.prof && cmp alone.prof mended.prof
// RUN: %hearth merge -f with-cut --failure-mode=all --parts=parts --fields=TotalSize -q -o fields.prof
// RUN: %hearth merge -f list --fields=TotalSize -q -o fields-alone.prof && cmp fields.prof fields-alone.prof
// RUN: ls parts/*.heap | count 4
// RUN: not %hearth merge -f list --parts=/dev/null/parts -o none 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: hearth: error: /dev/null/parts: cannot make the folder of parts: Not a directory
// With an error nothing is kept of the batch that has it.
// RUN: not %hearth merge -f with-cut --parts=other -q -o none && ls other/*.heap | count 1
//
// Of the warnings of one kind, eight are printed.
// RUN: %hearth merge -f list -o alone.prof 2>&1 | FileCheck %s --check-prefix=FEW --allow-empty
// FEW-NOT: warning
// RUN: for i in $(cat list); do echo ./$i; done | cat list - > twice
// RUN: %hearth merge -f twice -o twice.prof 2> warnings && cmp alone.prof twice.prof && grep -c 'counted once' warnings | FileCheck %s --check-prefix=EIGHT
// RUN: FileCheck %s --check-prefix=MORE < warnings
// RUN: %hearth merge -f twice -v -o twice.prof 2>&1 | grep -c 'counted once' | FileCheck %s --check-prefix=ALL
// EIGHT: 8
// MORE: hearth: warning: 292 more of these kinds (-v prints all)
// ALL: 300
#include <stdlib.h>

__attribute__((noinline)) static void one(size_t n) {
  char *volatile block = malloc(n);
  free(block);
}
__attribute__((noinline)) static void two(size_t n) { one(n); }
__attribute__((noinline)) static void three(size_t n) { one(2 * n); }

int main(int argc, char **argv) {
  size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 0;
  one(n);
  if (n % 2)
    two(n);
  if (n % 3 == 0)
    three(n);
  return 0;
}
