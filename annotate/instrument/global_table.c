/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counters of globals are those of the granules that they lie in, so no code and no memory is needed beside what
 * heap blocks have. A table that the compiler writes knows each global by name, also in stripped programs, and those
 * without a symbol. It refers to globals of a comdat by name only: a local one may have been discarded. */

#include "instrument.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>
#include <llvm-c/Target.h>

#include "array.h"
#include "module.h"
#include "shim.h"

#define TABLE "hearth.globals"

typedef struct table {
  LLVMModuleRef module;
  LLVMTypeRef i64, i32;
  LLVMTargetDataRef layout;
  LLVMValueRef *rows;
  size_t row_count, row_room;
  char *names;
  size_t names_size, names_room;
  uint32_t file_at;    /* where the file is that was added last */
  uint32_t more_flags; /* of each row */
} table;

static bool add_global_string(table *t, const char *text, uint32_t *ret) {
  size_t size = strlen(text) + 1;
  if (!hearth_array_reserve(&t->names, &t->names_room, t->names_size, size, 1))
    return false;
  memcpy(t->names + t->names_size, text, size);
  *ret = (uint32_t)t->names_size;
  t->names_size += size;
  return true;
}

/* Files of globals that follow each other are mostly one. */
static bool add_global_file(table *t, const char *file) {
  return (t->names_size > 0 && strcmp(t->names + t->file_at, file) == 0) || add_global_string(t, file, &t->file_at);
}

static LLVMValueRef table_number(LLVMTypeRef type, uint64_t value) { return LLVMConstInt(type, value, false); }

static bool add_row(table *t, LLVMValueRef global, const hearth_global_name *name) {
  uint32_t name_at;
  if (!hearth_array_grow(&t->rows, &t->row_room, t->row_count, sizeof *t->rows) || !add_global_file(t, name->file) ||
      !add_global_string(t, name->name, &name_at))
    return false;
  LLVMValueRef fields[] = {
      LLVMConstPtrToInt(global, t->i64), table_number(t->i64, hearth_global_size(t->layout, global)),
      table_number(t->i32, name_at),     table_number(t->i32, t->file_at),
      table_number(t->i32, name->line),  table_number(t->i32, name->flags | t->more_flags)};
  t->rows[t->row_count++] = LLVMConstStructInContext(LLVMGetModuleContext(t->module), fields, 6, false);
  return true;
}

static bool add_globals(table *t) {
  hearth_global_name name;
  for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g; g = LLVMGetNextGlobal(g)) {
    if (!hearth_global_name_of(g, &name) || (LLVMGetComdat(g) && hearth_is_local(g)))
      continue;
    hearth_shim_raise_alignment(g, HEARTH_GRANULE);
    if (!add_row(t, g, &name))
      return false;
  }
  return true;
}

static LLVMValueRef define(table *t, const char *name, LLVMValueRef value) {
  LLVMValueRef global = LLVMAddGlobal(t->module, LLVMTypeOf(value), name);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

static void define_table(table *t) {
  LLVMContextRef context = LLVMGetModuleContext(t->module);
  LLVMTypeRef row = LLVMTypeOf(t->rows[0]);
  LLVMValueRef rows = define(t, "hearth.globals.rows", LLVMConstArray(row, t->rows, (unsigned)t->row_count));
  LLVMValueRef names =
      define(t, "hearth.globals.names", LLVMConstStringInContext(context, t->names, (unsigned)t->names_size, true));
  LLVMValueRef fields[] = {table_number(t->i64, HEARTH_GLOBALS_MAGIC), LLVMConstPtrToInt(rows, t->i64),
                           LLVMConstPtrToInt(names, t->i64), table_number(t->i32, t->row_count),
                           table_number(t->i32, t->names_size)};
  define(t, TABLE, LLVMConstStructInContext(context, fields, 5, false));
}

bool hearth_global_table_define(LLVMModuleRef module, bool stores) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  table t = {.module = module,
             .i64 = LLVMInt64TypeInContext(context),
             .i32 = LLVMInt32TypeInContext(context),
             .layout = LLVMGetModuleDataLayout(module),
             .more_flags = stores ? HEARTH_GLOBAL_STORES : 0};
  bool ok = add_globals(&t);
  if (ok && t.row_count > 0)
    define_table(&t);
  free(t.rows);
  free(t.names);
  return ok;
}

LLVMValueRef hearth_global_table_of(LLVMModuleRef module) { return LLVMGetNamedGlobal(module, TABLE); }

bool hearth_global_counts(LLVMValueRef global) {
  return !LLVMIsThreadLocal(global) && !hearth_shim_has_own_section(global) &&
         hearth_global_table_of(LLVMGetGlobalParent(global));
}

/* ------------------------------------------------ stores ------------------------------------------------ */

/* Each store adds one to a second counter of its granule, at __hearth_stores + address / 16 * 4, which stays at its
 * greatest number; so does each call of a library function or memory intrinsic that may write through a pointer,
 * however much. None are joined: a global without stores has none at all. */

static bool add_store(hearth_global_stores *s, LLVMValueRef instruction, LLVMValueRef pointer) {
  if (!hearth_may_be_heap(pointer))
    return true;
  if (!hearth_array_grow(&s->items, &s->capacity, s->count, sizeof *s->items))
    return false;
  s->items[s->count++] = (hearth_global_store){instruction, pointer};
  return true;
}

static bool add_call(hearth_global_stores *s, LLVMValueRef call) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee || (!LLVMGetIntrinsicID(callee) && !hearth_library_knows(call)))
    return true;
  for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++) {
    LLVMValueRef argument = LLVMGetArgOperand(call, i);
    if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && hearth_shim_may_write_through(call, i) &&
        !add_store(s, call, argument))
      return false;
  }
  return true;
}

static bool add_instruction(hearth_global_stores *s, LLVMValueRef i) {
  if (LLVMIsAStoreInst(i))
    return add_store(s, i, LLVMGetOperand(i, 1));
  if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
    return add_store(s, i, LLVMGetOperand(i, 0));
  return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) ? add_call(s, i) : true;
}

bool hearth_global_stores_collect(LLVMValueRef function, hearth_global_stores *ret) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  unsigned nosanitize = LLVMGetMDKindIDInContext(context, "nosanitize", (unsigned)strlen("nosanitize"));
  *ret = (hearth_global_stores){.items = NULL};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (!LLVMGetMetadata(i, nosanitize) && !add_instruction(ret, i))
        return false;
  return true;
}

void hearth_global_stores_free(hearth_global_stores *stores) { free(stores->items); }

void hearth_global_stores_count(const hearth_global_stores *stores, LLVMValueRef function, hearth_counters *counters) {
  if (stores->count == 0)
    return;
  hearth_counters_enter(counters, function);
  for (size_t i = 0; i < stores->count; i++) {
    const hearth_global_store *store = &stores->items[i];
    LLVMPositionBuilderBefore(counters->builder, store->instruction);
    hearth_counters_add(counters, LLVMBuildPtrToInt(counters->builder, store->pointer, counters->i64, ""), 1);
  }
  hearth_counters_leave(counters);
}
