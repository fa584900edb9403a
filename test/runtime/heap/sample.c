/* With the option sample, few blocks are recorded and stand for all; the profile says so, and so does the indexer. Blocks
 * far larger than the distance are all recorded, small ones weighted; live ones too; threads and children have samples of
 * their own.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -pthread && rm -f %t.prof* %t.all*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:sample=4096 %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* MaxSize AllocCount LiveAtExit TotalSize TotalAccessCount > %t.txt
 * RUN: FileCheck %s < %t.txt
 * RUN: python3 %S/../Inputs/near.py %t.txt 64 AllocCount=400000 LiveAtExit=0 TotalSize=25600000 TotalAccessCount=400000
 * RUN: python3 %S/../Inputs/near.py %t.txt 200 AllocCount=100000 LiveAtExit=100000 TotalSize=20000000 TotalAccessCount=0
 * RUN: %hearth index %t.prof.* -o %t.indexed 2>&1 | FileCheck %s --check-prefix=INDEX
 * CHECK: sampled: 4096
 * CHECK: MaxSize=1000000 AllocCount=7 LiveAtExit=7 TotalSize=7000000 TotalAccessCount=0
 * INDEX: sampled, one block for 4096 bytes
 *
 * RUN: HEARTH_OPTIONS=log_path=%t.all %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.all.* MaxSize AllocCount LiveAtExit | FileCheck %s --check-prefix=ALL
 * ALL-NOT: sampled
 * ALL: MaxSize=64 AllocCount=400000 LiveAtExit=0
 * ALL: MaxSize=200 AllocCount=100000 LiveAtExit=100000
 */
#include <pthread.h>
#include <stdlib.h>

static void *churn(void *closure) {
  for (int i = 0; i < 100000; ++i) {
    char *volatile block = malloc(64);
    *block = 1;
    free(block);
  }
  return closure;
}

int main(void) {
  static void *volatile kept[100000], *volatile large[7];
  pthread_t threads[4];

  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, churn, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 100000; ++i)
    kept[i] = malloc(200);
  for (int i = 0; i < 7; ++i)
    large[i] = malloc(1000000);
  return 0;
}
