/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Metadata nodes, made and attached. Taking them apart is in ir_facts.cpp. */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "md_internal.h"

LLVMMetadataRef hearth_md_integer(hearth_md *md, unsigned bits, uint64_t value) {
  return LLVMValueAsMetadata(LLVMConstInt(LLVMIntTypeInContext(md->context, bits), value, false));
}

LLVMMetadataRef hearth_md_string(hearth_md *md, const char *text) {
  return LLVMMDStringInContext2(md->context, text, strlen(text));
}

LLVMMetadataRef hearth_md_node(hearth_md *md, LLVMMetadataRef *operands, size_t count) {
  return LLVMMDNodeInContext2(md->context, operands, count);
}

void hearth_md_set(hearth_md *md, LLVMValueRef call, unsigned kind, LLVMMetadataRef node) {
  LLVMSetMetadata(call, kind, node ? LLVMMetadataAsValue(md->context, node) : NULL);
}
