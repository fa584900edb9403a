/* Of a program whose objects do not come from malloc, the end of a recording and the listing say what is missing, and the remedy.
 *
 * RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && %clang -O1 -g -fno-builtin %s -o python3.12 && cp python3.12 python3-config && cp python3.12 node
 * RUN: %hearth record -o python.raw -- ./python3.12 2>&1 | FileCheck %s --check-prefix=PYTHON --implicit-check-not='not in it'
 * PYTHON: hearth: peak
 * PYTHON-NEXT: hearth: not in it: Python's objects of up to 512 bytes, unless it runs with PYTHONMALLOC=malloc
 * PYTHON-NEXT: hearth: the profile is {{.*}}python.raw
 * RUN: %hearth index -q --symbols python.raw -o python.prof && %hearth show python.prof | FileCheck %s --check-prefix=SHOW
 * SHOW: dropped
 * SHOW-NEXT: not in it {{ *}}Python's objects of up to 512 bytes
 * RUN: %hearth show --json python.prof | grep '"other_heap":"Python'
 * RUN: %if views %{ %hearth report python.prof -o - | grep -c '"other_heap":"Python' %}
 * RUN: %hearth record --mode=trace -o node.trace -- ./node 2>&1 | FileCheck %s --check-prefix=NODE
 * NODE: hearth: not in it: the objects of JavaScript
 *
 * A name that only begins so is another program's.
 * RUN: %hearth record -o other.raw -- ./python3-config 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not='not in it'
 * OTHER: hearth: peak
 */
#include <stdlib.h>

int main(void) {
  free(malloc(10));
  return malloc(20) == NULL;
}
