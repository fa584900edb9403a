/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each store adds one to a second counter of its granule, at __hearth_stores + address / 16 * 4, which stays at its greatest
 * number; so does each call of a library function or memory intrinsic that may write through a pointer, however much. None are
 * joined: a global without stores has none at all. */

#include "instrument.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "shim.h"

static bool add_store(hearth_global_stores *s, LLVMValueRef instruction, LLVMValueRef pointer) {
  if (!hearth_may_be_heap(pointer))
    return true;
  if (!hearth_array_grow(&s->items, &s->capacity, s->count, sizeof *s->items))
    return false;
  s->items[s->count++] = (hearth_global_store){instruction, pointer};
  return true;
}

static bool add_call(hearth_global_stores *s, LLVMValueRef call) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee || (!LLVMGetIntrinsicID(callee) && !hearth_library_knows(call)))
    return true;
  for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++) {
    LLVMValueRef argument = LLVMGetArgOperand(call, i);
    if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && hearth_shim_may_write_through(call, i) &&
        !add_store(s, call, argument))
      return false;
  }
  return true;
}

static bool add_instruction(hearth_global_stores *s, LLVMValueRef i) {
  if (LLVMIsAStoreInst(i))
    return add_store(s, i, LLVMGetOperand(i, 1));
  if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
    return add_store(s, i, LLVMGetOperand(i, 0));
  return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) ? add_call(s, i) : true;
}

bool hearth_global_stores_collect(LLVMValueRef function, hearth_global_stores *ret) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  unsigned nosanitize = LLVMGetMDKindIDInContext(context, "nosanitize", (unsigned)strlen("nosanitize"));
  *ret = (hearth_global_stores){.items = NULL};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (!LLVMGetMetadata(i, nosanitize) && !add_instruction(ret, i))
        return false;
  return true;
}

void hearth_global_stores_free(hearth_global_stores *stores) { free(stores->items); }

void hearth_global_stores_count(const hearth_global_stores *stores, LLVMValueRef function, hearth_counters *counters) {
  LLVMValueRef one = LLVMConstInt(counters->i64, 1, false);
  if (stores->count == 0)
    return;
  hearth_counters_enter(counters, function);
  for (size_t i = 0; i < stores->count; i++) {
    const hearth_global_store *store = &stores->items[i];
    LLVMPositionBuilderBefore(counters->builder, store->instruction);
    hearth_counters_add_few(counters, LLVMBuildPtrToInt(counters->builder, store->pointer, counters->i64, ""), one);
  }
  hearth_counters_leave(counters);
}
