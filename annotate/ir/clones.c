/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of clones. */
#include "clones.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX ".memprof." /* and a number, as LLVM's own pass names them */

bool hearth_clone_name(LLVMValueRef function, unsigned number, char ret[HEARTH_CLONE_NAME_MAX]) {
  return snprintf(ret, HEARTH_CLONE_NAME_MAX, "%s" SUFFIX "%u", LLVMGetValueName(function), number) <
         HEARTH_CLONE_NAME_MAX;
}

LLVMValueRef hearth_clone_of(LLVMValueRef function, unsigned number) {
  char name[HEARTH_CLONE_NAME_MAX];
  return hearth_clone_name(function, number, name) ? LLVMGetNamedFunction(LLVMGetGlobalParent(function), name) : NULL;
}

bool hearth_is_clone(LLVMValueRef function) {
  size_t length;
  const char *name = LLVMGetValueName2(function, &length), *end = name + length, *digits = end;
  while (digits > name && isdigit((unsigned char)digits[-1]))
    digits--;
  size_t suffix = strlen(SUFFIX);
  return digits < end && (size_t)(digits - name) > suffix && memcmp(digits - suffix, SUFFIX, suffix) == 0;
}

bool hearth_has_clones(LLVMValueRef function) { return hearth_is_clone(function) || hearth_clone_of(function, 1); }
