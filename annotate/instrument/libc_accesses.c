/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table by name and signature; each row lists ranges as pairs of a pointer argument and how its size is known. Behind
 * the call each range that may be on the heap is counted by the runtime. */
#include "libc_accesses.h"

#include <string.h>

#include "accesses.h"
#include "alloc_functions.h"
#include "hearth/ir_facts.h"

typedef struct libc_function {
  const char *name, *signature, *ranges;
} libc_function;

static const libc_function functions[] = {
#define HEARTH_LIBC(name, signature, ranges) {name, signature, ranges},
#include "libc_accesses.def"
};

static const libc_function *function_of(LLVMValueRef call) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee || !LLVMIsDeclaration(callee))
    return NULL;
  size_t length;
  const char *name = LLVMGetValueName2(callee, &length);
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
      return type == LLVMGetCalledFunctionType(call) && hearth_has_signature(type, functions[i].signature)
                 ? &functions[i]
                 : NULL;
  return NULL;
}

bool hearth_is_libc_access(LLVMValueRef call) { return function_of(call) != NULL; }

/* Where code behind the call goes; NULL if there is no place of its own. */
static LLVMValueRef place_behind(LLVMValueRef call) {
  if (LLVMIsACallInst(call))
    return hearth_ir_call_is_musttail(call) ? NULL : LLVMGetNextInstruction(call);
  LLVMBasicBlockRef next = LLVMGetNormalDest(call);
  LLVMValueRef first = LLVMGetFirstInstruction(next);
  LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(next));
  return LLVMIsAPHINode(first) || LLVMGetNextUse(use) ? NULL : first; /* reached from elsewhere, too */
}

static LLVMValueRef size_of_string(hearth_counters *c, LLVMValueRef string) {
  LLVMTypeRef type = LLVMFunctionType(c->i64, &c->pointer, 1, false);
  LLVMValueRef pointer = LLVMBuildPointerCast(c->builder, string, c->pointer, "");
  LLVMValueRef length = LLVMBuildCall2(c->builder, type, hearth_counters_declare(c, "strlen", type), &pointer, 1, "");
  return LLVMBuildAdd(c->builder, length, LLVMConstInt(c->i64, 1, false), "");
}

static LLVMValueRef size_of(hearth_counters *c, LLVMValueRef call, LLVMValueRef pointer, char size) {
  LLVMValueRef zero = LLVMConstInt(c->i64, 0, false);
  switch (size) {
  case 's':
    return size_of_string(c, pointer);
  case 'l':
    return LLVMBuildAdd(c->builder, call, LLVMConstInt(c->i64, 1, false), "");
  case 'R':
    return LLVMBuildMul(c->builder, call, LLVMGetArgOperand(call, 1), "");
  case 'r': {
    LLVMValueRef any = LLVMBuildICmp(c->builder, LLVMIntSGT, call, zero, "");
    return LLVMBuildSelect(c->builder, any, call, zero, "");
  }
  default:
    return LLVMGetArgOperand(call, (unsigned)(size - '0'));
  }
}

void hearth_count_libc_call(hearth_counters *counters, LLVMValueRef call) {
  const libc_function *function = function_of(call);
  LLVMValueRef behind = function ? place_behind(call) : NULL;
  if (!behind)
    return;
  LLVMPositionBuilderBefore(counters->builder, behind);
  for (const char *range = function->ranges; *range; range += 2) {
    LLVMValueRef pointer = LLVMGetArgOperand(call, (unsigned)(range[0] - '0'));
    if (hearth_may_be_heap(pointer))
      hearth_counters_add_range(counters, pointer, size_of(counters, call, pointer, range[1]));
  }
}
