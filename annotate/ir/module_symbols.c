/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What symbols are called, and LLVM's attributes of them. A global is known by its linkage name, and by its file if no
 * other file can name it. The number that linking IR appends to local names (.llvm.123) is not part of it. Names of
 * string literals count up through the file, so these go by the first bytes and a hash of all. */
#include "module.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "file.h"
#include "hearth/ids.h"
#include "shim.h"

enum { SHOWN = 40 }; /* bytes of a literal */

bool hearth_is_local(LLVMValueRef global) {
  LLVMLinkage linkage = LLVMGetLinkage(global);
  return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

bool hearth_is_named(LLVMValueRef global, const char *const *names) {
  size_t length;
  const char *name = LLVMGetValueName2(global, &length);
  for (; *names; names++)
    if (strlen(*names) == length && memcmp(name, *names, length) == 0)
      return true;
  return false;
}

bool hearth_is_named_like(LLVMValueRef global, const char *const *prefixes) {
  size_t length;
  const char *name = LLVMGetValueName2(global, &length);
  for (; *prefixes; prefixes++)
    if (strlen(*prefixes) <= length && memcmp(name, *prefixes, strlen(*prefixes)) == 0)
      return true;
  return false;
}

bool hearth_has_attribute(LLVMValueRef function, LLVMAttributeIndex place, const char *const *names) {
  for (; *names; names++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(*names, strlen(*names)); /* 0: not of this release */
    if (kind && LLVMGetEnumAttributeAtIndex(function, place, kind))
      return true;
  }
  return false;
}

static bool is_profiled(LLVMValueRef global) {
  static const char *const ours[] = {"llvm.",  "__llvm",   "hearth.", "__hearth", "__memprof", "memprof.",
                                     "__prof", "__sancov", "__asan",  "___asan",  NULL};
  size_t length;
  LLVMGetValueName2(global, &length);
  LLVMLinkage linkage = LLVMGetLinkage(global);
  return LLVMGetInitializer(global) && linkage != LLVMAvailableExternallyLinkage && linkage != LLVMAppendingLinkage &&
         !LLVMIsThreadLocal(global) && LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == 0 &&
         length <= HEARTH_GLOBAL_NAME_MAX && !hearth_is_named_like(global, ours) &&
         !hearth_shim_has_own_section(global);
}

/* Its address is in a constant's value: the loader writes it. */
static bool has_address(LLVMValueRef value, unsigned depth) {
  if (LLVMIsAGlobalValue(value) || LLVMIsABlockAddress(value))
    return true;
  if (LLVMIsAConstantDataSequential(value) || LLVMIsAConstantAggregateZero(value) || depth == 0)
    return false;
  for (int i = 0, n = LLVMGetNumOperands(value); i < n; i++)
    if (has_address(LLVMGetOperand(value, (unsigned)i), depth - 1))
      return true;
  return false;
}

static uint32_t kind_of(LLVMValueRef global) {
  LLVMValueRef value = LLVMGetInitializer(global);
  if (LLVMIsGlobalConstant(global))
    return has_address(value, 16) ? HEARTH_GLOBAL_RELRO : HEARTH_GLOBAL_RODATA;
  return LLVMIsNull(value) || LLVMIsUndef(value) ? HEARTH_GLOBAL_BSS : HEARTH_GLOBAL_DATA;
}

/* NULL: it is no constant string of bytes. */
static const char *literal_bytes_of(LLVMValueRef value, size_t *ret_size) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMIsAConstantDataSequential(value) && LLVMIsConstantString(value))
    return LLVMGetAsString(value, ret_size);
  *ret_size = 1;
  return LLVMIsAConstantAggregateZero(value) && LLVMGetTypeKind(type) == LLVMArrayTypeKind &&
                 LLVMGetArrayLength(type) == 1 &&
                 LLVMGetElementType(type) == LLVMInt8TypeInContext(LLVMGetTypeContext(type))
             ? ""
             : NULL;
}

static bool name_literal(LLVMValueRef global, hearth_global_name *ret) {
  size_t size, at = 0;
  const char *bytes = literal_bytes_of(LLVMGetInitializer(global), &size);
  if (LLVMGetLinkage(global) != LLVMPrivateLinkage || !LLVMIsGlobalConstant(global) || !LLVMHasUnnamedAddr(global) ||
      !bytes)
    return false;
  ret->name[at++] = '"';
  for (size_t i = 0; i < size && i < SHOWN && bytes[i]; i++)
    ret->name[at++] = bytes[i] < ' ' || bytes[i] > '~' || bytes[i] == '"' ? '.' : bytes[i];
  snprintf(ret->name + at, sizeof ret->name - at, "\"#%016llx", (unsigned long long)hearth_type_id(bytes, size));
  return true;
}

/* Where the debug information has its declaration. */
static void find_place(LLVMValueRef global, hearth_global_name *ret) {
  size_t count, length;
  unsigned file_length, debug = LLVMGetMDKindIDInContext(LLVMGetModuleContext(LLVMGetGlobalParent(global)), "dbg", 3);
  LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
  const char *file = LLVMGetSourceFileName(LLVMGetGlobalParent(global), &length);
  for (size_t i = 0; i < count; i++) {
    if (LLVMValueMetadataEntriesGetKind(entries, (unsigned)i) != debug)
      continue;
    LLVMMetadataRef variable =
        LLVMDIGlobalVariableExpressionGetVariable(LLVMValueMetadataEntriesGetMetadata(entries, (unsigned)i));
    ret->line = LLVMDIVariableGetLine(variable);
    LLVMMetadataRef declared = LLVMDIVariableGetFile(variable);
    if (declared && !(ret->flags & HEARTH_GLOBAL_LOCAL)) {
      file = LLVMDIFileGetFilename(declared, &file_length);
      length = file_length;
    }
  }
  LLVMDisposeValueMetadataEntries(entries);
  snprintf(ret->file, sizeof ret->file, "%.*s", (int)length, file);
  const char *base = hearth_base_name(ret->file);
  memmove(ret->file, base, strlen(base) + 1);
}

bool hearth_global_name_of(LLVMValueRef global, hearth_global_name *ret) {
  size_t length;
  if (!is_profiled(global))
    return false;
  ret->line = 0;
  ret->file[0] = '\0';
  ret->flags = kind_of(global);
  if (name_literal(global, ret)) {
    ret->flags = HEARTH_GLOBAL_LITERAL;
    return true;
  }
  const char *name = LLVMGetValueName2(global, &length);
  const char *promoted = length > 6 ? strstr(name, ".llvm.") : NULL;
  if (length == 0 || *name == HEARTH_STRIPPED_NAME)
    return false;
  if (promoted)
    length = (size_t)(promoted - name);
  snprintf(ret->name, sizeof ret->name, "%.*s", (int)length, name);
  if (promoted || hearth_is_local(global))
    ret->flags |= HEARTH_GLOBAL_LOCAL;
  find_place(global, ret);
  return true;
}

uint64_t hearth_global_size(LLVMTargetDataRef layout, LLVMValueRef global) {
  return LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global));
}
