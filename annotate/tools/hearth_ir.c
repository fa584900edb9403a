/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth-ir check STATISTICS LIMIT FILE...`: the part of `hearth check` that needs LLVM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Support.h>

#include "ir_commands.h"

int main(int argc, char **argv) {
  static const char *const options[] = {"hearth-ir", "-disable-auto-upgrade-debug-info"};
  LLVMParseCommandLineOptions(2, options, NULL);
  if (argc > 4 && strcmp(argv[1], "check") == 0)
    return hearth_ir_check(*argv[2] == '1', strtoull(argv[3], NULL, 10), argv + 4);
  fputs("This is a part of hearth: use 'hearth check'.\n", stderr);
  return HEARTH_IR_USAGE;
}
