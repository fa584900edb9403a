/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of clones. */
#include "clones.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "hearth/ir_facts.h"

#define SUFFIX    ".memprof." /* and a number, as LLVM's own pass names them */
#define NAME_MOST 512

LLVMValueRef hearth_clone_of(LLVMValueRef function, unsigned number) {
  char name[NAME_MOST];
  int length = snprintf(name, sizeof name, "%s" SUFFIX "%u", LLVMGetValueName(function), number);
  return length < (int)sizeof name ? LLVMGetNamedFunction(LLVMGetGlobalParent(function), name) : NULL;
}

/* Of a clone: the length of the original function's name; else 0. */
static size_t length_of_original(LLVMValueRef function) {
  size_t length, suffix = strlen(SUFFIX);
  const char *name = LLVMGetValueName2(function, &length), *end = name + length, *digits = end;
  while (digits > name && isdigit((unsigned char)digits[-1]))
    digits--;
  bool is_clone = digits < end && (size_t)(digits - name) > suffix && memcmp(digits - suffix, SUFFIX, suffix) == 0;
  return is_clone ? (size_t)(digits - name) - suffix : 0;
}

bool hearth_is_clone(LLVMValueRef function) { return length_of_original(function) > 0; }

/* Of a clone, the original function, which is declared like it if the module does not have it; else NULL. */
static LLVMValueRef original_of(LLVMValueRef clone) {
  char name[NAME_MOST];
  size_t whole, length = length_of_original(clone);
  LLVMModuleRef module = LLVMGetGlobalParent(clone);
  if (!length || length >= sizeof name)
    return NULL;
  memcpy(name, LLVMGetValueName2(clone, &whole), length);
  name[length] = '\0';
  LLVMValueRef original = LLVMGetNamedFunction(module, name);
  return original ? original : LLVMAddFunction(module, name, LLVMGlobalGetValueType(clone));
}

/* Lead the function's calls of clones to what they are clones of. */
static void call_originals(LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef call = LLVMGetFirstInstruction(block); call; call = LLVMGetNextInstruction(call)) {
      LLVMValueRef callee = hearth_ir_is_call(call) ? LLVMGetCalledValue(call) : NULL;
      LLVMValueRef original = LLVMIsAGlobalValue(callee) ? original_of(callee) : NULL;
      if (original)
        hearth_ir_call_set_callee(call, original);
    }
}

bool hearth_clones_distrust_aliases(LLVMModuleRef module) {
  bool changed = false;
  for (LLVMValueRef alias = LLVMGetFirstGlobalAlias(module); alias; alias = LLVMGetNextGlobalAlias(alias)) {
    LLVMValueRef aliasee = LLVMAliasGetAliasee(alias), original = original_of(alias);
    if (!original || LLVMIsDeclaration(original) || (aliasee != original && !hearth_is_clone(aliasee)))
      continue;
    LLVMAliasSetAliasee(alias, original);
    call_originals(original);
    changed = true;
  }
  return changed;
}

bool hearth_has_clones(LLVMValueRef function) { return hearth_is_clone(function) || hearth_clone_of(function, 1); }
