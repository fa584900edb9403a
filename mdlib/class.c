/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Classes: their names, the class that a list of contexts has in common, and the string attribute "memprof" by which a
 * call says it. */
#include <string.h>

#include "md_internal.h"

#define ATTRIBUTE "memprof"

static const char *const hint_names[] = {"ambiguous", "cold", "notcold", "hot"}; /* by hearth_class */

const char *hearth_md_class_name(hearth_class hotness) { return hint_names[hotness]; }

hearth_class hearth_md_class_by_name(const char *name, size_t length) {
  for (int c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    if (strlen(hint_names[c]) == length && memcmp(hint_names[c], name, length) == 0)
      return (hearth_class)c;
  return HEARTH_CLASS_UNKNOWN;
}

bool hearth_md_classes_differ(const hearth_md_mib *mibs, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (mibs[i].hotness != mibs[0].hotness)
      return true;
  return false;
}

hearth_class hearth_md_common_class(const hearth_md_mib *mibs, size_t count) {
  return hearth_md_classes_differ(mibs, count) ? HEARTH_CLASS_UNKNOWN : mibs[0].hotness;
}

hearth_class hearth_md_flat_class(hearth_class hotness) {
  return hotness == HEARTH_CLASS_UNKNOWN ? HEARTH_CLASS_NOTCOLD : hotness;
}

hearth_class hearth_md_common_flat_class(const hearth_md_mib *mibs, size_t count) {
  hearth_class first = hearth_md_flat_class(mibs[0].hotness);
  for (size_t i = 1; i < count; i++)
    if (hearth_md_flat_class(mibs[i].hotness) != first)
      return HEARTH_CLASS_UNKNOWN;
  return first;
}

static LLVMAttributeRef hint_of(LLVMValueRef call) {
  if (!hearth_ir_is_call(call))
    return NULL;
  return LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, ATTRIBUTE, strlen(ATTRIBUTE));
}

bool hearth_md_has_hint(LLVMValueRef call) { return hint_of(call) != NULL; }

hearth_class hearth_md_get_hint(LLVMValueRef call, bool *ret_ambiguous) {
  unsigned length = 0;
  LLVMAttributeRef attribute = hint_of(call);
  const char *value = attribute ? LLVMGetStringAttributeValue(attribute, &length) : "";
  const char *ambiguous = hint_names[HEARTH_CLASS_UNKNOWN];
  if (ret_ambiguous)
    *ret_ambiguous = length == strlen(ambiguous) && memcmp(value, ambiguous, length) == 0;
  return hearth_md_class_by_name(value, length);
}

void hearth_md_remove_hint(LLVMValueRef call) {
  if (hearth_ir_is_call(call))
    LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, ATTRIBUTE, strlen(ATTRIBUTE));
}

void hearth_md_set_hint(hearth_md *md, LLVMValueRef call, hearth_class hint) {
  const char *name = hint_names[hint];
  if (!hearth_ir_is_call(call))
    return;
  hearth_md_remove_hint(call);
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateStringAttribute(md->context, ATTRIBUTE, strlen(ATTRIBUTE), name, strlen(name)));
}
