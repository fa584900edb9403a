/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The types of allocation calls, for `hearth index`: a table in a section of its own, keyed by the calls' debug locations,
 * as the contexts of a profile are. The program does not look at it. Early in the pipeline, before optimisation removes
 * the code that shows types. */
#include <string.h>

#include "data_type.h"
#include "hearth/ir_facts.h"
#include "hearth/type_table.h"
#include "location.h"
#include "passes.h"
#include "shim.h"

typedef struct table {
  LLVMModuleRef module;
  hearth_locator *locator;
  bool changed;
} table;

static LLVMValueRef record_of(LLVMContextRef context, const hearth_location *at, const char *name) {
  uint32_t size = (uint32_t)strlen(name);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
  char padded[HEARTH_TYPE_NAME + 8] = "";
  memcpy(padded, name, size);
  LLVMValueRef fields[] = {LLVMConstInt(i64, at->function, false),
                           LLVMConstInt(i32, at->line, false),
                           LLVMConstInt(i32, at->column, false),
                           LLVMConstInt(i32, size, false),
                           LLVMConstInt(i32, 0, false),
                           LLVMConstStringInContext(context, padded, (size + 7) & ~7u, true)};
  return LLVMConstStructInContext(context, fields, sizeof fields / sizeof fields[0], true);
}

static void add_record(table *t, const hearth_location *at, const char *name) {
  LLVMValueRef record = record_of(LLVMGetModuleContext(t->module), at, name);
  LLVMValueRef global = LLVMAddGlobal(t->module, LLVMTypeOf(record), "hearth.type");
  LLVMSetInitializer(global, record);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetSection(global, HEARTH_TYPES_SECTION);
  LLVMSetAlignment(global, 8);
  hearth_ir_keep(t->module, global);
  t->changed = true;
}

static void types_visit(LLVMValueRef instruction, void *data) {
  table *t = data;
  hearth_location chain[HEARTH_CHAIN_MAX];
  char name[HEARTH_TYPE_NAME];
  if (hearth_data_type_of(instruction, name) && hearth_locate(t->locator, instruction, chain) > 0 && chain[0].id != 0)
    add_record(t, &chain[0], name);
}

static bool is_done(LLVMModuleRef module) {
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
    if (LLVMGetSection(g) && strcmp(LLVMGetSection(g), HEARTH_TYPES_SECTION) == 0)
      return true;
  return false;
}

bool hearth_pass_types(LLVMModuleRef module, const hearth_pass_options *options) {
  table t = {.module = module};
  (void)options;
  if (is_done(module))
    return false;
  t.locator = hearth_locator_create(HEARTH_IDS_HEARTH, NULL, false);
  if (!t.locator) {
    hearth_shim_error(module, "out of memory while looking for the types of allocations");
    return false;
  }
  hearth_ir_for_each_instruction(module, types_visit, &t);
  hearth_locator_destroy(t.locator);
  return t.changed;
}
