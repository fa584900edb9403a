/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Access counting: each load, store, atomic and masked access adds to the shadow counter of the 16-byte granule that it
 * begins in. Memory intrinsics of unknown or large size become calls of the runtime, which counts their ranges.
 * Gathers and scatters are not counted: each of their lanes has an address of its own. */
#include "instrument.h"

#include <string.h>

#include "hearth/ir_facts.h"
#include "module.h"
#include "shim.h"

/* ------------------------------------------------ counters ------------------------------------------------ */

/* Inline code: shift the address, load, add, store, or one atomic addition. Histogram counters stay at their
 * greatest value. Ranges and atomic histograms are calls of the runtime. */

static hearth_counters counters_create(LLVMModuleRef module, bool atomic, bool histogram) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (hearth_counters){.module = module,
                           .builder = LLVMCreateBuilderInContext(context),
                           .i64 = LLVMInt64TypeInContext(context),
                           .pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0),
                           .counter = histogram ? LLVMInt8TypeInContext(context) : LLVMInt32TypeInContext(context),
                           .atomic = atomic,
                           .histogram = histogram};
}

/* Bytes of memory that a counter counts for. */
static unsigned granule_of(const hearth_counters *counters) { return counters->histogram ? 8 : HEARTH_GRANULE; }

/* The function of that name, declared if it was not. */
static LLVMValueRef counters_declare(hearth_counters *counters, const char *name, LLVMTypeRef type) {
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

void hearth_counters_call(hearth_counters *counters, const char *name, LLVMValueRef *values, unsigned n) {
  LLVMTypeRef types[4], none = LLVMVoidTypeInContext(LLVMGetModuleContext(counters->module));
  for (unsigned i = 0; i < n; i++) {
    types[i] = LLVMTypeOf(values[i]);
    if (LLVMGetTypeKind(types[i]) != LLVMPointerTypeKind)
      continue;
    types[i] = counters->pointer;
    values[i] = LLVMBuildPointerCast(counters->builder, values[i], counters->pointer, "");
  }
  LLVMTypeRef type = LLVMFunctionType(none, types, n, false);
  LLVMBuildCall2(counters->builder, type, counters_declare(counters, name, type), values, n, "");
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
    hearth_counters_call(counters, "__hearth_count_atomic",
                         (LLVMValueRef[]){address, LLVMConstInt(counters->i64, count, false)}, 2);
  else
    add_inline(counters, address, count);
}

void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size) {
  hearth_counters_call(counters, "__memprof_record_access_range", (LLVMValueRef[]){pointer, size}, 2);
}

/* ------------------------------------------------ functions ------------------------------------------------ */

/* The runtime's functions have the parameters of libc's; the intrinsic's volatile flag is dropped. */
static void replace_intrinsic(hearth_counters *c, LLVMValueRef call, const char *name, bool is_set) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(c->module));
  LLVMTypeRef parameters[3] = {c->pointer, is_set ? i32 : c->pointer, c->i64};
  LLVMTypeRef type = LLVMFunctionType(c->pointer, parameters, 3, false);
  LLVMBuilderRef b = c->builder;
  LLVMPositionBuilderBefore(b, call);
  LLVMValueRef arguments[3] = {LLVMBuildPointerCast(b, LLVMGetArgOperand(call, 0), c->pointer, ""),
                               is_set ? LLVMBuildZExt(b, LLVMGetArgOperand(call, 1), i32, "")
                                      : LLVMBuildPointerCast(b, LLVMGetArgOperand(call, 1), c->pointer, ""),
                               LLVMBuildIntCast2(b, LLVMGetArgOperand(call, 2), c->i64, false, "")};
  LLVMBuildCall2(b, type, counters_declare(c, name, type), arguments, 3, "");
  LLVMInstructionEraseFromParent(call);
}

static bool is_in_default_space(LLVMValueRef pointer) { return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == 0; }

static void count_intrinsic(hearth_counters *c, LLVMValueRef call) {
  static const char *const set[] = {"llvm.memset", NULL}, *const move[] = {"llvm.memmove", NULL};
  LLVMValueRef callee = LLVMGetCalledValue(call), to = LLVMGetArgOperand(call, 0), from = LLVMGetArgOperand(call, 1);
  bool is_set = hearth_is_named_like(callee, set);
  if (!is_in_default_space(to) || (!is_set && !is_in_default_space(from)))
    return;
  if (!hearth_may_be_heap(to) && (is_set || !hearth_may_be_heap(from)))
    return;
  replace_intrinsic(c, call,
                    is_set                               ? "__memprof_memset"
                    : hearth_is_named_like(callee, move) ? "__memprof_memmove"
                                                         : "__memprof_memcpy",
                    is_set);
}

static void count_access(hearth_counters *c, const hearth_access *access) {
  LLVMPositionBuilderBefore(c->builder, access->instruction);
  LLVMValueRef address = LLVMBuildPtrToInt(c->builder, access->pointer, c->i64, "");
  if (access->displacement)
    address =
        LLVMBuildAdd(c->builder, address, LLVMConstInt(c->i64, (unsigned long long)access->displacement, true), "");
  hearth_counters_add(c, address, access->weight);
}

static void instrument_count(const hearth_accesses *accesses, LLVMValueRef function, hearth_counters *c) {
  hearth_counters_enter(c, function);
  for (size_t i = 0; i < accesses->count; i++)
    if (accesses->items[i].weight)
      count_access(c, &accesses->items[i]);
  for (size_t i = 0; i < accesses->n_calls; i++)
    if (LLVMGetIntrinsicID(LLVMGetCalledValue(accesses->calls[i])))
      count_intrinsic(c, accesses->calls[i]);
    else
      hearth_library_count(c, accesses->calls[i]);
  hearth_counters_leave(c);
}

static bool is_instrumented(LLVMValueRef function) {
  static const char *const ours[] = {"__memprof_", "memprof.", NULL}, *const closed[] = {
                                                                          "naked", "disable_sanitizer_instrumentation",
                                                                          NULL};
  return !LLVMIsDeclaration(function) && LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
         !hearth_is_named_like(function, ours) && !hearth_has_attribute(function, LLVMAttributeFunctionIndex, closed);
}

/* Before all else that adds code: that takes some of the instructions away. */
static void count_stores(LLVMValueRef function, const hearth_global_stores *stores, const hearth_counters *c) {
  hearth_counters to = counters_create(c->module, false, false);
  to.stores = true;
  hearth_global_stores_count(stores, function, &to);
  LLVMDisposeBuilder(to.builder);
}

static bool instrument_function(LLVMValueRef function, const hearth_pass_options *options, hearth_counters *c) {
  hearth_accesses accesses;
  hearth_global_stores stores = {.items = NULL};
  bool ok = hearth_accesses_collect(function, options, &accesses) &&
            (!options->global_stores || hearth_global_stores_collect(function, &stores));
  if (ok) {
    count_stores(function, &stores, c);
    if (options->coalesce != HEARTH_COALESCE_OFF)
      hearth_coalesce_neighbours(&accesses, granule_of(c));
    instrument_count(&accesses, function, c);
  }
  hearth_global_stores_free(&stores);
  hearth_accesses_free(&accesses);
  return ok;
}

static bool has_calls(LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
      if (hearth_ir_is_caller(i))
        return true;
  return false;
}

/* By which the runtime knows of histogram mode before anything is allocated; as clang -fmemory-profile does. */
static void define_histogram(hearth_counters *c) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetModuleContext(c->module));
  LLVMValueRef variable = LLVMAddGlobal(c->module, i8, "__memprof_histogram");
  LLVMSetInitializer(variable, LLVMConstInt(i8, 1, false));
  LLVMSetGlobalConstant(variable, true);
  LLVMSetLinkage(variable, LLVMWeakAnyLinkage);
}

/* Every module calls the runtime's start, so that it is up before any code of ours whatever is linked first. */
static void add_constructor(hearth_counters *c) {
  LLVMContextRef context = LLVMGetModuleContext(c->module);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
  LLVMValueRef granule = LLVMConstInt(LLVMInt32TypeInContext(context), granule_of(c), false),
               table = hearth_global_table_of(c->module);
  LLVMValueRef constructor = LLVMAddFunction(c->module, "memprof.module_ctor", type);
  LLVMSetLinkage(constructor, LLVMInternalLinkage);
  LLVMPositionBuilderAtEnd(c->builder, LLVMAppendBasicBlockInContext(context, constructor, ""));
  hearth_counters_call(c, c->histogram ? "__memprof_init" : "__hearth_exact_init", NULL, 0);
  hearth_counters_call(c, "__memprof_version_mismatch_check_v1", NULL, 0);
  hearth_counters_call(c, "__hearth_granule", &granule, 1); /* files of different modes in one program are noticed */
  if (table)
    hearth_counters_call(c, "__hearth_globals", &table, 1);
  LLVMBuildRetVoid(c->builder);
  hearth_ir_append_constructor(c->module, constructor, 1);
}

bool hearth_pass_instrument(LLVMModuleRef module, const hearth_pass_options *options) {
  bool complete = hearth_tail_calls_limit(module);
  /* Already done, by us or by clang -fmemory-profile: counting twice would be wrong. */
  if (LLVMGetNamedFunction(module, "memprof.module_ctor"))
    return false;
  hearth_error err = {HEARTH_OK, ""};
  if (hearth_library_mark(module, options->library_accesses, &err) != HEARTH_OK) {
    hearth_library_forget(module);
    hearth_shim_error(module, err.message);
    return false;
  }
  hearth_pass_options exact = *options;
  exact.global_stores &= !options->histogram;
  if (options->histogram && options->coalesce == HEARTH_COALESCE_BLOCK)
    exact.coalesce = HEARTH_COALESCE_GRANULE; /* the histogram says which bytes were accessed */
  hearth_counters counters = counters_create(module, options->atomic_counters, options->histogram);
  if (options->globals && options->histogram)
    hearth_shim_warn(module, "-memprof-globals", "accesses of global variables are not counted in histogram mode");
  else if (options->globals)
    complete &= hearth_global_table_define(module, options->global_stores);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (is_instrumented(f)) {
      if (has_calls(f))
        hearth_shim_forbid_folding(f); /* by --icf: a stack would name the other function */
      complete &= instrument_function(f, &exact, &counters);
    }
  hearth_library_forget(module);
  if (!complete)
    hearth_shim_error(module, "out of memory while instrumenting: some functions would not be counted");
  add_constructor(&counters);
  if (options->histogram)
    define_histogram(&counters);
  LLVMDisposeBuilder(counters.builder);
  return true;
}
