/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sets the emission kind of compile units that have locations only for the compiler's own use. */
#include "hearth/ir_facts.h"
#include "passes.h"

bool hearth_pass_line_tables(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  return hearth_ir_emit_line_tables(module);
}
