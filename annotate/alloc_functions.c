#include "alloc_functions.h"

#include <string.h>

#include "dispatch.h"
#include "hearth/ir_facts.h"

static const hearth_alloc_function functions[] = {
#define HEARTH_ALLOC(name, hinted, signature, size, kind, family)                                                      \
  {name, hinted, signature, size, HEARTH_ALLOC_##kind, HEARTH_ALLOC_FAMILY_##family},
#include "alloc_functions.def"
};

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

bool hearth_has_signature(LLVMTypeRef type, const char *signature) {
  LLVMTypeRef parameters[8];
  unsigned n = LLVMCountParamTypes(type);
  if (n != strlen(signature) - 1 || LLVMIsFunctionVarArg(type) || !type_is(LLVMGetReturnType(type), signature[0]))
    return false;
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < n; i++)
    if (!type_is(parameters[i], signature[i + 1]))
      return false;
  return true;
}

static const hearth_alloc_function *row_of(LLVMValueRef function) {
  size_t length;
  const char *name = LLVMGetValueName2(function, &length);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
      return &functions[i];
  return NULL;
}

const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction) {
  if (!hearth_ir_is_call(instruction))
    return NULL;
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(instruction));
  if (!callee || !LLVMIsDeclaration(callee) || LLVMGetIntrinsicID(callee) != 0)
    return NULL;
  const hearth_alloc_function *row = row_of(callee);
  /* Called through a pointer of another type (K&R declarations): not a call we could add a parameter to. */
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  bool fits = row && type == LLVMGetCalledFunctionType(instruction) && hearth_has_signature(type, row->signature);
  return fits && !hearth_is_dispatch(hearth_ir_function_of(instruction)) ? row : NULL;
}
