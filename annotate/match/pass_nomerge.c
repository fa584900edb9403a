/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two arms of a branch that call one helper are one call with an unknown column after hoisting or sinking: the contexts
 * they stand for are lost, in the profile as in the code. */
#include "alloc_functions.h"
#include "hearth/ir_facts.h"
#include "session.h"

typedef struct marking {
  bool all_calls, changed;
} marking;

static void visit(LLVMValueRef instruction, void *data) {
  marking *m = data;
  if (m->all_calls ? !hearth_ir_is_caller(instruction) : !hearth_alloc_function_of(instruction))
    return;
  hearth_forbid_merging(instruction);
  m->changed = true;
}

bool hearth_pass_nomerge(LLVMModuleRef module, bool all_calls) {
  marking m = {.all_calls = all_calls};
  hearth_ir_for_each_instruction(module, visit, &m);
  return m.changed;
}
