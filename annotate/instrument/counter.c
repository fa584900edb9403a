/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inline code: shift the address, load, add, store, or one atomic addition, and a branch where the counter wraps around.
 * Histogram counters stay at their greatest value. Ranges, strided updates and atomic histograms are calls of the runtime. */
#include "counter.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "flow.h"

#define WRAP_IS_ATOMIC (UINT64_C(1) << 63) /* as in the runtime */

hearth_counters hearth_counters_create(LLVMModuleRef module, bool atomic, bool histogram) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (hearth_counters){.module = module,
                           .builder = LLVMCreateBuilderInContext(context),
                           .i64 = LLVMInt64TypeInContext(context),
                           .pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0),
                           .counter = histogram ? LLVMInt8TypeInContext(context) : LLVMInt16TypeInContext(context),
                           .atomic = atomic,
                           .histogram = histogram};
}

void hearth_counters_destroy(hearth_counters *counters) {
  free(counters->wraps);
  LLVMDisposeBuilder(counters->builder);
}

unsigned hearth_counters_granule(const hearth_counters *counters) { return counters->histogram ? 8 : HEARTH_GRANULE; }

LLVMValueRef hearth_counters_declare(hearth_counters *counters, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(counters->module, name);
  return function ? function : LLVMAddFunction(counters->module, name, type);
}

static void load_base(hearth_counters *counters) {
  const char *name = counters->histogram ? "__memprof_shadow_memory_dynamic_address" : "__hearth_counters";
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

static void remove_base(hearth_counters *counters) {
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

static void note_wrap(hearth_counters *counters, hearth_wrap wrap) {
  if (hearth_array_grow(&counters->wraps, &counters->wraps_capacity, counters->n_wraps, sizeof wrap))
    counters->wraps[counters->n_wraps++] = wrap;
  else
    counters->no_memory = true;
}

/* The count has 15 bits: the processor says whether the sum has 16, and what is left in the counter has not its highest one, as
 * the runtime is told. */
static void add_small(hearth_counters *counters, LLVMValueRef counter, LLVMValueRef granule, LLVMValueRef before,
                      LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef both = combine(counters, "llvm.uadd.with.overflow", before,
                              LLVMConstInt(counters->counter, LLVMConstIntGetZExtValue(count), false));
  LLVMValueRef wraps = LLVMBuildExtractValue(b, both, 1, "");
  LLVMValueRef store = LLVMBuildStore(b, LLVMBuildExtractValue(b, both, 0, ""), counter);
  note_wrap(counters, (hearth_wrap){store, granule, NULL, wraps});
}

static void add_any(hearth_counters *counters, LLVMValueRef counter, LLVMValueRef granule, LLVMValueRef before,
                    LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef sum = LLVMBuildAdd(b, LLVMBuildZExt(b, before, counters->i64, ""), count, "");
  if (!counters->atomic) /* else it is stored */
    LLVMBuildStore(b, LLVMBuildTrunc(b, sum, counters->counter, ""), counter);
  LLVMValueRef told =
      counters->atomic ? LLVMBuildOr(b, sum, LLVMConstInt(counters->i64, WRAP_IS_ATOMIC, false), "") : sum;
  LLVMValueRef wraps = LLVMBuildICmp(b, LLVMIntUGT, sum, LLVMConstInt(counters->i64, UINT16_MAX, false), "");
  note_wrap(counters, (hearth_wrap){wraps, granule, told, wraps});
}

void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef shift = LLVMConstInt(counters->i64, counters->histogram ? 3 : 4, false);
  if (counters->histogram && counters->atomic) {
    LLVMValueRef one = LLVMConstInt(counters->i64, 1, false);
    hearth_counters_add_strided(counters, address, one, one, count);
    return;
  }
  LLVMValueRef granule = LLVMBuildLShr(b, address, shift, "");
  LLVMValueRef counter = LLVMBuildGEP2(b, counters->counter, counters->first, &granule, 1, "");
  if (counters->histogram) {
    add_to_byte(counters, counter, count);
    return;
  }
  if (counters->atomic) {
    LLVMValueRef part = LLVMBuildTrunc(b, count, counters->counter, "");
    LLVMValueRef before =
        LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpAdd, counter, part, LLVMAtomicOrderingMonotonic, false);
    add_any(counters, counter, granule, before, count);
    return;
  }
  LLVMValueRef before = LLVMBuildLoad2(b, counters->counter, counter, "");
  if (LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) <= INT16_MAX)
    add_small(counters, counter, granule, before, count);
  else
    add_any(counters, counter, granule, before, count);
}

/* It keeps most registers, and is not bound lazily, as the resolver does not: code around it need not save any. */
static LLVMValueRef declare_teller(hearth_counters *counters, const char *name, LLVMTypeRef type) {
  static const char *const facts[] = {"cold", "nounwind", "nonlazybind"};
  LLVMContextRef context = LLVMGetModuleContext(counters->module);
  LLVMValueRef function = hearth_counters_declare(counters, name, type);
  LLVMSetFunctionCallConv(function, LLVMPreserveMostCallConv);
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(facts[i], strlen(facts[i]));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
  }
  return function;
}

/* There are as many such calls as additions: the fewer values they need, the smaller is the code, and the more registers are free. */
static void tell(hearth_counters *counters, const hearth_wrap *wrap) {
  LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(counters->module));
  LLVMValueRef arguments[] = {wrap->granule, wrap->sum};
  unsigned count = wrap->sum ? 2 : 1;
  LLVMTypeRef type = LLVMFunctionType(none, (LLVMTypeRef[]){counters->i64, counters->i64}, count, false);
  LLVMValueRef function =
      declare_teller(counters, wrap->sum ? "__hearth_granule_exceeded" : "__hearth_granule_wrapped", type);
  LLVMValueRef call = LLVMBuildCall2(counters->builder, type, function, arguments, count, "");
  LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
}

static void add_wraps(hearth_counters *counters) {
  for (size_t i = 0; i < counters->n_wraps; i++) {
    const hearth_wrap *wrap = &counters->wraps[i];
    LLVMPositionBuilderBefore(counters->builder,
                              hearth_flow_branch_rarely(wrap->wraps, LLVMGetNextInstruction(wrap->last)));
    tell(counters, wrap);
  }
  counters->n_wraps = 0;
}

void hearth_counters_leave(hearth_counters *counters) {
  add_wraps(counters);
  remove_base(counters);
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
