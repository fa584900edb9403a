/* What a recorded program prints, reads, how it ends and what it sees of its environment is as without, but for lines at the
 * end that say where the profile is. The first file name is the one given, and no file is overwritten. */
/* RUN: %clang -O1 %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: echo in | env -u LD_PRELOAD %t print > plain.out 2> plain.err || echo $? > plain.code
 * RUN: echo in | env -u LD_PRELOAD %hearth record -q -o raw -- %t print > out 2> err || echo $? > code
 * RUN: cmp plain.out out && cmp plain.err err && cmp plain.code code && test -s raw
 * RUN: echo in | env -u LD_PRELOAD not %hearth record -o told -- %t print > out 2> err
 * RUN: cmp plain.out out && FileCheck %s --check-prefix=TOLD < err && grep -v '^hearth: ' err | cmp - plain.err
 * TOLD: to standard error
 * TOLD-NEXT: hearth: peak
 * TOLD-NEXT: hearth: the profile is {{.*}}/told{{$}}
 * TOLD-NEXT: hearth: to see it: hearth index --symbols {{.*}}/told -o heap.prof && hearth show heap.prof
 * TOLD-NOT: {{.}}
 * RUN: %hearth record --mode=trace -o ops -- %t 2>&1 | FileCheck %s --check-prefix=TRACE
 * TRACE: the trace is {{.*}}/ops
 * TRACE-NEXT: hearth report {{.*}}/ops -o report.html
 * RUN: %hearth record --mode=live -o dump -- %t 2>&1 | FileCheck %s --check-prefix=LIVE
 * LIVE: the last heap dump is {{.*}}/dump.1
 * LIVE-NEXT: hearth heap {{.*}}/dump.*
 *
 * A file that the program has under the number of standard error is left alone:
 * RUN: %hearth record -o file -- %t file && FileCheck %s --check-prefix=OWN < own.txt
 * OWN: {{^}}the program's own{{$}}
 * OWN-NOT: {{.}}
 *
 * RUN: not env HEARTH_OPTIONS=verbosity=1 %hearth record -o raw -- %t print < /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
 * SECOND: profile written to {{.*}}/raw.2,
 *
 * Of the programs that are preloaded anyway nothing is lost:
 * RUN: env LD_PRELOAD=%malloc %hearth record -o own -- %t preloaded | FileCheck %s --check-prefix=OTHERS
 * OTHERS: LD_PRELOAD={{.*}}libhearth_malloc.so
 *
 * Signals, and ways to leave at once:
 * RUN: bash -c '%hearth record -o segv -- %t segv; echo $?' 2>&1 | FileCheck %s --check-prefix=SEGV
 * SEGV: 139
 * RUN: bash -c '%hearth record -o term -- %t term; echo $?' 2>&1 | FileCheck %s --check-prefix=TERM
 * TERM: 143
 * RUN: bash -c '%hearth record -o leave -- %t leave; echo $?' 2>&1 | FileCheck %s --check-prefix=LEAVE
 * LEAVE: 9
 * RUN: test -s segv && test -s term && test -s leave
 *
 * Children are recorded on request, each with its pid, and what they were before they called exec, too:
 * RUN: %hearth record -o alone -- %t children && ls | grep -c alone | FileCheck %s --check-prefix=ALONE
 * ALONE: {{^1$}}
 * RUN: %hearth record --follow-children -o family -- %t children 2>&1 | FileCheck %s --check-prefix=CHILDREN
 * CHILDREN: the profile is {{.*}}/family{{$}}
 * CHILDREN: those of child processes are {{.*}}/family.PID
 * CHILDREN-NOT: {{.}}
 * RUN: ls | grep family | sed 's,[.][0-9].*,.PID,' | FileCheck %s --check-prefix=FAMILY
 * FAMILY: {{^family$}}
 * FAMILY-NEXT: {{^family.PID$}}
 * FAMILY-NEXT: {{^family.PID$}}
 * FAMILY-NEXT: {{^family.PID$}}
 * FAMILY-NOT: {{.}}
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile block;

static void use_heap(void) {
  block = malloc(10);
  free(block);
}

static int print(void) {
  char line[64];

  while (fgets(line, sizeof line, stdin))
    fputs(line, stdout);
  for (char **variable = environ; *variable; ++variable)
    puts(*variable);
  fputs("to standard error\n", stderr);
  return 3;
}

static int use_number_of_stderr(void) {
  close(2);
  return open("own.txt", O_CREAT | O_TRUNC | O_WRONLY, 0666) == 2 && write(2, "the program's own\n", 18) == 18 ? 0 : 1;
}

static void run(const char *program, const char *what) {
  pid_t child = fork();

  if (child == 0) {
    use_heap();
    if (what)
      execl(program, program, what, (char *)NULL);
    exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";

  use_heap();
  if (strcmp(what, "print") == 0)
    return print();
  if (strcmp(what, "file") == 0)
    return use_number_of_stderr();
  if (strcmp(what, "preloaded") == 0)
    printf("LD_PRELOAD=%s\n", getenv("LD_PRELOAD"));
  if (strcmp(what, "segv") == 0)
    *(volatile int *)0 = 0;
  if (strcmp(what, "term") == 0)
    raise(SIGTERM);
  if (strcmp(what, "leave") == 0)
    _exit(9);
  if (strcmp(what, "children") == 0) {
    run(argv[0], NULL);
    run(argv[0], "nothing");
  }
  return 0;
}
