/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table by name and signature. The type of the call counts, not that of the declaration, which in old C has no
 * parameters, and in a link may be another module's. */
#include "module.h"

#include <string.h>

#include "hearth/ir_facts.h"
#include "shim.h"

/* Allocation functions that are annotated and lowered: a row for each.
 *
 *     name       linkage name
 *     hinted     the function with the same parameters and a last one more: uint8_t hint, 0 coldest to 255 hottest
 *     signature  result and parameters: p pointer, z size_t (64 bits), i int (32 bits), v void,
 *                s {pointer, size_t}. A function of another type is not the library's and is left alone.
 *     size       positions of the parameters whose product is the block's size in bytes; "" if there are none
 *     kind       state of the new block, for LLVM: UNINITIAL, ZEROED, ALIGNED (uninitialised, too), REALLOC, OTHER: none
 *                of these, or not the result
 *     family     the function that frees the block: C free, NEW operator delete, NEW_ARRAY operator delete[]
 *
 * C++ names and their hinted forms are those of tcmalloc's malloc_extension.h; the hinted C names are Hearth's own, as
 * no allocator has any. Only 64-bit forms.
 *
 * A new one also goes into runtime/malloc/: malloc_functions.c or operator_new.c, hints.c, and hearth/malloc.h;
 * runtime/memory/allocation_names.def, runtime/heap/malloc_entry.c, runtime/process/loader_entry.c,
 * runtime/preload/attached_program.c, profile/show/common/wrappers.def. */
#define ROW(name, hinted, signature, size, kind, family)                                                               \
  {name, hinted, signature, size, HEARTH_ALLOC_##kind, HEARTH_ALLOC_FAMILY_##family}
/* clang-format off */
static const hearth_alloc_function functions[] = {
    ROW("malloc",                               "malloc_hot_cold",                                  "pz",   "0",  UNINITIAL, C),
    ROW("calloc",                               "calloc_hot_cold",                                  "pzz",  "01", ZEROED,    C),
    ROW("realloc",                              "realloc_hot_cold",                                 "ppz",  "1",  REALLOC,   C),
    ROW("reallocarray",                         "reallocarray_hot_cold",                            "ppzz", "12", REALLOC,   C),
    ROW("aligned_alloc",                        "aligned_alloc_hot_cold",                           "pzz",  "1",  ALIGNED,   C),
    ROW("memalign",                             "memalign_hot_cold",                                "pzz",  "1",  ALIGNED,   C),
    ROW("posix_memalign",                       "posix_memalign_hot_cold",                          "ipzz", "",   OTHER,     C),
    ROW("valloc",                               "valloc_hot_cold",                                  "pz",   "0",  ALIGNED,   C),
    ROW("pvalloc",                              "pvalloc_hot_cold",                                 "pz",   "",   OTHER,     C),
    ROW("strdup",                               "strdup_hot_cold",                                  "pp",   "",   OTHER,     C),
    ROW("strndup",                              "strndup_hot_cold",                                 "ppz",  "",   OTHER,     C),
    ROW("__strdup",                             "strdup_hot_cold",                                  "pp",   "",   OTHER,     C),
    ROW("__strndup",                            "strndup_hot_cold",                                 "ppz",  "",   OTHER,     C),
    ROW("_Znwm",                                "_Znwm12__hot_cold_t",                              "pz",   "0",  UNINITIAL, NEW),
    ROW("_ZnwmRKSt9nothrow_t",                  "_ZnwmRKSt9nothrow_t12__hot_cold_t",                "pzp",  "0",  UNINITIAL, NEW),
    ROW("_ZnwmSt11align_val_t",                 "_ZnwmSt11align_val_t12__hot_cold_t",               "pzz",  "0",  ALIGNED,   NEW),
    ROW("_ZnwmSt11align_val_tRKSt9nothrow_t",   "_ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t", "pzzp", "0",  ALIGNED,   NEW),
    ROW("_Znam",                                "_Znam12__hot_cold_t",                              "pz",   "0",  UNINITIAL, NEW_ARRAY),
    ROW("_ZnamRKSt9nothrow_t",                  "_ZnamRKSt9nothrow_t12__hot_cold_t",                "pzp",  "0",  UNINITIAL, NEW_ARRAY),
    ROW("_ZnamSt11align_val_t",                 "_ZnamSt11align_val_t12__hot_cold_t",               "pzz",  "0",  ALIGNED,   NEW_ARRAY),
    ROW("_ZnamSt11align_val_tRKSt9nothrow_t",   "_ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t", "pzzp", "0",  ALIGNED,   NEW_ARRAY),
    ROW("__size_returning_new",                 "__size_returning_new_hot_cold",                    "sz",   "",   OTHER,     NEW),
    ROW("__size_returning_new_aligned",         "__size_returning_new_aligned_hot_cold",            "szz",  "",   OTHER,     NEW),
};
/* clang-format on */

static bool type_is(LLVMTypeRef type, char letter) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  switch (letter) {
  case 'p':
    return kind == LLVMPointerTypeKind;
  case 'z':
    return kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64;
  case 'i':
    return kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32;
  case 's': {
    LLVMTypeRef members[2];
    if (kind != LLVMStructTypeKind || LLVMCountStructElementTypes(type) != 2)
      return false;
    LLVMGetStructElementTypes(type, members);
    return type_is(members[0], 'p') && type_is(members[1], 'z');
  }
  default:
    return kind == LLVMVoidTypeKind;
  }
}

typedef bool (*fits)(LLVMTypeRef type, char letter);

static bool has_types(LLVMTypeRef type, const char *signature, fits fits) {
  LLVMTypeRef parameters[8];
  unsigned n = LLVMCountParamTypes(type);
  if (n != strlen(signature) - 1 || !type_is(LLVMGetReturnType(type), signature[0]))
    return false;
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < n; i++)
    if (!fits(parameters[i], signature[i + 1]))
      return false;
  return true;
}

bool hearth_has_signature(LLVMTypeRef type, const char *signature) {
  return !LLVMIsFunctionVarArg(type) && has_types(type, signature, type_is);
}

/* Is it the parameter's type, or a size that can be extended to it? */
static bool extends_to(LLVMTypeRef type, char letter) {
  bool is_narrow = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 64;
  return type_is(type, letter) || (letter == 'z' && is_narrow);
}

static const hearth_alloc_function *row_named(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
      return &functions[i];
  return NULL;
}

static const hearth_alloc_function *alloc_function_row_of(LLVMValueRef call, LLVMValueRef callee) {
  size_t length;
  const char *name = LLVMGetValueName2(callee, &length);
  const hearth_alloc_function *row = row_named(name, length);
  return row && has_types(LLVMGetCalledFunctionType(call), row->signature, extends_to) ? row : NULL;
}

LLVMValueRef hearth_alloc_callee(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  while (LLVMIsAConstantExpr(callee) && LLVMGetConstOpcode(callee) == LLVMBitCast)
    callee = LLVMGetOperand(callee, 0);
  return LLVMIsAFunction(callee);
}

LLVMTypeRef hearth_alloc_type(LLVMValueRef call, const hearth_alloc_function *row) {
  LLVMTypeRef type = LLVMGetCalledFunctionType(call), parameters[HEARTH_ALLOC_PARAMETERS_MAX];
  unsigned n = LLVMCountParamTypes(type);
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < n; i++)
    if (row->signature[i + 1] == 'z')
      parameters[i] = LLVMInt64TypeInContext(LLVMGetTypeContext(type));
  return LLVMFunctionType(LLVMGetReturnType(type), parameters, n, false);
}

bool hearth_is_dispatch(LLVMValueRef function) {
  return hearth_is_named_like(function, (const char *[]){HEARTH_OWN_PREFIX, NULL});
}

const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction) {
  if (!hearth_ir_is_call(instruction))
    return NULL;
  LLVMValueRef callee = hearth_alloc_callee(instruction);
  if (!callee || !LLVMIsDeclaration(callee) || LLVMGetIntrinsicID(callee) != 0)
    return NULL;
  const hearth_alloc_function *row = alloc_function_row_of(instruction, callee);
  return row && !hearth_is_dispatch(hearth_ir_function_of(instruction)) ? row : NULL;
}

static void mark_call(LLVMValueRef call, const char *name) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateStringAttribute(context, name, (unsigned)strlen(name), "", 0));
}

static bool is_marked(LLVMValueRef call, const char *name) {
  return LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name)) != NULL;
}

#define FREQUENT "hearth-frequent"

void hearth_alloc_note_frequent(LLVMValueRef call, bool is_frequent) {
  if (is_frequent)
    mark_call(call, FREQUENT);
  else
    LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, FREQUENT, strlen(FREQUENT));
}

bool hearth_alloc_is_frequent(LLVMValueRef call) { return is_marked(call, FREQUENT); }

#define DORMANT "hearth-dormant"

void hearth_alloc_note_dormant(LLVMValueRef call) { mark_call(call, DORMANT); }

bool hearth_alloc_is_dormant(LLVMValueRef call) { return is_marked(call, DORMANT); }

#define FRAME "hearth-coroutine-frame"

/* The size is known only when the coroutine is split. */
static bool allocates_frame(LLVMValueRef call) {
  static const char *const size[] = {"llvm.coro.size.", NULL};
  LLVMValueRef bytes = LLVMGetNumArgOperands(call) > 0 ? LLVMIsACallInst(LLVMGetOperand(call, 0)) : NULL;
  LLVMValueRef callee = bytes ? LLVMIsAFunction(LLVMGetCalledValue(bytes)) : NULL;
  return callee && hearth_is_named_like(callee, size);
}

void hearth_alloc_note_frame(LLVMValueRef call) {
  if (allocates_frame(call))
    mark_call(call, FRAME);
}

bool hearth_alloc_is_by_name(LLVMValueRef call) {
  return hearth_ir_call_is_nobuiltin(call) && !allocates_frame(call) && !is_marked(call, FRAME);
}

/* ------------------------------------------------ pointer calls ------------------------------------------------ */

/* A table from types to functions. The call that is left for other functions is marked, so that it is promoted once. */

#define PROMOTED "hearth-promoted"

/* The function that is called through pointers, of several with the same type. */
static const struct {
  const char *name, *signature;
} pointed_to[] = {{"malloc", "pz"}, {"calloc", "pzz"}, {"realloc", "ppz"}};

bool hearth_is_pointer_call(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  return !LLVMIsAConstant(callee) && !LLVMIsAInlineAsm(callee) && !is_marked(call, PROMOTED);
}

static const char *function_of_type(LLVMTypeRef type) {
  for (size_t i = 0; i < sizeof pointed_to / sizeof pointed_to[0]; i++)
    if (hearth_has_signature(type, pointed_to[i].signature))
      return pointed_to[i].name;
  return NULL;
}

/* Is the name free, or that of a declaration of the type? */
static bool can_declare(LLVMModuleRef module, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (function)
    return LLVMIsDeclaration(function) && LLVMGlobalGetValueType(function) == type;
  return !LLVMGetNamedGlobal(module, name) && !LLVMGetNamedGlobalAlias(module, name, strlen(name));
}

const char *hearth_pointer_callee(LLVMValueRef call, const char **ret_why) {
  LLVMTypeRef type = LLVMGetCalledFunctionType(call);
  const char *name = function_of_type(type);
  *ret_why = NULL;
  if (!name)
    *ret_why = "its type is not that of malloc, calloc or realloc";
  else if (hearth_ir_call_is_musttail(call))
    *ret_why = "it is musttail";
  else if (!can_declare(LLVMGetGlobalParent(hearth_ir_function_of(call)), name, type))
    *ret_why = "the module defines the function that its type fits, or declares it with another type";
  return *ret_why ? NULL : name;
}

LLVMValueRef hearth_promote_pointer_call(LLVMValueRef call) {
  const char *why, *name = hearth_pointer_callee(call, &why);
  LLVMModuleRef module = LLVMGetGlobalParent(hearth_ir_function_of(call));
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (!function)
    function = LLVMAddFunction(module, name, LLVMGetCalledFunctionType(call));
  LLVMValueRef direct = hearth_shim_promote_call(call, function);
  mark_call(call, PROMOTED);
  return direct;
}
