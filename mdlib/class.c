/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Classes and pools: their names, those that a list of contexts has in common, and the string attributes "memprof" and
 * "hearth-pool" by which a call says them. */
#include <stdio.h>
#include <string.h>

#include "md_internal.h"

#define ATTRIBUTE "memprof"
#define POOL      "hearth-pool"

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

/* The value of a call's attribute; NULL if it has none. */
static const char *attribute_of(LLVMValueRef call, const char *name, unsigned *ret_length) {
  LLVMAttributeRef attribute =
      hearth_ir_is_call(call)
          ? LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name))
          : NULL;
  *ret_length = 0;
  return attribute ? LLVMGetStringAttributeValue(attribute, ret_length) : NULL;
}

static void remove_attribute(LLVMValueRef call, const char *name) {
  if (hearth_ir_is_call(call))
    LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
}

static void set_attribute(hearth_md *md, LLVMValueRef call, const char *name, const char *value) {
  remove_attribute(call, name);
  if (hearth_ir_is_call(call))
    LLVMAddCallSiteAttribute(
        call, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(md->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

static bool is_ambiguous(const char *value, size_t length) {
  const char *ambiguous = hint_names[HEARTH_CLASS_UNKNOWN];
  return value && length == strlen(ambiguous) && memcmp(value, ambiguous, length) == 0;
}

bool hearth_md_has_hint(LLVMValueRef call) {
  unsigned length;
  return attribute_of(call, ATTRIBUTE, &length) != NULL;
}

hearth_class hearth_md_get_hint(LLVMValueRef call, bool *ret_ambiguous) {
  unsigned length;
  const char *value = attribute_of(call, ATTRIBUTE, &length);
  if (ret_ambiguous)
    *ret_ambiguous = is_ambiguous(value, length);
  return value ? hearth_md_class_by_name(value, length) : HEARTH_CLASS_UNKNOWN;
}

void hearth_md_remove_hint(LLVMValueRef call) { remove_attribute(call, ATTRIBUTE); }

void hearth_md_set_hint(hearth_md *md, LLVMValueRef call, hearth_class hint) {
  set_attribute(md, call, ATTRIBUTE, hint_names[hint]);
}

hearth_placement hearth_md_common_pool(const hearth_md_mib *mibs, size_t count) {
  hearth_placement common = HEARTH_MD_NO_CONTEXT;
  for (size_t i = 0; i < count; i++)
    common = hearth_md_join_pool(common, mibs[i].hotness, mibs[i].pool);
  return common == HEARTH_MD_NO_CONTEXT ? 0 : common;
}

bool hearth_md_read_pool(LLVMValueRef call, hearth_placement *ret) {
  unsigned length, number = 0;
  const char *value = attribute_of(call, POOL, &length);
  *ret = 0;
  if (is_ambiguous(value, length))
    *ret = HEARTH_MD_POOL_AMBIGUOUS;
  if (!value || *ret)
    return true;
  for (unsigned i = 0; i < length; i++) {
    if (value[i] < '0' || value[i] > '9' || number >= HEARTH_POOLS_MAX)
      return false;
    number = number * 10 + (unsigned)(value[i] - '0');
  }
  if (length == 0 || number >= HEARTH_POOLS_MAX)
    return false;
  *ret = (hearth_placement)(HEARTH_PLACEMENT_POOL + number);
  return true;
}

hearth_placement hearth_md_get_pool(LLVMValueRef call) {
  hearth_placement pool;
  hearth_md_read_pool(call, &pool);
  return pool;
}

void hearth_md_set_pool(hearth_md *md, LLVMValueRef call, hearth_placement pool) {
  char number[8];
  snprintf(number, sizeof number, "%d", pool - HEARTH_PLACEMENT_POOL);
  if (pool)
    set_attribute(md, call, POOL, pool == HEARTH_MD_POOL_AMBIGUOUS ? hint_names[HEARTH_CLASS_UNKNOWN] : number);
  else
    remove_attribute(call, POOL);
}
