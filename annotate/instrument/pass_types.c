/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The types of allocation calls, for `hearth index`: a table in a section of its own, keyed by the calls' debug
 * locations, as the contexts of a profile are. The program does not look at it. Early in the pipeline, before
 * optimisation removes the code that shows types: the name is that of the first of these sources that has one.
 *
 *   1. debug information that the front end attached to the call (-g, new expressions)
 *   2. the constructor that is called for the block
 *   3. the allocator class that the call is a member's of (std::allocator and its base): its template argument
 *   4. the pointee of the variable that the block is stored to (clang 20 and newer)
 *   5. the type that the pointer is cast to, or the struct whose members are accessed through it, also from a local
 *      variable. A struct larger than the block, if that has a constant size, is none; if several are left, that of
 *      exactly its size, else none */
#include <stdint.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "hearth/ir_facts.h"
#include "hearth/program_tables.h"
#include "module.h"
#include "passes.h"
#include "shim.h"

#define TYPE_NAME_MAX 1024 /* longest name that is taken, with its NUL */
#define MOST_USES     256  /* of one pointer that are looked at */
#define MOST_TYPES    8    /* different ones; more say nothing */

/* --- what somebody says --- */

static bool from_attachment(LLVMValueRef call, char *name) {
  unsigned kind = LLVMGetMDKindIDInContext(
      LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)))),
      "heapallocsite", (unsigned)strlen("heapallocsite"));
  return hearth_ir_debug_type_name(hearth_ir_attachment(call, kind), name, TYPE_NAME_MAX);
}

static bool constructs(LLVMValueRef user, LLVMValueRef block, char *name) {
  LLVMValueRef callee = hearth_ir_is_call(user) ? LLVMIsAGlobalValue(LLVMGetCalledValue(user)) : NULL; /* or an alias */
  if (!callee || LLVMGetNumArgOperands(user) == 0 || LLVMGetArgOperand(user, 0) != block)
    return false;
  size_t length;
  return hearth_ir_constructed_class(LLVMGetValueName2(callee, &length), name, TYPE_NAME_MAX);
}

static bool is_cast(LLVMValueRef user) { return LLVMIsABitCastInst(user) != NULL; }

/* Base classes are constructed by constructors, not beside them: the first call for the block is its own class's. */
static bool from_constructor(LLVMValueRef block, char *name) {
  unsigned looked_at = 0;
  bool found = false;
  for (LLVMUseRef use = LLVMGetFirstUse(block); use && !found && looked_at++ < MOST_USES; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    found = constructs(user, block, name) || (is_cast(user) && from_constructor(user, name));
  }
  return found;
}

/* "std::allocator<T>" and the like to "T". */
static bool take_template_argument(char *name) {
  static const char *const allocators[] = {"std::allocator<", "std::__new_allocator<", "__gnu_cxx::new_allocator<",
                                           "std::__1::allocator<"};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof allocators / sizeof allocators[0]; i++) {
    size_t prefix = strlen(allocators[i]);
    if (length <= prefix + 1 || strncmp(name, allocators[i], prefix) != 0 || name[length - 1] != '>')
      continue;
    memmove(name, name + prefix, length - prefix - 1);
    name[length - prefix - 1] = '\0';
    return true;
  }
  return false;
}

static bool from_allocator(LLVMValueRef call, char *name) {
  char linkage_name[TYPE_NAME_MAX];
  size_t length = 0;
  LLVMMetadataRef location = hearth_ir_instruction_location(call);
  LLVMMetadataRef scope = location ? hearth_ir_scope_subprogram(LLVMDILocationGetScope(location)) : NULL;
  const char *function = scope ? hearth_ir_subprogram_name(scope, &length) : NULL;
  if (!function || length >= sizeof linkage_name)
    return false;
  memcpy(linkage_name, function, length);
  linkage_name[length] = '\0';
  return hearth_ir_member_class(linkage_name, name, TYPE_NAME_MAX) && take_template_argument(name);
}

static bool from_variable(LLVMValueRef block, char *name) {
  unsigned looked_at = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(block); use && looked_at++ < MOST_USES; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == block &&
        hearth_ir_accessed_pointee(user, name, TYPE_NAME_MAX))
      return true;
  }
  return false;
}

/* --- uses of the pointer --- */

typedef struct candidates {
  LLVMTargetDataRef layout;
  uint64_t block_size; /* 0: not constant */
  LLVMTypeRef types[MOST_TYPES + 1];
  unsigned count;
} candidates;

static void data_type_add(candidates *c, LLVMTypeRef type) {
  if (!type || LLVMGetTypeKind(type) != LLVMStructTypeKind || LLVMIsOpaqueStruct(type) || !LLVMGetStructName(type))
    return;
  if (c->block_size && LLVMABISizeOfType(c->layout, type) > c->block_size)
    return;
  for (unsigned i = 0; i < c->count; i++)
    if (c->types[i] == type)
      return;
  if (c->count <= MOST_TYPES)
    c->types[c->count++] = type;
}

static void add_uses(candidates *c, LLVMValueRef pointer, bool into_variables);

static void add_variable(candidates *c, LLVMValueRef variable) {
  unsigned looked_at = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(variable); use && looked_at++ < MOST_USES; use = LLVMGetNextUse(use))
    if (LLVMIsALoadInst(LLVMGetUser(use)))
      add_uses(c, LLVMGetUser(use), false);
}

static void add_use(candidates *c, LLVMValueRef pointer, LLVMValueRef user, bool into_variables) {
  if (LLVMIsAGetElementPtrInst(user) && LLVMGetOperand(user, 0) == pointer) {
    data_type_add(c, LLVMGetGEPSourceElementType(user));
  } else if (is_cast(user)) {
    data_type_add(c, hearth_ir_pointee(LLVMTypeOf(user)));
    add_uses(c, user, into_variables);
  } else if (into_variables && LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == pointer &&
             LLVMIsAAllocaInst(LLVMGetOperand(user, 1))) {
    add_variable(c, LLVMGetOperand(user, 1));
  }
}

static void add_uses(candidates *c, LLVMValueRef pointer, bool into_variables) {
  unsigned looked_at = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(pointer); use && looked_at++ < MOST_USES; use = LLVMGetNextUse(use))
    add_use(c, pointer, LLVMGetUser(use), into_variables);
}

/* 0: not constant. */
static uint64_t constant_size(LLVMValueRef call) {
  const char *factor = hearth_alloc_function_of(call)->size;
  uint64_t size = *factor != '\0';
  for (; *factor; factor++) {
    LLVMValueRef argument = LLVMIsAConstantInt(LLVMGetArgOperand(call, (unsigned)(*factor - '0')));
    size *= argument ? LLVMConstIntGetZExtValue(argument) : 0;
  }
  return size;
}

static LLVMTypeRef choose_type(const candidates *c) {
  LLVMTypeRef fits = NULL;
  if (c->count == 1)
    return c->types[0];
  for (unsigned i = 0; c->block_size && c->count <= MOST_TYPES && i < c->count; i++) {
    if (LLVMABISizeOfType(c->layout, c->types[i]) != c->block_size)
      continue;
    if (fits)
      return NULL;
    fits = c->types[i];
  }
  return fits;
}

static bool from_uses(LLVMValueRef call, char *name) {
  LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
  candidates c = {.layout = LLVMGetModuleDataLayout(module), .block_size = constant_size(call)};
  add_uses(&c, call, true);
  LLVMTypeRef type = choose_type(&c);
  return type && hearth_ir_struct_name(type, name, TYPE_NAME_MAX);
}

/* LLVM's IR does not say it, but source-shaped code gives it away. */
static bool data_type_of(LLVMValueRef call, char name[TYPE_NAME_MAX]) {
  if (!hearth_alloc_function_of(call) || LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMPointerTypeKind)
    return false;
  return from_attachment(call, name) || from_constructor(call, name) || from_allocator(call, name) ||
         from_variable(call, name) || from_uses(call, name);
}

/* --- the table --- */

typedef struct table {
  LLVMModuleRef module;
  hearth_locator *locator;
  bool changed;
} table;

static LLVMValueRef record_of(LLVMContextRef context, const hearth_location *at, const char *name) {
  uint32_t size = (uint32_t)strlen(name);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
  char padded[TYPE_NAME_MAX + 8] = "";
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
  char name[TYPE_NAME_MAX];
  if (data_type_of(instruction, name) && hearth_locate(t->locator, instruction, chain) > 0 && chain[0].id != 0)
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
  t.locator = hearth_locator_create(HEARTH_IDS_HEARTH, NULL, NULL);
  if (!t.locator) {
    hearth_shim_error(module, "out of memory while looking for the types of allocations");
    return false;
  }
  hearth_ir_for_each_instruction(module, types_visit, &t);
  hearth_locator_destroy(t.locator);
  return t.changed;
}
