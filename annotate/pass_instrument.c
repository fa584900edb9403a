/* Access counting: before each load, store, atomic and masked access, add one to the shadow counter of the 64-byte
 * granule that the access begins in. Memory intrinsics become calls of the runtime, which counts their ranges. Gathers
 * and scatters are not counted: each of their lanes has an address of its own. Mapping and symbols are those of clang -fmemory-profile (LLVM MemProf), so either's code runs on either's runtime. */
#include <stdlib.h>
#include <string.h>

#include "hearth/ir_facts.h"
#include "session.h"

#define GRANULE_MASK (~UINT64_C(63)) /* 64 bytes of memory ... */
#define SHADOW_SCALE 3               /* ... to 8 bytes of shadow */

typedef struct instrumentation {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef i64, pointer;
  LLVMValueRef function;    /* being instrumented */
  LLVMValueRef shadow_base; /* loaded in its entry block; NULL until needed */
} instrumentation;

static bool starts_with(const char *text, size_t length, const char *prefix) {
  return length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

static LLVMValueRef declare(instrumentation *in, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(in->module, name);
  return function ? function : LLVMAddFunction(in->module, name, type);
}

static LLVMValueRef base_of_shadow(instrumentation *in) {
  if (in->shadow_base)
    return in->shadow_base;
  const char *name = "__memprof_shadow_memory_dynamic_address";
  LLVMValueRef global = LLVMGetNamedGlobal(in->module, name);
  if (!global)
    global = LLVMAddGlobal(in->module, in->i64, name);
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(in->function));
  LLVMPositionBuilderBefore(in->builder, first);
  in->shadow_base = LLVMBuildLoad2(in->builder, in->i64, global, "hearth.shadow");
  return in->shadow_base;
}

/* Memory that no heap block can be: its counters would never be read. */
static bool is_uninteresting(LLVMValueRef pointer) {
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != 0)
    return true;
  while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer))
    pointer = LLVMGetOperand(pointer, 0);
  if (LLVMIsAAllocaInst(pointer))
    return true;
  if (LLVMIsAGlobalVariable(pointer)) {
    size_t length;
    const char *name = LLVMGetValueName2(pointer, &length);
    return starts_with(name, length, "__llvm") || starts_with(name, length, "__prof");
  }
  return false;
}

static void count_access(instrumentation *in, LLVMValueRef before, LLVMValueRef pointer) {
  if (is_uninteresting(pointer))
    return;
  LLVMValueRef base = base_of_shadow(in);
  LLVMBuilderRef b = in->builder;
  LLVMPositionBuilderBefore(b, before);
  LLVMValueRef address = LLVMBuildPtrToInt(b, pointer, in->i64, "");
  LLVMValueRef granule = LLVMBuildAnd(b, address, LLVMConstInt(in->i64, GRANULE_MASK, false), "");
  LLVMValueRef offset = LLVMBuildLShr(b, granule, LLVMConstInt(in->i64, SHADOW_SCALE, false), "");
  LLVMValueRef counter = LLVMBuildIntToPtr(b, LLVMBuildAdd(b, offset, base, ""), LLVMPointerType(in->i64, 0), "");
  LLVMValueRef count = LLVMBuildLoad2(b, in->i64, counter, "");
  LLVMBuildStore(b, LLVMBuildAdd(b, count, LLVMConstInt(in->i64, 1, false), ""), counter);
}

/* The runtime's functions have the parameters of libc's; the intrinsic's volatile flag is dropped. */
static void replace_intrinsic(instrumentation *in, LLVMValueRef call, const char *name) {
  bool is_set = strcmp(name, "__memprof_memset") == 0;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(in->context);
  LLVMTypeRef parameters[3] = {in->pointer, is_set ? i32 : in->pointer, in->i64};
  LLVMTypeRef type = LLVMFunctionType(in->pointer, parameters, 3, false);
  LLVMBuilderRef b = in->builder;
  LLVMPositionBuilderBefore(b, call);
  LLVMValueRef arguments[3] = {LLVMBuildPointerCast(b, LLVMGetArgOperand(call, 0), in->pointer, ""),
                               is_set ? LLVMBuildZExt(b, LLVMGetArgOperand(call, 1), i32, "")
                                      : LLVMBuildPointerCast(b, LLVMGetArgOperand(call, 1), in->pointer, ""),
                               LLVMBuildIntCast2(b, LLVMGetArgOperand(call, 2), in->i64, false, "")};
  LLVMBuildCall2(b, type, declare(in, name, type), arguments, 3, "");
  LLVMInstructionEraseFromParent(call);
}

static void instrument_call(instrumentation *in, LLVMValueRef call) {
  static const struct {
    const char *intrinsic, *replacement;
    int pointer; /* operand that is accessed; -1: replaced */
  } rows[] = {
      {"llvm.memcpy", "__memprof_memcpy", -1}, {"llvm.memmove", "__memprof_memmove", -1},
      {"llvm.memset", "__memprof_memset", -1}, {"llvm.masked.load", NULL, 0},
      {"llvm.masked.store", NULL, 1},          {"llvm.masked.expandload", NULL, 0},
      {"llvm.masked.compressstore", NULL, 1},
  };
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee || !LLVMGetIntrinsicID(callee))
    return;
  size_t length;
  const char *name = LLVMGetValueName2(callee, &length);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t prefix = strlen(rows[i].intrinsic);
    /* Followed by the mangled types; ".inline" and ".element" are other intrinsics, which must stay what they are. */
    if (!starts_with(name, length, rows[i].intrinsic) || name[prefix] != '.' ||
        starts_with(name + prefix, length - prefix, ".inline") ||
        starts_with(name + prefix, length - prefix, ".element"))
      continue;
    if (rows[i].pointer >= 0)
      count_access(in, call, LLVMGetArgOperand(call, (unsigned)rows[i].pointer));
    else if (LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetArgOperand(call, 0))) == 0 &&
             (strcmp(rows[i].replacement, "__memprof_memset") == 0 ||
              LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetArgOperand(call, 1))) == 0))
      replace_intrinsic(in, call, rows[i].replacement);
    return;
  }
}

static void instrument_instruction(instrumentation *in, LLVMValueRef instruction) {
  unsigned nosanitize = LLVMGetMDKindIDInContext(in->context, "nosanitize", strlen("nosanitize"));
  if (LLVMGetMetadata(instruction, nosanitize))
    return;
  if (LLVMIsALoadInst(instruction))
    count_access(in, instruction, LLVMGetOperand(instruction, 0));
  else if (LLVMIsAStoreInst(instruction))
    count_access(in, instruction, LLVMGetOperand(instruction, 1));
  else if (LLVMIsAAtomicRMWInst(instruction) || LLVMIsAAtomicCmpXchgInst(instruction))
    count_access(in, instruction, LLVMGetOperand(instruction, 0));
  else if (LLVMIsACallInst(instruction))
    instrument_call(in, instruction);
}

static bool has_attribute(LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

static bool is_instrumented(LLVMValueRef function) {
  size_t length;
  const char *name = LLVMGetValueName2(function, &length);
  return !LLVMIsDeclaration(function) && LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
         !starts_with(name, length, "__memprof_") && !starts_with(name, length, "memprof.") &&
         !has_attribute(function, "naked") && !has_attribute(function, "disable_sanitizer_instrumentation");
}

/* A swifterror pointer may only be loaded, stored and passed on: taking its address as a number is invalid IR. */
static bool is_swifterror(LLVMValueRef function, LLVMValueRef instruction) {
  LLVMValueRef pointer = LLVMIsALoadInst(instruction)    ? LLVMGetOperand(instruction, 0)
                         : LLVMIsAStoreInst(instruction) ? LLVMGetOperand(instruction, 1)
                                                         : NULL;
  if (!pointer || !LLVMIsAArgument(pointer))
    return false;
  unsigned kind = LLVMGetEnumAttributeKindForName("swifterror", strlen("swifterror"));
  for (unsigned i = 0, n = LLVMCountParams(function); i < n; i++)
    if (LLVMGetParam(function, i) == pointer)
      return LLVMGetEnumAttributeAtIndex(function, i + 1, kind) != NULL;
  return false;
}

static void instrument_function(instrumentation *in, LLVMValueRef function) {
  size_t count = 0, capacity = 256;
  LLVMValueRef *all = malloc(capacity * sizeof *all);
  /* Collected first: what is inserted must not be visited. */
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); all && b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); all && i; i = LLVMGetNextInstruction(i)) {
      if (count == capacity) {
        LLVMValueRef *more = realloc(all, (capacity *= 2) * sizeof *all);
        if (!more)
          free(all);
        all = more;
      }
      if (all && !is_swifterror(function, i))
        all[count++] = i;
    }
  in->function = function;
  in->shadow_base = NULL;
  for (size_t i = 0; all && i < count; i++)
    instrument_instruction(in, all[i]);
  free(all);
}

/* Every module calls the runtime's start, so that it is up before any code of ours whatever is linked first. */
static void add_constructor(instrumentation *in) {
  static const char *const calls[] = {"__memprof_init", "__memprof_version_mismatch_check_v1"};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(in->context), NULL, 0, false);
  LLVMValueRef constructor = LLVMAddFunction(in->module, "memprof.module_ctor", type);
  LLVMSetLinkage(constructor, LLVMInternalLinkage);
  LLVMPositionBuilderAtEnd(in->builder, LLVMAppendBasicBlockInContext(in->context, constructor, ""));
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    LLVMBuildCall2(in->builder, type, declare(in, calls[i], type), NULL, 0, "");
  LLVMBuildRetVoid(in->builder);
  hearth_ir_append_constructor(in->module, constructor, 1);
}

bool hearth_pass_instrument(LLVMModuleRef module, const hearth_options *options) {
  (void)options;
  /* Already done, by us or by clang -fmemory-profile: counting twice would be wrong. */
  if (LLVMGetNamedFunction(module, "memprof.module_ctor"))
    return false;
  instrumentation in = {.module = module, .context = LLVMGetModuleContext(module)};
  in.builder = LLVMCreateBuilderInContext(in.context);
  in.i64 = LLVMInt64TypeInContext(in.context);
  in.pointer = LLVMPointerType(LLVMInt8TypeInContext(in.context), 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (is_instrumented(f))
      instrument_function(&in, f);
  add_constructor(&in);
  LLVMDisposeBuilder(in.builder);
  return true;
}
