/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The callee's name or attribute tells the kind of switch. Code around the call saves and restores the context word, or
 * clears it. */
#include "control_switches.h"

#include <string.h>

#include "hearth/ir_facts.h"
#include "unwind_edges.h"

static bool returns_twice(LLVMValueRef call, LLVMValueRef function) {
  unsigned kind = LLVMGetEnumAttributeKindForName("returns_twice", strlen("returns_twice"));
  return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
         (function && LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind));
}

/* Of the C library, and of Boost.Context. */
static bool leaves(LLVMValueRef function) {
  static const char *const names[] = {"swapcontext", "setcontext",    "longjmp",       "_longjmp",
                                      "siglongjmp",  "__longjmp_chk", "jump_fcontext", "ontop_fcontext"};
  size_t length;
  const char *name = LLVMGetValueName2(function, &length);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && memcmp(name, names[i], length) == 0)
      return true;
  return false;
}

hearth_switch hearth_switch_of(LLVMValueRef instruction) {
  if (!hearth_ir_is_call(instruction) || hearth_ir_call_is_musttail(instruction) ||
      LLVMGetInstructionOpcode(instruction) == LLVMCallBr)
    return HEARTH_SWITCH_NONE;
  LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(instruction));
  if (returns_twice(instruction, function))
    return HEARTH_SWITCH_RETURNS_TWICE;
  return function && LLVMIsDeclaration(function) && leaves(function) ? HEARTH_SWITCH_LEAVES : HEARTH_SWITCH_NONE;
}

typedef struct kept {
  LLVMValueRef value, word;
} kept;

static void control_switch_restore(LLVMBuilderRef builder, void *data) {
  const kept *k = data;
  LLVMBuildStore(builder, k->value, k->word);
}

void hearth_switch_keep_word(LLVMValueRef call, hearth_switch kind, LLVMValueRef word, uint64_t lasting) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(hearth_ir_function_of(call)));
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMBasicBlockRef pad = NULL;
  LLVMPositionBuilderBefore(builder, call);
  kept k = {.value = LLVMBuildLoad2(builder, i64, word, "contexts"), .word = word};
  if (kind == HEARTH_SWITCH_LEAVES)
    LLVMBuildStore(builder, LLVMBuildAnd(builder, k.value, LLVMConstInt(i64, lasting, false), ""), word);
  hearth_after_call(call, &pad, control_switch_restore, &k);
  LLVMDisposeBuilder(builder);
}
