/* What is live at exit is exact: one caller's blocks are of two sizes, and only the large one stays. In a sum with a profile that
 * does not hold these bytes, that one's are estimated.
 *
 * RUN: rm -rf %t && mkdir %t && %clang -O1 -g -fno-builtin %s -o %t/app && cd %t
 * RUN: %hearth record -q -o raw -- ./app && %hearth index -q raw -o prof
 * RUN: %hearth show --function=make prof | FileCheck %s
 * CHECK: at exit {{ *[0-9.]+ [KM]iB}} live
 * CHECK: 10 allocations, 976.7 KiB
 * CHECK-NEXT: 1 live at exit with 976.6 KiB (1000000 bytes)
 * RUN: %hearth show --function=make --sort=live --json prof | FileCheck %s --check-prefix=JSON
 * JSON: "LiveBytes":1000000
 *
 * RUN: %hearth show --text prof | sed '/LiveBytes/d; /SizedAtExit/d' > text && %hearth index -q text -o estimated
 * RUN: %hearth show --function=make estimated | FileCheck %s --check-prefix=ABOUT
 * ABOUT: at exit    about
 * ABOUT: 1 live at exit with about 97.7 KiB
 * RUN: %hearth show --function=make --by=function --json estimated | FileCheck %s --check-prefix=ESTIMATE
 * ESTIMATE: "live":100010{{[,}]}}
 * RUN: %hearth merge -q prof estimated -o both && %hearth show --function=make --json both | FileCheck %s --check-prefix=BOTH
 * BOTH: "LiveAtExit":2,{{.*}}"SizedAtExit":1,"LiveBytes":1000000,
 * RUN: %hearth show --function=make --by=function --json both | FileCheck %s --check-prefix=SUM
 * SUM: "live":1100010{{[,}]}}
 */
#include <stdlib.h>

static char *volatile kept;

__attribute__((noinline)) static char *make(size_t size) {
  char *block = malloc(size);
  *(volatile char *)block = 1;
  return block;
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    char *block = make(i == 4 ? 1000000 : 10 + (i == 0) * 10);
    if (i == 4)
      kept = block;
    else
      free(block);
  }
  return 0;
}
