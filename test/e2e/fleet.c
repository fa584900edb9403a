// The engines of examples/fleet: each gives the bytes of one merge, also when a worker was killed. So does the spool.
// REQUIRES: fleet
// RUN: rm -rf %t && mkdir -p %t/raw && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id \
// RUN:   %s %rt -lpthread -o program
// RUN: for i in $(seq 20); do env HEARTH_OPTIONS=log_path=%t/raw/host%%h.%%e ./program $i || exit 1; done
// RUN: ls %t/raw/* > list && %hearth merge -f list -q -o whole.prof
// RUN: head -c 300 $(head -n 1 list) > %t/raw/cut && echo %t/raw/cut >> list
//
// A tool that is killed in the second batch, once, when it has read half of its inputs.
// RUN: printf '#!/bin/sh\ncase "$*" in *2.list*) test -e %t/killed || { touch %t/killed; kill -9 $$; };; esac\n' > killed-once
// RUN: printf 'exec %hearth "$@"\n' >> killed-once && chmod +x killed-once
//
// RUN: env BATCH=4 HEARTH=%t/killed-once not %fleet/with-make.sh make make.prof < list
// RUN: not test -e make.prof && not test -e make/2.heap
// RUN: env BATCH=4 HEARTH=%t/killed-once %fleet/with-make.sh make make.prof < list && cmp whole.prof make.prof
// One more profile: the last batch alone is made again.
// RUN: touch mark && echo %t/raw/more >> list && cp $(head -n 1 list) raw/more
// RUN: env BATCH=4 HEARTH=%hearth %fleet/with-make.sh make more.prof < list && find make -newer mark -name '*.heap' | count 1
// RUN: %hearth merge -f list --failure-mode=all -q -o more-whole.prof && cmp more-whole.prof more.prof
// RUN: rm raw/more && sed -i '$d' list
// What is missing is not passed over.
// RUN: rm make/1.heap && env HEARTH=%hearth not %fleet/reduce.sh make none.prof 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: reduce.sh: error: make/1.heap is missing: run its batch
//
// MapReduce: two mappers, a plain sort, a reducer.
// RUN: head -n 9 list > one && tail -n +10 list > two
// RUN: for i in one two; do env HEARTH=%hearth %fleet/mapreduce/mapper.sh < $i || exit 1; done | sort > records
// RUN: env HEARTH=%hearth %fleet/mapreduce/reducer.sh < records > sums && env HEARTH=%hearth %fleet/mapreduce/collect.sh mr.prof < sums
// RUN: cmp whole.prof mr.prof && count 2 < records && count 1 < sums
//
// The spool: it ships all that is finished, keeps it if that fails, and drops the oldest above the limit.
// RUN: mkdir spool collected && cp raw/host* spool && touch spool/half.tmp
// RUN: not %fleet/spool.sh spool 1 false && ls spool/host* | count 20
// RUN: %fleet/spool.sh spool 1 cp -t collected && ls collected | count 20 && ls spool | FileCheck %s --check-prefix=HALF
// RUN: %hearth merge collected/* -q -o spooled.prof && cmp whole.prof spooled.prof
// RUN: head -c 700000 /dev/zero > spool/old && touch -d @1 spool/old && head -c 700000 /dev/zero > spool/new
// RUN: not %fleet/spool.sh spool 1 false && not test -e spool/old && test -e spool/new
// HALF: half.tmp
// HALF-NOT: {{.}}
#include <stdlib.h>

__attribute__((noinline)) static void one(size_t n) {
  char *volatile block = malloc(n);
  free(block);
}
__attribute__((noinline)) static void two(size_t n) { one(n); }

int main(int argc, char **argv) {
  size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 0;
  one(n);
  if (n % 2)
    two(n);
  return 0;
}
