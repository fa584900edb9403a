/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inline code: shift the address, load, add, store, or one atomic addition. Histogram counters stay at their greatest value.
 * Ranges, strided updates and atomic histograms are calls of the runtime. */

#include "instrument.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

/* So much is added inline at once: the runtime notices a wrap only if it has seen both halves of a counter. */
#define MOST_INLINE ((UINT64_C(1) << 24) - 1)
#define MOST_LOOKS  32 /* at the parts of a count */

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

void hearth_counters_destroy(hearth_counters *counters) {
  free(counters->large);
  LLVMDisposeBuilder(counters->builder);
}

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

static LLVMValueRef add_to_word(hearth_counters *counters, LLVMValueRef counter, LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef word = LLVMBuildTrunc(b, count, counters->counter, "");
  if (counters->atomic)
    return LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpAdd, counter, word, LLVMAtomicOrderingMonotonic, false);
  LLVMValueRef before = LLVMBuildLoad2(b, counters->counter, counter, "");
  LLVMValueRef sum =
      counters->stores ? combine(counters, "llvm.uadd.sat", before, word) : LLVMBuildAdd(b, before, word, "");
  return LLVMBuildStore(b, sum, counter);
}

static LLVMValueRef granule_of(hearth_counters *counters, LLVMValueRef address) {
  LLVMValueRef shift = LLVMConstInt(counters->i64, counters->histogram ? 3 : 4, false);
  return LLVMBuildLShr(counters->builder, address, shift, "");
}

static LLVMValueRef counter_of(hearth_counters *counters, LLVMValueRef granule) {
  return LLVMBuildGEP2(counters->builder, counters->counter, counters->first, &granule, 1, "");
}

void hearth_counters_add_few(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count) {
  LLVMValueRef one = LLVMConstInt(counters->i64, 1, false);
  if (counters->histogram && counters->atomic)
    hearth_counters_add_strided(counters, address, one, one, count);
  else if (counters->histogram)
    add_to_byte(counters, counter_of(counters, granule_of(counters, address)), count);
  else
    add_to_word(counters, counter_of(counters, granule_of(counters, address)), count);
}

/* What comes to a place by ways without a loop is a sum of a few constants. */
static bool is_few(LLVMValueRef count, unsigned *looks_left) {
  if ((*looks_left)-- == 1)
    return false;
  if (LLVMIsAConstantInt(count))
    return LLVMConstIntGetZExtValue(count) <= MOST_INLINE / MOST_LOOKS;
  bool is_sum = LLVMIsAInstruction(count) && LLVMGetInstructionOpcode(count) == LLVMAdd;
  if (!is_sum && !LLVMIsAPHINode(count))
    return false;
  for (int i = 0; i < LLVMGetNumOperands(count); i++)
    if (!is_few(LLVMGetOperand(count, (unsigned)i), looks_left))
      return false;
  return true;
}

static void note_large(hearth_counters *counters, hearth_large_count large) {
  if (hearth_array_grow(&counters->large, &counters->large_capacity, counters->n_large, sizeof large))
    counters->large[counters->n_large++] = large;
  else
    counters->no_memory = true;
}

/* The lowest bits go to the counter at once; the code that tells of others is added when the function is left. */
static void add_many(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count) {
  LLVMBuilderRef b = counters->builder;
  LLVMValueRef most = LLVMConstInt(counters->i64, MOST_INLINE, false);
  hearth_large_count large = {.granule = granule_of(counters, address),
                              .rest = LLVMBuildAnd(b, count, LLVMConstNot(most), ""),
                              .any = LLVMBuildICmp(b, LLVMIntUGT, count, most, "")};
  LLVMValueRef counter = counter_of(counters, large.granule);
  large.added = add_to_word(counters, counter, LLVMBuildAnd(b, count, most, ""));
  note_large(counters, large);
}

void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count) {
  unsigned looks_left = MOST_LOOKS;
  if (counters->histogram || is_few(count, &looks_left))
    hearth_counters_add_few(counters, address, count);
  else
    add_many(counters, address, count);
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

static void counter_tell(hearth_counters *counters, const hearth_large_count *large) {
  LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(counters->module));
  LLVMTypeRef type = LLVMFunctionType(none, (LLVMTypeRef[]){counters->i64, counters->i64}, 2, false);
  LLVMValueRef function = declare_teller(counters, "__hearth_granule_exceeded", type);
  LLVMValueRef call =
      LLVMBuildCall2(counters->builder, type, function, (LLVMValueRef[]){large->granule, large->rest}, 2, "");
  LLVMSetInstructionCallConv(call, LLVMPreserveMostCallConv);
}

static void tell_all(hearth_counters *counters) {
  for (size_t i = 0; i < counters->n_large; i++) {
    const hearth_large_count *large = &counters->large[i];
    LLVMPositionBuilderBefore(counters->builder,
                              hearth_flow_branch_rarely(large->any, LLVMGetNextInstruction(large->added)));
    counter_tell(counters, large);
  }
  counters->n_large = 0;
}

void hearth_counters_leave(hearth_counters *counters) {
  tell_all(counters);
  remove_base(counters);
}

static void counter_call_runtime(hearth_counters *counters, const char *name, LLVMTypeRef *types,
                                 LLVMValueRef *arguments, unsigned n) {
  LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(counters->module));
  LLVMTypeRef type = LLVMFunctionType(none, types, n, false);
  LLVMBuildCall2(counters->builder, type, hearth_counters_declare(counters, name, type), arguments, n, "");
}

void hearth_counters_add_strided(hearth_counters *counters, LLVMValueRef address, LLVMValueRef stride,
                                 LLVMValueRef count, LLVMValueRef weight) {
  LLVMTypeRef i64 = counters->i64;
  counter_call_runtime(counters, counters->atomic ? "__hearth_count_strided_atomic" : "__hearth_count_strided",
                       (LLVMTypeRef[]){i64, i64, i64, i64}, (LLVMValueRef[]){address, stride, count, weight}, 4);
}

void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size) {
  LLVMValueRef at = LLVMBuildPointerCast(counters->builder, pointer, counters->pointer, "");
  counter_call_runtime(counters, "__memprof_record_access_range", (LLVMTypeRef[]){counters->pointer, counters->i64},
                       (LLVMValueRef[]){at, size}, 2);
}
