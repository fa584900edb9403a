// A stripped profile has no name and no path, and a compile with it gives the same hints. Shards, merged, are the whole.
//
// REQUIRES: fleet
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O2 -fno-inline $(%hearth flags instrument) %s -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/raw ./program && %hearth index raw.* -q -o named.prof
// RUN: %hearth strip named.prof -o stripped.prof
//
// RUN: strings -n 4 named.prof | FileCheck %s --check-prefix=NAMED
// RUN: strings -n 4 stripped.prof | FileCheck %s --check-prefix=STRIPPED
// NAMED-DAG: strip.c
// NAMED-DAG: keep_secret
// NAMED-DAG: program
// STRIPPED-NOT: strip
// STRIPPED-NOT: secret
// STRIPPED-NOT: program
// STRIPPED-NOT: main
//
// RUN: %clang -O2 -fno-inline -S -emit-llvm -o named.ll %s $(%hearth flags use named.prof --compile)
// RUN: %clang -O2 -fno-inline -S -emit-llvm -o stripped.ll %s $(%hearth flags use stripped.prof --compile)
// RUN: FileCheck %s --check-prefix=HINTS < named.ll
// RUN: grep -v -e '^!' -e memprof-profile-id named.ll > named.code && grep -v '^!' stripped.ll | cmp - named.code
// HINTS: call {{.*}}@__hearth_malloc_hot_cold(
//
// Its ids are those of the names, also for LLVM; it is an input like others, and keeps its contexts apart from none.
// RUN: %hearth merge named.prof --format=llvm -q -o named.llvm && %hearth merge stripped.prof --format=llvm -q -o stripped.llvm
// RUN: cmp named.llvm stripped.llvm
// RUN: %hearth show --text stripped.prof > stripped.txt && FileCheck %s --check-prefix=TEXT < stripped.txt
// RUN: %hearth show stripped.prof | FileCheck %s --check-prefix=NO-NAME
// NO-NAME: binary (no name), {{(no )?}}build id
// TEXT: frame 0x{{[0-9a-f]+}}#{{[0-9a-f]+}} "" {{[0-9]+}}
// RUN: %hearth merge stripped.txt -q -o back.prof && cmp stripped.prof back.prof
// RUN: %hearth strip back.prof -o - | cmp - stripped.prof
// RUN: %hearth merge named.prof stripped.prof -q -o both.prof && %hearth merge --weight=2:stripped.prof -q -o twice.prof
// RUN: %hearth strip both.prof -o - | cmp - twice.prof
// RUN: sed 's/#................ / /' stripped.txt > other.txt
// RUN: %hearth merge other.txt -q -o other.prof
//
// Of the facts of runs, the peak stays.
// RUN: printf 'hearth-profile-text 1\nrun duration_ns=1000000000\nfacts peak=9\ncommand "tar cf a b"\ncontext\n  frame f a.c 1 1 1 0\n  AllocCount 1\n' > facts.txt
// RUN: %hearth merge facts.txt -q -o facts.prof && %hearth show --text facts.prof | grep tar
// RUN: %hearth strip facts.prof -o - | %hearth show --text - | FileCheck %s --check-prefix=FACTS --implicit-check-not=tar
// FACTS: facts peak=9
//
// RUN: not %hearth strip named.prof 2>&1 | FileCheck %s --check-prefix=WHERE
// WHERE: hearth: error: where to write?
// RUN: not %hearth strip -o x 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: hearth: error: which profile?
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *volatile kept[64];

__attribute__((noinline)) char *keep_secret(size_t n) { return malloc(n); }

int main(void) {
  for (int i = 0; i < 64; i++) {
    kept[i] = keep_secret(4096);
    memset(kept[i], 1, 4096);
  }
  long sum = 0;
  for (int i = 0; i < 200000; i++) {
    volatile char *block = malloc(64);
    for (int k = 0; k < 64; k++)
      block[k] = (char)(k + i);
    sum += block[i % 64];
    free((void *)block);
  }
  return sum == 1;
}
