/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inline code: shift the address, load, add, store, or one atomic addition. Histogram counters stay at their
 * greatest value. Ranges and atomic histograms are calls of the runtime. */

#include "instrument.h"

#include <string.h>

hearth_counters hearth_counters_create(LLVMModuleRef module, bool atomic, bool histogram) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (hearth_counters){.module = module,
                           .builder = LLVMCreateBuilderInContext(context),
                           .i64 = LLVMInt64TypeInContext(context),
                           .pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0),
                           .counter = histogram ? LLVMInt8TypeInContext(context) : LLVMInt32TypeInContext(context),
                           .atomic = atomic,
                           .histogram = histogram};
}

void hearth_counters_destroy(hearth_counters *counters) { LLVMDisposeBuilder(counters->builder); }

unsigned hearth_counters_granule(const hearth_counters *counters) { return counters->histogram ? 8 : HEARTH_GRANULE; }

LLVMValueRef hearth_counters_declare(hearth_counters *counters, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(counters->module, name);
  return function ? function : LLVMAddFunction(counters->module, name, type);
}

static void load_base(hearth_counters *counters) {
  const char *name = counters->stores      ? "__hearth_stores"
                     : counters->histogram ? "__memprof_shadow_memory_dynamic_address"
                                           : "__hearth_counters";
  LLVMValueRef global = LLVMGetNamedGlobal(counters->module, name);
  if (!global)
    global = LLVMAddGlobal(counters->module, counters->i64, name);
  LLVMBuilderRef b = counters->builder;
  counters->shadow_base = LLVMBuildLoad2(b, counters->i64, global, "hearth.shadow");
  counters->first =
      LLVMBuildIntToPtr(b, counters->shadow_base, LLVMPointerType(counters->counter, 0), "hearth.counters");
}

/* One load for the function: the register allocator keeps it or loads it again, whichever is cheaper. */
void hearth_counters_enter(hearth_counters *counters, LLVMValueRef function) {
  LLVMPositionBuilderBefore(counters->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
  load_base(counters);
}

/* Removes a load that serves none. */
void hearth_counters_leave(hearth_counters *counters) {
  if (LLVMGetFirstUse(counters->first))
    return;
  LLVMInstructionEraseFromParent(counters->first);
  LLVMInstructionEraseFromParent(counters->shadow_base);
}

/* Call an intrinsic function of two operands of one type. */
static LLVMValueRef combine(hearth_counters *counters, const char *intrinsic, LLVMValueRef left, LLVMValueRef right) {
  LLVMTypeRef type = LLVMTypeOf(left);
  unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(counters->module, id, &type, 1);
  return LLVMBuildCall2(counters->builder, LLVMGlobalGetValueType(function), function, (LLVMValueRef[]){left, right}, 2,
                        "");
}

static void counter_call_runtime(hearth_counters *counters, const char *name, LLVMTypeRef first_type,
                                 LLVMValueRef first, LLVMValueRef second) {
  LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(counters->module));
  LLVMTypeRef type = LLVMFunctionType(none, (LLVMTypeRef[]){first_type, counters->i64}, 2, false);
  LLVMBuildCall2(counters->builder, type, hearth_counters_declare(counters, name, type),
                 (LLVMValueRef[]){first, second}, 2, "");
}

static void add_inline(hearth_counters *counters, LLVMValueRef address, uint64_t count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef shift = LLVMConstInt(counters->i64, counters->histogram ? 3 : 4, false);
  LLVMValueRef granule = LLVMBuildLShr(b, address, shift, "");
  LLVMValueRef counter = LLVMBuildGEP2(b, counters->counter, counters->first, &granule, 1, "");
  LLVMValueRef added = LLVMConstInt(counters->counter, count, false);
  if (counters->atomic) {
    LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpAdd, counter, added, LLVMAtomicOrderingMonotonic, false);
    return;
  }
  bool stays_at_most = counters->histogram || counters->stores;
  LLVMValueRef before = LLVMBuildLoad2(b, counters->counter, counter, "");
  LLVMBuildStore(b,
                 stays_at_most ? combine(counters, "llvm.uadd.sat", before, added) : LLVMBuildAdd(b, before, added, ""),
                 counter);
}

void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, uint64_t count) {
  if (counters->histogram && counters->atomic) /* no atomic instruction stays at the greatest number */
    counter_call_runtime(counters, "__hearth_count_atomic", counters->i64, address,
                         LLVMConstInt(counters->i64, count, false));
  else
    add_inline(counters, address, count);
}

void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size) {
  counter_call_runtime(counters, "__memprof_record_access_range", counters->pointer,
                       LLVMBuildPointerCast(counters->builder, pointer, counters->pointer, ""), size);
}
