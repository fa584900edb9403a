/* Scopes become the outermost frames of contexts: by thread, by category, as deep as they nest, whatever way they are left.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -fdebug-info-for-profiling && rm -f %t.raw.*
 * RUN: HEARTH_OPTIONS=log_path=%t.raw %t && mv %t.raw.* %t.raw
 * RUN: python3 %S/../Inputs/raw_print.py %t.raw AllocCount MaxSize > %t.print && FileCheck %s < %t.print
 *
 * CHECK: AllocCount=1 MaxSize=101 {{.*libc.so.6.[0-9a-fx]+$}}
 * CHECK-NEXT: AllocCount=1 MaxSize=102 {{.*}}libc.so.6{{[^ ]*}} scope:request{{$}}
 * CHECK: AllocCount=2 MaxSize=103 {{.*}}libc.so.6{{[^ ]*}} scope:parse.1 scope:request{{$}}
 * CHECK-NEXT: AllocCount=1 MaxSize=104 {{.*}} scope:thread{{$}}
 * CHECK-NEXT: AllocCount=1 MaxSize=105 {{.*libc.so.6.[0-9a-fx]+$}}
 * CHECK-NEXT: AllocCount=1 MaxSize=106 {{.*}} scope:select * from t{{$}}
 * CHECK-NEXT: AllocCount=1 MaxSize=107 {{.*libc.so.6.[0-9a-fx]+$}}
 *
 * Of 49 nested ones, the outermost 32.
 * RUN: grep -o 'MaxSize=208 .*' %t.print | grep -o 'scope:deep' | wc -l | FileCheck %s --check-prefix=DEEP
 * RUN: grep -o 'MaxSize=248 .*' %t.print | grep -o 'scope:deep' | wc -l | FileCheck %s --check-prefix=DEEPEST
 * DEEP: {{^}}9
 * DEEPEST: {{^}}32
 *
 * One category, or none. The compiler's side is not disturbed: names are kept in the indexed profile, with their suffixes.
 * RUN: rm -f %t.some.* && HEARTH_OPTIONS=log_path=%t.some:scopes=sql,parser %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.some.* MaxSize | FileCheck %s --check-prefix=SOME
 * SOME-NOT: scope:request
 * SOME: MaxSize=103 {{.*}} scope:parse.1{{$}}
 * SOME: MaxSize=106 {{.*}} scope:select * from t{{$}}
 * RUN: rm -f %t.none.* && HEARTH_OPTIONS=log_path=%t.none:scopes=none %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.none.* | not grep scope:
 *
 * RUN: %hearth index -q %t.raw -o %t.prof && %hearth show --text %t.prof > %t.txt
 * RUN: FileCheck %s --check-prefix=TEXT < %t.txt
 * TEXT: frame parse.1 (scope) 0 ? 0 0
 * TEXT-NEXT: frame request (scope) 0 ? 0 0
 * RUN: %hearth index -q %t.txt -o %t.again && cmp %t.prof %t.again
 * RUN: %if views %{ %hearth export --format=folded --value=allocs %t.prof | grep -q '^request;parse.1;main;.* 2$' %}
 *
 * In LLVM's layout, names have no place.
 * RUN: rm -f %t.llvm.* && HEARTH_OPTIONS=log_path=%t.llvm:format=llvm %t && %profdata show --memory %t.llvm.* \
 * RUN:   --profiled-binary=%t > %t.llvm.txt && not grep -q 'parse.1' %t.llvm.txt
 * REQUIRES: llvm22
 */
#include "hearth/context.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static void make(size_t size) { free(malloc(size)); }

static void handle(void) {
  HEARTH_SCOPE("server", "request");
  make(102);
  for (int i = 0; i < 2; ++i) {
    HEARTH_SCOPE("parser", "parse.1");
    make(103);
    if (i == 1)
      return; /* leaves both */
  }
}

static void *thread(void *closure) {
  HEARTH_SCOPE("server", "thread");
  make(104);
  return closure;
}

static jmp_buf back;

static void jump(void) {
  HEARTH_SCOPE("server", "left by longjmp");
  longjmp(back, 1);
}

static void nest(int depth) {
  HEARTH_SCOPE("server", "deep");
  make((size_t)(200 + depth));
  if (depth < 48)
    nest(depth + 1);
}

int main(void) {
  pthread_t other;
  char name[32] = "select * from t";

  make(101);
  for (int i = 0; i < 1; ++i)
    handle();
  {
    HEARTH_SCOPE("server", "request");
    make(102);
    make(102);
  }
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  make(105);
  hearth_scope_token token = hearth_context_push("sql", name);
  make(106);
  hearth_context_pop(token);
  name[0] = '\0';
  token = hearth_context_push("server", "around");
  if (setjmp(back) == 0)
    jump();
  hearth_context_pop(token);
  make(107);
  nest(0);
  return 0;
}
