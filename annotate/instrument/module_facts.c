/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All facts that can hold are noted first; those that some function contradicts are taken back until nothing does. So
 * cycles of calls, too, keep the facts that hold for them as a whole. */

#include "instrument.h"

#include <string.h>

static bool is_local(LLVMValueRef function) {
  LLVMLinkage linkage = LLVMGetLinkage(function);
  return !LLVMIsDeclaration(function) && (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage);
}

static bool fact_holds(LLVMValueRef function, LLVMAttributeIndex at, const char *fact) {
  return LLVMGetStringAttributeAtIndex(function, at, fact, (unsigned)strlen(fact)) != NULL;
}

static void fact_note(LLVMValueRef function, LLVMAttributeIndex at, const char *fact) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(function, at, LLVMCreateStringAttribute(context, fact, (unsigned)strlen(fact), "", 0));
}

static void fact_forget(LLVMValueRef function, LLVMAttributeIndex at, const char *fact) {
  LLVMRemoveStringAttributeAtIndex(function, at, fact, (unsigned)strlen(fact));
}

static bool is_pointer(LLVMValueRef argument) { return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind; }

/* --- arguments --- */

static bool is_plain_call(LLVMValueRef user, LLVMValueRef function) {
  if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
    return false;
  unsigned count = LLVMGetNumArgOperands(user);
  if (LLVMGetCalledValue(user) != function || count < LLVMCountParams(function))
    return false;
  for (unsigned i = 0; i < count; i++)
    if (LLVMGetArgOperand(user, i) == function)
      return false;
  return true;
}

/* Every call is in sight, and there is one. */
static bool has_known_callers(LLVMValueRef function) {
  LLVMUseRef use = LLVMGetFirstUse(function);
  if (!use)
    return false;
  for (; use; use = LLVMGetNextUse(use))
    if (!is_plain_call(LLVMGetUser(use), function))
      return false;
  return true;
}

static void note_arguments(LLVMValueRef function) {
  for (unsigned i = 0, n = LLVMCountParams(function); i < n; i++)
    if (is_pointer(LLVMGetParam(function, i)))
      fact_note(function, i + 1, HEARTH_FACT_OUTSIDE);
}

static bool is_given_heap(LLVMValueRef function, unsigned argument) {
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
    if (hearth_may_be_heap(LLVMGetArgOperand(LLVMGetUser(use), argument)))
      return true;
  return false;
}

/* Returns whether anything was taken back. */
static bool check_arguments(LLVMValueRef function) {
  bool changed = false;
  for (unsigned i = 0, n = LLVMCountParams(function); i < n; i++)
    if (fact_holds(function, i + 1, HEARTH_FACT_OUTSIDE) && is_given_heap(function, i)) {
      fact_forget(function, i + 1, HEARTH_FACT_OUTSIDE);
      changed = true;
    }
  return changed;
}

/* --- functions --- */

static bool may_interrupt(LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (!LLVMIsAReturnInst(i) && hearth_flow_interrupts(i))
        return true;
  return false;
}

static bool check_quiet(LLVMValueRef function) {
  if (!fact_holds(function, LLVMAttributeFunctionIndex, HEARTH_FACT_QUIET) || !may_interrupt(function))
    return false;
  fact_forget(function, LLVMAttributeFunctionIndex, HEARTH_FACT_QUIET);
  return true;
}

/* --- the module --- */

void hearth_module_facts_note(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (!is_local(f))
      continue;
    fact_note(f, LLVMAttributeFunctionIndex, HEARTH_FACT_QUIET);
    if (has_known_callers(f))
      note_arguments(f);
  }
  for (bool again = true; again;) {
    again = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
      if (is_local(f)) {
        again |= check_arguments(f);
        again |= check_quiet(f);
      }
  }
}

void hearth_module_facts_forget(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    fact_forget(f, LLVMAttributeFunctionIndex, HEARTH_FACT_QUIET);
    for (unsigned i = 0, n = LLVMCountParams(f); i < n; i++)
      fact_forget(f, i + 1, HEARTH_FACT_OUTSIDE);
  }
}
