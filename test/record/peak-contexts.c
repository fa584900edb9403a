/* Who held the heap when most was live: exact to the step of the peak, a 512th of the heap for each thread, whatever came before and
 * after; also as a sample, of an instrumented program, and with blocks that grow in their place.
 * REQUIRES: views
 *
 * RUN: rm -rf %t && mkdir %t && cd %t && %clang -O1 -g -fno-builtin %s -lpthread -o p
 * RUN: %hearth record -q -o raw -- ./p && %hearth index -q --symbols raw -o prof
 * RUN: %hearth export --format=folded --value=peak-allocs prof > blocks && FileCheck %s < blocks
 * CHECK-NOT: after
 * CHECK-DAG: main;before 100{{$}}
 * CHECK-DAG: main;grown 1{{$}}
 * CHECK-DAG: main;most {{189[4-9]|1900}}{{$}}
 * CHECK-DAG: worker;other 500{{$}}
 * CHECK-NOT: after
 * RUN: %hearth export --format=folded --value=peak prof | grep -x -e 'main;before 100000' -e 'main;grown 500000' -e '.*worker;other 500000' | count 3
 * RUN: %hearth show --peak prof | FileCheck %s --check-prefix=SHOW
 * SHOW: peak {{.*}}lives  function
 * SHOW-NEXT: 1.4 MiB {{.*}} most
 * SHOW: {{[0-9]+}} at the peak with 1.4 MiB
 * RUN: %hearth export --format=dhat prof | grep -o '"gb":500000,"gbk":1,"eb":0,"ebk":0' | count 1
 *
 * RUN: %clang -O1 -g -fno-builtin $(%hearth flags instrument --clang=%clang) %s -lpthread -o counted
 * RUN: env MEMPROF_OPTIONS=log_path=counted.raw ./counted && %hearth index -q counted.raw* -o counted.prof
 * RUN: %hearth export --format=folded --value=peak-allocs counted.prof | FileCheck %s
 *
 * Of a sample it is an estimate; two runs are summed.
 * RUN: %hearth record -q --sample=10000 -o sample -- ./p && %hearth index -q --symbols sample -o sample.prof && %hearth show --peak --by=function --top=1 sample.prof | grep 'most'
 * RUN: %hearth merge -q --weight=2:prof -o two && %hearth export --format=folded --value=peak-allocs two | grep -x 'main;before 200'
 *
 * A profile that does not know it says so.
 * RUN: %hearth merge -q --fields=AllocCount,TotalSize prof -o few && not %hearth show --peak few 2>&1 | grep 'few: does not know what was live at the peak'
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *volatile kept[2000], *volatile big;

__attribute__((noinline)) static void before(void) {
  for (int i = 0; i < 1000; i++)
    kept[i] = malloc(1000);
}

__attribute__((noinline)) static void most(void) {
  for (int i = 100; i < 2000; i++)
    kept[i] = malloc(800);
}

__attribute__((noinline)) static void after(int i) { kept[i] = malloc(400); }

__attribute__((noinline)) static void grown(void) {
  for (size_t size = 100; size <= 500000; size += 4999)
    big = realloc(big, size);
  big = realloc(big, 500000);
}

__attribute__((noinline)) static void other(char **ret) { *ret = malloc(1000); }

static pthread_barrier_t all, done;

static void *worker(void *unused) {
  char *own[500];
  for (int i = 0; i < 500; i++)
    other(&own[i]);
  pthread_barrier_wait(&all);
  pthread_barrier_wait(&done);
  for (int i = 0; i < 500; i++)
    free(own[i]);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&all, NULL, 2);
  pthread_barrier_init(&done, NULL, 2);
  pthread_create(&thread, NULL, worker, NULL);
  pthread_barrier_wait(&all);
  before();
  for (int i = 100; i < 1000; i++)
    free(kept[i]);
  grown();
  most();
  /* One block for another, at once, and less than was there. */
  for (int i = 100; i < 2000; i++) {
    free(kept[i]);
    after(i);
  }
  free(big);
  pthread_barrier_wait(&done);
  pthread_join(thread, NULL);
  return 0;
}
