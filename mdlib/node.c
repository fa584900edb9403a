/* Metadata nodes, made and taken apart. llvm-c asserts or crashes on operands of another kind than it expects, and any
 * module may hold such: everything read here is checked first. */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "md_internal.h"

bool hearth_md_is_node(LLVMValueRef value) {
  /* LLVMIsAMDNode also accepts constants in metadata clothes; those reach us as constants. */
  return value && LLVMIsAMDNode(value) && !LLVMIsAMDString(value);
}

unsigned hearth_md_operand_count(LLVMValueRef node) {
  return hearth_md_is_node(node) ? LLVMGetMDNodeNumOperands(node) : 0;
}

LLVMValueRef *hearth_md_operands(LLVMValueRef node, unsigned *ret_count) {
  *ret_count = hearth_md_operand_count(node);
  LLVMValueRef *operands = *ret_count ? malloc(*ret_count * sizeof *operands) : NULL;
  if (operands)
    LLVMGetMDNodeOperands(node, operands);
  else
    *ret_count = 0;
  return operands;
}

LLVMValueRef hearth_md_operand(LLVMValueRef node, unsigned index) {
  unsigned n;
  LLVMValueRef *operands = hearth_md_operands(node, &n);
  LLVMValueRef operand = index < n ? operands[index] : NULL;
  free(operands);
  return operand;
}

LLVMMetadataRef hearth_md_as_metadata(hearth_md *md, LLVMValueRef operand) {
  LLVMMetadataRef metadata = operand ? LLVMValueAsMetadata(operand) : NULL;
  bool shown_bare = operand && !LLVMIsAConstant(operand) && metadata &&
                    LLVMGetMetadataKind(metadata) == LLVMConstantAsMetadataMetadataKind;
  return shown_bare ? hearth_md_node(md, &metadata, 1) : metadata;
}

bool hearth_md_as_integer(LLVMValueRef value, uint64_t *ret) {
  if (!value || !LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
    return false;
  *ret = LLVMConstIntGetZExtValue(value);
  return true;
}

const char *hearth_md_as_string(LLVMValueRef value, unsigned *ret_length) {
  if (!value || !LLVMIsAMDString(value))
    return NULL;
  return LLVMGetMDString(value, ret_length);
}

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
