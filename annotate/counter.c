#include "counter.h"

#define GRANULE_SHIFT 6 /* 64 bytes of memory to one counter */

hearth_counters hearth_counters_create(LLVMModuleRef module, bool atomic) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (hearth_counters){.module = module,
                           .builder = LLVMCreateBuilderInContext(context),
                           .i64 = LLVMInt64TypeInContext(context),
                           .pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0),
                           .atomic = atomic};
}

void hearth_counters_destroy(hearth_counters *counters) { LLVMDisposeBuilder(counters->builder); }

LLVMValueRef hearth_counters_declare(hearth_counters *counters, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(counters->module, name);
  return function ? function : LLVMAddFunction(counters->module, name, type);
}

/* One load for the function: the register allocator keeps it or loads it again, whichever is cheaper. */
void hearth_counters_enter(hearth_counters *counters, LLVMValueRef function) {
  const char *name = "__memprof_shadow_memory_dynamic_address";
  LLVMValueRef global = LLVMGetNamedGlobal(counters->module, name);
  if (!global)
    global = LLVMAddGlobal(counters->module, counters->i64, name);
  LLVMBuilderRef b = counters->builder;
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
  counters->shadow_base = LLVMBuildLoad2(b, counters->i64, global, "hearth.shadow");
  counters->first = LLVMBuildIntToPtr(b, counters->shadow_base, LLVMPointerType(counters->i64, 0), "hearth.counters");
}

void hearth_counters_leave(hearth_counters *counters) {
  if (LLVMGetFirstUse(counters->first))
    return;
  LLVMInstructionEraseFromParent(counters->first);
  LLVMInstructionEraseFromParent(counters->shadow_base);
}

void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef granule = LLVMBuildLShr(b, address, LLVMConstInt(counters->i64, GRANULE_SHIFT, false), "");
  LLVMValueRef counter = LLVMBuildGEP2(b, counters->i64, counters->first, &granule, 1, "");
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
