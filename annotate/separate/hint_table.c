/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entries are chosen by weight. Few become a switch over the masked bits. More become keys, hashes of the bits with the
 * hint's number in the table in the lowest ones, in a sorted array, which one binary search in the module reads. */
#include "hint_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "dispatch.h"
#include "hearth/hints.h"
#include "shim.h"

/* Contexts beyond these, of least bytes, get the hint of ambiguous calls. */
#define ENTRIES_MAX 128u
/* A case is eleven bytes of code (x86-64, minsize); a key is four of data, and the search about a hundred once. */
#define SWITCH_MAX 12u
/* Beyond these, contexts with less than this part of the table's bytes are not worth a key: they are ambiguous. */
#define BYTES_PART 8192u

/* Keys are the upper 29 bits of the product: of bits that no context of the profile had, one value in millions is taken for
 * one that some context had. */
#define KEY_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio */
#define KEY_HINT   7u                           /* the bits of the hint's number */
#define HINTS_MAX  (KEY_HINT + 1)               /* of a table, the first one that of ambiguous calls */

static LLVMContextRef hint_table_context_of(const hearth_hint_tables *tables) {
  return LLVMGetModuleContext(tables->module);
}

static LLVMValueRef hint_table_constant(LLVMTypeRef type, uint64_t value) { return LLVMConstInt(type, value, false); }

/* -------------------------------------------------- entries -------------------------------------------------- */

uint8_t hearth_hint_table_hint(const hearth_hint_tables *tables, const hearth_plan_entry *entry) {
  return hearth_hint_of(hearth_placer_of_plan(tables->placer, entry->placement), tables->hints);
}

/* Entries whose placements are known, the heaviest first; at most `most`. */
static uint32_t choose_entries(const hearth_plan_entry *entries, uint32_t count, uint32_t most,
                               const hearth_plan_entry **ret) {
  uint32_t chosen = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = chosen;
    if (entries[i].placement == HEARTH_CLASS_UNKNOWN)
      continue;
    for (; at > 0 && ret[at - 1]->right_bytes < entries[i].right_bytes; at--)
      if (at < most)
        ret[at] = ret[at - 1];
    if (at < most)
      ret[at] = &entries[i];
    chosen += chosen < most;
  }
  return chosen;
}

static uint64_t bytes_of_all(const hearth_plan_entry *entries, uint32_t count) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += entries[i].bytes;
  return sum;
}

/* Those that code is made of, the heaviest first. */
static uint32_t choose_worthwhile(const hearth_plan_entry *entries, uint32_t count,
                                  const hearth_plan_entry *ret[ENTRIES_MAX]) {
  uint64_t least = bytes_of_all(entries, count) / BYTES_PART;
  count = choose_entries(entries, count, ENTRIES_MAX, ret);
  while (count > SWITCH_MAX && ret[count - 1]->bytes < least)
    count--;
  return count;
}

const hearth_plan_entry *hearth_hint_table_heaviest(const hearth_hint_tables *tables, const hearth_plan_table *table) {
  const hearth_plan_entry *heaviest;
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(tables->plan, table, &count);
  uint64_t all = bytes_of_all(entries, count);
  return choose_entries(entries, count, 1, &heaviest) && heaviest->bytes >= all / 2 ? heaviest : NULL;
}

/* --------------------------------------------------- code ---------------------------------------------------- */

static LLVMBasicBlockRef hint_table_append(LLVMValueRef function, const char *name) {
  return LLVMAppendBasicBlockInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)), function, name);
}

/* i8 (i64 bits) with these cases. */
static void build_switch(const hearth_hint_tables *tables, LLVMBuilderRef builder, LLVMValueRef bits,
                         const hearth_plan_entry *const *cases, uint32_t count) {
  LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
  LLVMBasicBlockRef others = hint_table_append(function, "ambiguous"), blocks[HEARTH_PLACEMENTS] = {others};
  LLVMValueRef choice = LLVMBuildSwitch(builder, bits, others, count);
  for (uint32_t i = 0; i < count; i++) {
    hearth_placement placement = hearth_placer_of_plan(tables->placer, cases[i]->placement);
    if (!blocks[placement])
      blocks[placement] = hint_table_append(function, hearth_placement_name(placement));
    LLVMAddCase(choice, hint_table_constant(LLVMTypeOf(bits), cases[i]->bits), blocks[placement]);
  }
  for (hearth_placement i = 0; i < HEARTH_PLACEMENTS; i++)
    if (blocks[i]) {
      LLVMPositionBuilderAtEnd(builder, blocks[i]);
      LLVMBuildRet(builder, hint_table_constant(LLVMInt8TypeInContext(hint_table_context_of(tables)),
                                                hearth_hint_of(i, tables->hints)));
    }
}

/* Seldom called; by jump tables and unrolled loops it would be twice the size. */
static LLVMValueRef hint_table_add_function(const hearth_hint_tables *tables, const char *name, LLVMTypeRef *parameters,
                                            unsigned count) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(hint_table_context_of(tables));
  LLVMValueRef function = LLVMAddFunction(tables->module, name, LLVMFunctionType(i8, parameters, count, false));
  LLVMSetLinkage(function, LLVMInternalLinkage);
  hearth_shim_make_support_function(function);
  hearth_add_attribute(function, LLVMAttributeFunctionIndex, "minsize", 0);
  hearth_add_attribute(function, LLVMAttributeFunctionIndex, "optsize", 0);
  return function;
}

static LLVMValueRef add_phi(LLVMBuilderRef builder, LLVMValueRef first, LLVMBasicBlockRef from) {
  LLVMValueRef phi = LLVMBuildPhi(builder, LLVMTypeOf(first), "");
  LLVMAddIncoming(phi, &first, &from, 1);
  return phi;
}

/* The hint of the key, where `found` is the last one that is not greater than `wanted`: the key with all bits of the
 * number. */
static void build_verdict(LLVMBuilderRef builder, LLVMTypeRef i8, LLVMValueRef found, LLVMValueRef wanted,
                          LLVMValueRef hints) {
  LLVMTypeRef i32 = LLVMTypeOf(found);
  LLVMValueRef differ = LLVMBuildXor(builder, found, wanted, "");
  LLVMValueRef same = LLVMBuildICmp(builder, LLVMIntULE, differ, hint_table_constant(i32, KEY_HINT), "");
  LLVMValueRef number =
      LLVMBuildSelect(builder, same, LLVMBuildAnd(builder, found, hint_table_constant(i32, KEY_HINT), ""),
                      hint_table_constant(i32, 0), "");
  LLVMValueRef shift =
      LLVMBuildZExt(builder, LLVMBuildMul(builder, number, hint_table_constant(i32, 8), ""), LLVMTypeOf(hints), "");
  LLVMBuildRet(builder, LLVMBuildTrunc(builder, LLVMBuildLShr(builder, hints, shift, ""), i8, ""));
}

/* i8 (i64 bits, i32 *keys, i32 count, i64 hints): the range of `count` > 0 keys is halved until it has one. */
static void build_search(const hearth_hint_tables *tables, LLVMValueRef function) {
  LLVMContextRef context = hint_table_context_of(tables);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
  LLVMBasicBlockRef entry = hint_table_append(function, "entry"), head = hint_table_append(function, "head");
  LLVMBasicBlockRef halve = hint_table_append(function, "halve"), end = hint_table_append(function, "end");
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, entry);
  LLVMValueRef product = LLVMBuildMul(builder, LLVMGetParam(function, 0), hint_table_constant(i64, KEY_FACTOR), "");
  LLVMValueRef upper =
      LLVMBuildTrunc(builder, LLVMBuildLShr(builder, product, hint_table_constant(i64, 32), ""), i32, "");
  LLVMValueRef wanted = LLVMBuildOr(builder, upper, hint_table_constant(i32, KEY_HINT), "");
  LLVMBuildBr(builder, head);

  LLVMPositionBuilderAtEnd(builder, head);
  LLVMValueRef first = add_phi(builder, LLVMGetParam(function, 1), entry);
  LLVMValueRef left = add_phi(builder, LLVMGetParam(function, 2), entry);
  LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntUGT, left, hint_table_constant(i32, 1), ""), halve, end);

  LLVMPositionBuilderAtEnd(builder, halve);
  LLVMValueRef half = LLVMBuildLShr(builder, left, hint_table_constant(i32, 1), "");
  LLVMValueRef index = LLVMBuildZExt(builder, half, i64, "");
  LLVMValueRef middle = LLVMBuildInBoundsGEP2(builder, i32, first, &index, 1, "");
  LLVMValueRef behind = LLVMBuildICmp(builder, LLVMIntUGT, LLVMBuildLoad2(builder, i32, middle, ""), wanted, "");
  LLVMValueRef next = LLVMBuildSelect(builder, behind, first, middle, "");
  LLVMValueRef rest = LLVMBuildSub(builder, left, half, "");
  LLVMAddIncoming(first, &next, &halve, 1);
  LLVMAddIncoming(left, &rest, &halve, 1);
  LLVMBuildBr(builder, head);

  LLVMPositionBuilderAtEnd(builder, end);
  build_verdict(builder, LLVMInt8TypeInContext(context), LLVMBuildLoad2(builder, i32, first, ""), wanted,
                LLVMGetParam(function, 3));
  LLVMDisposeBuilder(builder);
}

static LLVMValueRef get_search(hearth_hint_tables *tables) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(hint_table_context_of(tables)),
              i32 = LLVMInt32TypeInContext(hint_table_context_of(tables));
  LLVMTypeRef parameters[] = {i64, LLVMPointerType(i32, 0), i32, i64};
  if (!tables->search) {
    tables->search = hint_table_add_function(tables, "__hearth_find_hint", parameters, 4);
    build_search(tables, tables->search);
  }
  return tables->search;
}

/* --------------------------------------------------- keys ---------------------------------------------------- */

/* The number of a hint among those of a table, where it is put if it is new; HINTS_MAX if there is no room. */
static uint32_t number_of(uint8_t hint, uint8_t hints[HINTS_MAX], uint32_t *count) {
  uint32_t number = 0;
  while (number < *count && hints[number] != hint)
    number++;
  if (number == *count && number < HINTS_MAX)
    hints[(*count)++] = hint;
  return number;
}

/* The sorted keys, and the hints that they number. False if two contexts would have the same, or hints are too many. */
static bool make_keys(const hearth_hint_tables *tables, const hearth_plan_entry *const *entries, uint32_t count,
                      uint32_t *ret_keys, uint8_t ret_hints[HINTS_MAX]) {
  uint32_t hint_count = 1;
  ret_hints[0] = tables->hints[HEARTH_CLASS_UNKNOWN];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = number_of(hearth_hint_table_hint(tables, entries[i]), ret_hints, &hint_count);
    if (number == HINTS_MAX)
      return false;
    ret_keys[i] = ((uint32_t)((entries[i]->bits * KEY_FACTOR) >> 32) & ~KEY_HINT) | number;
  }
  qsort(ret_keys, count, sizeof *ret_keys, hearth_compare_u32);
  for (uint32_t i = 1; i < count; i++)
    if ((ret_keys[i] & ~KEY_HINT) == (ret_keys[i - 1] & ~KEY_HINT))
      return false;
  return true;
}

static LLVMValueRef add_keys(const hearth_hint_tables *tables, const char *name, const uint32_t *keys, uint32_t count) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(hint_table_context_of(tables));
  LLVMValueRef values[ENTRIES_MAX];
  for (uint32_t i = 0; i < count; i++)
    values[i] = hint_table_constant(i32, keys[i]);
  LLVMValueRef global = LLVMAddGlobal(tables->module, LLVMArrayType(i32, count), name);
  LLVMSetInitializer(global, LLVMConstArray(i32, values, count));
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
  LLVMSetAlignment(global, 4); /* an array of this size would get 16 */
  return LLVMConstPointerCast(global, LLVMPointerType(i32, 0));
}

static void build_call_of_search(hearth_hint_tables *tables, LLVMBuilderRef builder, LLVMValueRef bits,
                                 LLVMValueRef keys, uint32_t count, const uint8_t hints[HINTS_MAX]) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(hint_table_context_of(tables));
  uint64_t packed = 0;
  for (unsigned i = 0; i < HINTS_MAX; i++)
    packed |= (uint64_t)hints[i] << 8 * i;
  LLVMValueRef arguments[] = {bits, keys, hint_table_constant(i32, count),
                              hint_table_constant(LLVMTypeOf(bits), packed)},
               search = get_search(tables);
  LLVMValueRef call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(search), search, arguments, 4, "");
  LLVMSetTailCall(call, true);
  LLVMBuildRet(builder, call);
}

/* Two contexts have the same key in one large table of a hundred thousand; that is then a switch, too. */
static void build_table(hearth_hint_tables *tables, LLVMValueRef function, const hearth_plan_table *table) {
  const hearth_plan_entry *chosen[ENTRIES_MAX];
  uint32_t keys[ENTRIES_MAX], count;
  uint8_t hints[HINTS_MAX] = {0};
  char name[64];
  const hearth_plan_entry *entries = hearth_plan_entries(tables->plan, table, &count);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(hint_table_context_of(tables));
  LLVMPositionBuilderAtEnd(builder, hint_table_append(function, "entry"));
  LLVMValueRef word = LLVMGetParam(function, 0);
  LLVMValueRef bits = LLVMBuildAnd(builder, word, hint_table_constant(LLVMTypeOf(word), table->mask), "");
  count = choose_worthwhile(entries, count, chosen);
  if (count > SWITCH_MAX && make_keys(tables, chosen, count, keys, hints)) {
    snprintf(name, sizeof name, "__hearth_keys.%016" PRIx64, table->stack_id);
    build_call_of_search(tables, builder, bits, add_keys(tables, name, keys, count), count, hints);
  } else {
    build_switch(tables, builder, bits, chosen, count);
  }
  LLVMDisposeBuilder(builder);
}

LLVMValueRef hearth_hint_table_get(hearth_hint_tables *tables, const hearth_plan_table *table) {
  char name[64];
  LLVMTypeRef i64 = LLVMInt64TypeInContext(hint_table_context_of(tables));
  snprintf(name, sizeof name, "__hearth_hint.%016" PRIx64, table->stack_id);
  LLVMValueRef function = LLVMGetNamedFunction(tables->module, name);
  if (!function) {
    function = hint_table_add_function(tables, name, &i64, 1);
    LLVMSetFunctionCallConv(function,
                            LLVMPreserveMostCallConv); /* the arguments of the allocation stay where they are */
    build_table(tables, function, table);
  }
  return function;
}
