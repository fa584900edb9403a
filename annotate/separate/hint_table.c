/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A switch over the masked bits, whose cases are the cold contexts of most bytes. */
#include "hint_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "dispatch.h"
#include "hearth/hints.h"
#include "shim.h"

#define CASES_MAX 128u
/* A case is eleven bytes of code (x86-64, minsize). Beyond these, contexts with less than this part of the table's bytes are
 * not worth one. */
#define CASES_FREE 12u
#define BYTES_PART 8192u

/* -------------------------------------------------- entries -------------------------------------------------- */

uint8_t hearth_hint_table_hint(const hearth_hint_tables *tables, const hearth_plan_entry *entry) {
  return hearth_hint_of(hearth_placer_of_plan(tables->placer, entry->placement), tables->hints);
}

static bool is_cold_entry(const hearth_plan_entry *entry) {
  return entry->placement == HEARTH_CLASS_COLD || entry->placement == HEARTH_PLACEMENT_DORMANT;
}

/* The cold ones, the heaviest first; at most CASES_MAX. */
static uint32_t choose_cases(const hearth_plan_entry *entries, uint32_t count,
                             const hearth_plan_entry *ret[CASES_MAX]) {
  uint32_t chosen = 0;
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = chosen;
    all += entries[i].bytes;
    if (!is_cold_entry(&entries[i]))
      continue;
    for (; at > 0 && ret[at - 1]->right_bytes < entries[i].right_bytes; at--)
      if (at < CASES_MAX)
        ret[at] = ret[at - 1];
    if (at < CASES_MAX)
      ret[at] = &entries[i];
    chosen += chosen < CASES_MAX;
  }
  while (chosen > CASES_FREE && ret[chosen - 1]->bytes < all / BYTES_PART)
    chosen--;
  return chosen;
}

/* The entry of most bytes of those that are cold, or not; NULL: there is none. */
static const hearth_plan_entry *heaviest_entry(const hearth_plan_entry *entries, uint32_t count, bool cold) {
  const hearth_plan_entry *heaviest = NULL;
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].placement != HEARTH_CLASS_UNKNOWN && is_cold_entry(&entries[i]) == cold &&
        (!heaviest || entries[i].right_bytes > heaviest->right_bytes))
      heaviest = &entries[i];
  return heaviest;
}

const hearth_plan_entry *hearth_hint_table_heaviest(const hearth_hint_tables *tables, const hearth_plan_table *table) {
  uint32_t count;
  uint64_t all = 0;
  const hearth_plan_entry *entries = hearth_plan_entries(tables->plan, table, &count);
  const hearth_plan_entry *cold = heaviest_entry(entries, count, true), *other = heaviest_entry(entries, count, false);
  const hearth_plan_entry *heaviest = !cold || (other && other->right_bytes >= cold->right_bytes) ? other : cold;
  for (uint32_t i = 0; i < count; i++)
    all += entries[i].bytes;
  return heaviest && heaviest->bytes >= all / 2 ? heaviest : NULL;
}

/* --------------------------------------------------- code ---------------------------------------------------- */

static LLVMBasicBlockRef hint_table_append(LLVMValueRef function, const char *name) {
  return LLVMAppendBasicBlockInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)), function, name);
}

static void build_return(LLVMBuilderRef builder, LLVMBasicBlockRef block, LLVMTypeRef i8, uint8_t hint) {
  LLVMPositionBuilderAtEnd(builder, block);
  LLVMBuildRet(builder, LLVMConstInt(i8, hint, false));
}

static void build_table(const hearth_hint_tables *tables, LLVMValueRef function, const hearth_plan_table *table) {
  LLVMContextRef context = LLVMGetModuleContext(tables->module);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
  const hearth_plan_entry *cases[CASES_MAX];
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(tables->plan, table, &count);
  const hearth_plan_entry *other = heaviest_entry(entries, count, false);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, hint_table_append(function, "entry"));
  LLVMValueRef bits = LLVMBuildAnd(builder, LLVMGetParam(function, 0), LLVMConstInt(i64, table->mask, false), "");
  LLVMBasicBlockRef others = hint_table_append(function, "others"), blocks[HEARTH_PLACEMENTS] = {NULL};
  count = choose_cases(entries, count, cases);
  LLVMValueRef choice = LLVMBuildSwitch(builder, bits, others, count);
  build_return(builder, others, i8,
               other ? hearth_hint_table_hint(tables, other) : tables->hints[HEARTH_CLASS_UNKNOWN]);
  for (uint32_t i = 0; i < count; i++) {
    LLVMBasicBlockRef *block = &blocks[cases[i]->placement];
    if (!*block) {
      *block = hint_table_append(function, hearth_placement_name((hearth_placement)cases[i]->placement));
      build_return(builder, *block, i8, hearth_hint_table_hint(tables, cases[i]));
    }
    LLVMAddCase(choice, LLVMConstInt(i64, cases[i]->bits, false), *block);
  }
  LLVMDisposeBuilder(builder);
}

/* Seldom called; by jump tables it would be twice the size. */
static LLVMValueRef hint_table_add_function(const hearth_hint_tables *tables, const char *name) {
  LLVMContextRef context = LLVMGetModuleContext(tables->module);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
  LLVMValueRef function =
      LLVMAddFunction(tables->module, name, LLVMFunctionType(LLVMInt8TypeInContext(context), &i64, 1, false));
  LLVMSetLinkage(function, LLVMInternalLinkage);
  hearth_shim_make_support_function(function);
  hearth_add_attribute(function, LLVMAttributeFunctionIndex, "minsize", 0);
  hearth_add_attribute(function, LLVMAttributeFunctionIndex, "optsize", 0);
  return function;
}

LLVMValueRef hearth_hint_table_get(const hearth_hint_tables *tables, const hearth_plan_table *table) {
  char name[64];
  snprintf(name, sizeof name, "__hearth_hint.%016" PRIx64, table->stack_id);
  LLVMValueRef function = LLVMGetNamedFunction(tables->module, name);
  if (!function) {
    function = hint_table_add_function(tables, name);
    /* the arguments of the allocation stay where they are */
    LLVMSetFunctionCallConv(function, LLVMPreserveMostCallConv);
    build_table(tables, function, table);
  }
  return function;
}
