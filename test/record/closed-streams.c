/* Programs close standard error before they end, or replace it: what is to be said comes out all the same, and nowhere else. */
/* RUN: %clang -O1 -D_GNU_SOURCE %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: %hearth record -o ended -- %t close 2>&1 | FileCheck %s
 * RUN: %hearth record -o replaced -- %t replace 2>&1 | FileCheck %s && count 0 < other.txt
 * Those that close what they do not know, by any of the ways, leave standard error:
 * RUN: %hearth record -o range -- %t range 2>&1 | FileCheck %s
 * RUN: %hearth record -o loop -- %t loop 2>&1 | FileCheck %s
 * CHECK: hearth: the profile is
 * CHECK-NEXT: hearth: to see it: {{.*}} heap.prof{{$}}
 * CHECK-NOT: {{.}}
 *
 * Where there is none, nothing is said; files under the number of either descriptor are the program's own.
 * RUN: %hearth record -o all -- %t all 2>&1 | count 0 && count 0 < other.txt
 * RUN: sh -c '%hearth record -o none -- %t all 2>&-' && count 0 < other.txt && test -s none
 *
 * Losses are told of likewise.
 * RUN: sh -c 'ulimit -f 0; %hearth record -o full -- %t close' 2>&1 | FileCheck %s --check-prefix=FULL
 * RUN: sh -c 'ulimit -f 0; %hearth record -o full -- ls' 2>&1 >/dev/null | FileCheck %s --check-prefix=FULL
 * FULL: hearth: cannot write the profile {{.*}}/full: File too large
 *
 * Who reads standard error to its end does not wait for a child that goes on, here until it is killed, and a message that nobody
 * reads ends nothing.
 * RUN: env HEARTH_OPTIONS=verbosity=1 timeout 600 sh -c '%hearth record -o first -- %t daemon 2>&1 | cat' > said; kill $(cat child)
 * RUN: FileCheck %s < said
 * RUN: bash -c '%hearth record -o unread -- %t unread 2>&1 | true; exit ${PIPESTATUS[0]}'
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With files of the program's own under all numbers from 2 on. */
static void take_all_numbers(void) {
  close_range(2, ~0u, 0);
  for (int fd = open("other.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666); fd >= 0 && fd < 1023;)
    fd = dup(fd);
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";

  free(malloc(100));
  if (strcmp(way, "close") == 0)
    close(2);
  if (strcmp(way, "replace") == 0)
    dup2(open("other.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
  if (strcmp(way, "range") == 0)
    close_range(3, ~0u, 0);
  for (int fd = 3; strcmp(way, "loop") == 0 && fd < 65536; ++fd)
    close(fd);
  if (strcmp(way, "all") == 0)
    take_all_numbers();
  pid_t child = strcmp(way, "daemon") == 0 ? fork() : -1;
  if (child == 0) {
    for (int fd = 0; fd < 3; ++fd)
      dup2(open("/dev/null", O_RDWR), fd);
    for (;;)
      pause();
  }
  if (child > 0)
    dprintf(open("child", O_WRONLY | O_CREAT | O_TRUNC, 0666), "%d\n", (int)child);
  if (strcmp(way, "unread") == 0)
    sleep(1);
  return 0;
}
