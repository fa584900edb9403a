/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table from types to functions. The call that is left for other functions is marked, so that it is promoted once. */
#include "pointer_calls.h"

#include <string.h>

#include "alloc_functions.h"
#include "hearth/ir_facts.h"
#include "shim.h"

#define PROMOTED "hearth-promoted"

/* The function that is called through pointers, of several with the same type. */
static const struct {
  const char *name, *signature;
} functions[] = {{"malloc", "pz"}, {"calloc", "pzz"}, {"realloc", "ppz"}};

bool hearth_is_pointer_call(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  return !LLVMIsAConstant(callee) && !LLVMIsAInlineAsm(callee) &&
         !LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, PROMOTED, strlen(PROMOTED));
}

static const char *function_of_type(LLVMTypeRef type) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (hearth_has_signature(type, functions[i].signature))
      return functions[i].name;
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
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateStringAttribute(LLVMGetModuleContext(module), PROMOTED, strlen(PROMOTED), "", 0));
  return direct;
}
