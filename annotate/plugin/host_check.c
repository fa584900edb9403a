/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin for one LLVM release in a compiler of another crashes in its first static constructor, with a stack dump that
 * names LLVM. This runs before any of them and reports the mismatch instead. */
#include <stdio.h>
#include <unistd.h>

#include "hearth/ir_facts.h"

/* llvm-c has it from release 16 on. */
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) __attribute__((weak));

__attribute__((constructor(101))) static void check_host(void) {
  unsigned major = 0, minor, patch;
  if (LLVMGetVersion)
    LLVMGetVersion(&major, &minor, &patch);
  unsigned own = hearth_ir_llvm_major();
  if (major == own || (major == 0 && own < 16))
    return;
  if (major)
    fprintf(stderr,
            "hearth.so: error: this plugin was built for LLVM %u, the compiler is of LLVM %u: use one of the "
            "same release ('hearth flags --clang=CLANG' checks)\n",
            own, major);
  else
    fprintf(stderr,
            "hearth.so: error: this plugin was built for LLVM %u, the compiler is of a release before 16: use "
            "one of the same release ('hearth flags --clang=CLANG' checks)\n",
            own);
  _exit(1);
}
