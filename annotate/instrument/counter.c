/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inline code: shift the address, load, add, store, or one atomic addition. Histogram counters stay at their greatest
 * value. Ranges, strided updates and atomic histograms are calls of the runtime. */
#include "counter.h"

#include <string.h>

hearth_counters hearth_counters_create(LLVMModuleRef module, bool atomic, bool histogram) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (hearth_counters){.module = module,
                           .builder = LLVMCreateBuilderInContext(context),
                           .i64 = LLVMInt64TypeInContext(context),
                           .pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0),
                           .counter = histogram ? LLVMInt8TypeInContext(context) : LLVMInt64TypeInContext(context),
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
  const char *name = "__memprof_shadow_memory_dynamic_address";
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
  if (counters->bursts)
    return;
  LLVMPositionBuilderBefore(counters->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
  load_base(counters);
}

void hearth_counters_leave(hearth_counters *counters) {
  if (counters->bursts || LLVMGetFirstUse(counters->first))
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

/* No atomic instruction stays at the greatest number: the runtime does it. */
static void add_to_byte(hearth_counters *counters, LLVMValueRef counter, LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef most = LLVMConstInt(counters->i64, UINT8_MAX, false);
  if (!LLVMIsAConstantInt(count))
    count = combine(counters, "llvm.umin", count, most);
  else if (LLVMConstIntGetZExtValue(count) > UINT8_MAX)
    count = most;
  LLVMValueRef byte = LLVMBuildTrunc(b, count, counters->counter, "");
  LLVMValueRef before = LLVMBuildLoad2(b, counters->counter, counter, "");
  LLVMBuildStore(b, combine(counters, "llvm.uadd.sat", before, byte), counter);
}

void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef shift = LLVMConstInt(counters->i64, counters->histogram ? 3 : 6, false);
  if (counters->histogram && counters->atomic) {
    LLVMValueRef one = LLVMConstInt(counters->i64, 1, false);
    hearth_counters_add_strided(counters, address, one, one, count);
    return;
  }
  if (counters->bursts)
    load_base(counters);
  LLVMValueRef granule = LLVMBuildLShr(b, address, shift, "");
  LLVMValueRef counter = LLVMBuildGEP2(b, counters->counter, counters->first, &granule, 1, "");
  if (counters->histogram) {
    add_to_byte(counters, counter, count);
    return;
  }
  if (counters->atomic) {
    LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpAdd, counter, count, LLVMAtomicOrderingMonotonic, false);
    return;
  }
  LLVMValueRef before = LLVMBuildLoad2(b, counters->i64, counter, "");
  LLVMBuildStore(b, LLVMBuildAdd(b, before, count, ""), counter);
}

static void call(hearth_counters *counters, const char *name, LLVMTypeRef *types, LLVMValueRef *arguments, unsigned n) {
  LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(counters->module));
  LLVMTypeRef type = LLVMFunctionType(none, types, n, false);
  LLVMBuildCall2(counters->builder, type, hearth_counters_declare(counters, name, type), arguments, n, "");
}

void hearth_counters_add_strided(hearth_counters *counters, LLVMValueRef address, LLVMValueRef stride,
                                 LLVMValueRef count, LLVMValueRef weight) {
  LLVMTypeRef i64 = counters->i64;
  call(counters, counters->atomic ? "__hearth_count_strided_atomic" : "__hearth_count_strided",
       (LLVMTypeRef[]){i64, i64, i64, i64}, (LLVMValueRef[]){address, stride, count, weight}, 4);
}

void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size) {
  LLVMValueRef at = LLVMBuildPointerCast(counters->builder, pointer, counters->pointer, "");
  call(counters, "__memprof_record_access_range", (LLVMTypeRef[]){counters->pointer, counters->i64},
       (LLVMValueRef[]){at, size}, 2);
}
