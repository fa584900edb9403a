/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A function for each callee and hint has the fast path, and calls the allocator or the callee where that fails.
 * LLVM's inliner puts it in place of most calls, which copes with invokes, phis and debug locations, and folds what
 * a constant size settles. */
#include "lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ir_facts.h"
#include "hearth/lowered_calls.h"
#include "shim.h"

typedef struct fast_builder {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef i8, i64, pointer;
  LLVMValueRef function;
  LLVMBasicBlockRef empty, hinted; /* without a freed block; with the hinted call */
} fast_builder;

static bool is_new_family(const hearth_alloc_function *row) {
  return row->family == HEARTH_ALLOC_FAMILY_NEW || row->family == HEARTH_ALLOC_FAMILY_NEW_ARRAY;
}

static bool has_fast_path(const hearth_alloc_function *row) {
  return row->kind == HEARTH_ALLOC_UNINITIAL || row->kind == HEARTH_ALLOC_ZEROED || row->kind == HEARTH_ALLOC_REALLOC;
}

/* The checks of a sanitizer would be missing from the accesses; the others ask for no such code. */
static bool can_get_code(LLVMValueRef function) {
  static const char *const names[] = {"sanitize_address", "sanitize_thread", "sanitize_memory", "sanitize_hwaddress",
                                      "sanitize_memtag",  "minsize",         "optnone",         NULL};
  return !hearth_has_attribute(function, LLVMAttributeFunctionIndex, names);
}

void hearth_fast_note(hearth_fast_calls *calls, LLVMValueRef call, const hearth_alloc_function *row,
                      LLVMValueRef hint) {
  uint8_t usual = (uint8_t)LLVMConstIntGetZExtValue(hint);
  if (!has_fast_path(row) || !can_get_code(hearth_ir_function_of(call)))
    return;
  if (hearth_array_grow(&calls->items, &calls->room, calls->count, sizeof *calls->items)) /* else it stays as it is */
    calls->items[calls->count++] =
        (hearth_fast_call){.call = call, .row = row, .hint = usual, .is_in_place = hearth_shim_is_usual(call)};
}

/* ------------------------------------------- the allocator's variable ------------------------------------------- */

/* Nothing is found in it. */
static LLVMValueRef get_empty_pool(fast_builder *b) {
  static const char name[] = HEARTH_OWN_PREFIX "empty_pool";
  LLVMValueRef pool = LLVMGetNamedGlobal(b->module, name);
  LLVMTypeRef type = LLVMArrayType(b->i64, HEARTH_FAST_POOL_BYTES / sizeof(uint64_t));
  if (!pool) {
    pool = LLVMAddGlobal(b->module, type, name);
    LLVMSetInitializer(pool, LLVMConstNull(type));
    LLVMSetGlobalConstant(pool, true);
    hearth_share_global(b->module, pool, name);
  }
  return LLVMConstPointerCast(pool, b->pointer);
}

static LLVMValueRef get_pools(fast_builder *b) {
  LLVMValueRef pools = LLVMGetNamedGlobal(b->module, HEARTH_FAST_POOLS), empty[HEARTH_FAST_FAMILIES];
  if (pools)
    return pools;
  for (int family = 0; family < HEARTH_FAST_FAMILIES; family++)
    empty[family] = get_empty_pool(b);
  pools = LLVMAddGlobal(b->module, LLVMArrayType(b->pointer, HEARTH_FAST_FAMILIES), HEARTH_FAST_POOLS);
  LLVMSetInitializer(pools, LLVMConstArray(b->pointer, empty, HEARTH_FAST_FAMILIES));
  LLVMSetLinkage(pools, LLVMWeakAnyLinkage);
  LLVMSetThreadLocalMode(pools, hearth_thread_model(b->module));
  return pools;
}

static LLVMValueRef at(fast_builder *b, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildGEP2(b->builder, b->i8, base, &offset, 1, "");
}

static LLVMValueRef as(fast_builder *b, LLVMValueRef address, LLVMTypeRef type) {
  return LLVMBuildPointerCast(b->builder, address, LLVMPointerType(type, 0), "");
}

static LLVMValueRef fast_path_load(fast_builder *b, LLVMTypeRef type, LLVMValueRef address) {
  return LLVMBuildLoad2(b->builder, type, as(b, address, type), "");
}

static void store(fast_builder *b, LLVMValueRef value, LLVMValueRef address) {
  LLVMBuildStore(b->builder, value, as(b, address, LLVMTypeOf(value)));
}

static LLVMValueRef number(fast_builder *b, uint64_t value) { return LLVMConstInt(b->i64, value, false); }

/* ---------------------------------------------------- the function ---------------------------------------------------- */

/* Goes on in a new block if the condition is true. */
static void require(fast_builder *b, LLVMValueRef condition, LLVMBasicBlockRef otherwise) {
  LLVMBasicBlockRef next = LLVMInsertBasicBlockInContext(b->context, b->empty, "");
  hearth_shim_expect_true(LLVMBuildCondBr(b->builder, condition, next, otherwise));
  LLVMPositionBuilderAtEnd(b->builder, next);
}

static LLVMValueRef size_of_block(fast_builder *b, const hearth_alloc_function *row) {
  LLVMValueRef size = LLVMGetParam(b->function, (unsigned)(row->size[0] - '0')),
               limit = number(b, HEARTH_FAST_GRANULE * HEARTH_FAST_CLASSES);
  if (row->size[1]) {
    LLVMValueRef count = LLVMGetParam(b->function, (unsigned)(row->size[1] - '0')),
                 either = LLVMBuildOr(b->builder, size, count, "");
    require(b, LLVMBuildICmp(b->builder, LLVMIntULE, either, limit, ""), b->hinted);
    size = LLVMBuildMul(b->builder, size, count, "");
  }
  require(b, LLVMBuildICmp(b->builder, LLVMIntULE, size, limit, ""), b->hinted);
  return size;
}

static LLVMValueRef find_pool(fast_builder *b, const hearth_alloc_function *row) {
  hearth_fast_family family = is_new_family(row) ? HEARTH_FAST_OF_NEW : HEARTH_FAST_OF_MALLOC;
  LLVMValueRef pools = LLVMBuildPointerCast(b->builder, get_pools(b), LLVMPointerType(b->i8, 0), "");
  return fast_path_load(b, b->pointer, family ? at(b, pools, number(b, family * sizeof(void *))) : pools);
}

/* Anew for each use: an instruction that takes it from memory needs no register. */
static LLVMValueRef load_key(fast_builder *b, LLVMValueRef pool) {
  return fast_path_load(b, b->i64, at(b, pool, number(b, HEARTH_FAST_KEY)));
}

/* The first block of the class's list leaves it. */
static LLVMValueRef take_block(fast_builder *b, LLVMValueRef pool, LLVMValueRef class) {
  LLVMBuilderRef builder = b->builder;
  LLVMValueRef list = at(b, pool, LLVMBuildShl(builder, class, number(b, 3), "")), key = load_key(b, pool),
               address = LLVMBuildSub(builder, fast_path_load(b, b->i64, list), key, "");
  require(b, LLVMBuildIsNotNull(builder, address, ""), b->empty);
  LLVMValueRef block = LLVMBuildIntToPtr(builder, address, b->pointer, "");
  store(b, fast_path_load(b, b->i64, block), list);
  LLVMValueRef segment = LLVMBuildAnd(builder, address, number(b, -(uint64_t)HEARTH_FAST_SEGMENT), ""),
               granule = LLVMBuildLShr(
                   builder, LLVMBuildAnd(builder, address, number(b, HEARTH_FAST_SEGMENT - HEARTH_FAST_GRANULE), ""),
                   number(b, 4), ""),
               map = LLVMBuildIntToPtr(builder, segment, b->pointer, "");
  store(b, LLVMBuildTrunc(builder, class, b->i8, ""), at(b, map, granule));
  LLVMValueRef budget = at(b, pool, number(b, HEARTH_FAST_BUDGET));
  store(b, LLVMBuildAdd(builder, fast_path_load(b, b->i64, budget), class, ""), budget);
  return block;
}

/* With the parameters: the hint is the last one. */
static void build_hinted_call(fast_builder *b, LLVMValueRef callee) {
  unsigned zeroext = LLVMGetEnumAttributeKindForName("zeroext", strlen("zeroext")), n = LLVMCountParams(b->function);
  LLVMValueRef arguments[HEARTH_ALLOC_PARAMETERS_MAX + 1];
  LLVMGetParams(b->function, arguments);
  LLVMPositionBuilderAtEnd(b->builder, b->hinted);
  LLVMValueRef call = hearth_build_tail_call(b->builder, LLVMGlobalGetValueType(callee), callee, arguments, n);
  LLVMAddCallSiteAttribute(call, n, LLVMCreateEnumAttribute(b->context, zeroext, 0));
}

/* The allocator's function that goes on where its list is empty; NULL: it has none for callers that want zeros, or
 * no exception. */
static const char *function_of_empty_lists(const fast_builder *b, const hearth_alloc_function *row) {
  bool is_nothrow = is_new_family(row) && LLVMCountParams(b->function) > 2;
  return row->kind == HEARTH_ALLOC_ZEROED || is_nothrow ? NULL
         : is_new_family(row)                           ? HEARTH_FAST_NEW
                                                        : HEARTH_FAST_MALLOC;
}

static void build_empty_list(fast_builder *b, const hearth_alloc_function *row, LLVMValueRef pool, LLVMValueRef class) {
  const char *name = function_of_empty_lists(b, row);
  LLVMPositionBuilderAtEnd(b->builder, b->empty);
  if (!name) {
    LLVMBuildBr(b->builder, b->hinted);
    return;
  }
  LLVMTypeRef parameters[] = {b->pointer, b->i64};
  LLVMValueRef function = LLVMGetNamedFunction(b->module, name), arguments[] = {pool, class};
  if (!function) {
    function = LLVMAddFunction(b->module, name, LLVMFunctionType(b->pointer, parameters, 2, false));
    LLVMSetLinkage(function, LLVMExternalWeakLinkage);
  }
  /* The variable may be of one allocator, and its functions missing: each symbol is found by itself. */
  LLVMValueRef is_pool = LLVMBuildIsNotNull(b->builder, load_key(b, pool), ""),
               can = LLVMBuildAnd(b->builder, is_pool, LLVMBuildIsNotNull(b->builder, function, ""), "");
  LLVMBasicBlockRef found = LLVMInsertBasicBlockInContext(b->context, b->hinted, "");
  hearth_shim_expect_true(LLVMBuildCondBr(b->builder, can, found, b->hinted));
  LLVMPositionBuilderAtEnd(b->builder, found);
  hearth_build_tail_call(b->builder, LLVMGlobalGetValueType(function), function, arguments, 2);
}

static void build_fast_path(fast_builder *b, const hearth_fast_call *noted) {
  const hearth_alloc_function *row = noted->row;
  LLVMValueRef hint = LLVMGetParam(b->function, LLVMCountParams(b->function) - 1),
               usual = LLVMConstInt(b->i8, noted->hint, false), last = number(b, HEARTH_FAST_GRANULE - 1);
  require(b, LLVMBuildICmp(b->builder, LLVMIntEQ, hint, usual, ""), b->hinted);
  if (row->kind == HEARTH_ALLOC_REALLOC)
    require(b, LLVMBuildIsNull(b->builder, LLVMGetParam(b->function, 0), ""), b->hinted);
  LLVMValueRef size = size_of_block(b, row), pool = find_pool(b, row),
               class = LLVMBuildLShr(b->builder, LLVMBuildAdd(b->builder, size, last, ""), number(b, 4), ""),
               block = take_block(b, pool, class);
  if (row->kind == HEARTH_ALLOC_ZEROED)
    LLVMBuildMemSet(b->builder, block, LLVMConstNull(b->i8), size, HEARTH_FAST_GRANULE);
  LLVMBuildRet(b->builder, block);
  build_empty_list(b, row, pool, class);
}

static LLVMValueRef build_fast_function(LLVMModuleRef module, const char *name, LLVMValueRef callee,
                                        const hearth_fast_call *noted) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  fast_builder b = {.module = module,
                    .context = context,
                    .builder = LLVMCreateBuilderInContext(context),
                    .i8 = LLVMInt8TypeInContext(context),
                    .i64 = LLVMInt64TypeInContext(context),
                    .pointer = LLVMGetReturnType(LLVMGlobalGetValueType(callee)),
                    .function = LLVMAddFunction(module, name, LLVMGlobalGetValueType(callee))};
  LLVMSetLinkage(b.function, LLVMInternalLinkage);
  hearth_shim_make_support_function(b.function);
  LLVMSetFunctionCallConv(b.function, LLVMGetFunctionCallConv(callee));
  LLVMPositionBuilderAtEnd(b.builder, LLVMAppendBasicBlockInContext(context, b.function, ""));
  b.empty = LLVMAppendBasicBlockInContext(context, b.function, "");
  b.hinted = LLVMAppendBasicBlockInContext(context, b.function, "");
  build_fast_path(&b, noted);
  build_hinted_call(&b, callee);
  LLVMDisposeBuilder(b.builder);
  return b.function;
}

/* ---------------------------------------------------- the calls ---------------------------------------------------- */

#define FAST HEARTH_OWN_PREFIX "fast."

static LLVMValueRef fast_function_for(LLVMModuleRef module, const hearth_fast_call *noted, LLVMValueRef callee) {
  char name[128];
  size_t length;
  const char *called = LLVMGetValueName2(callee, &length);
  snprintf(name, sizeof name, FAST "%u.%.*s", noted->hint, (int)length, called);
  LLVMValueRef fast = LLVMGetNamedFunction(module, name);
  return fast ? fast : build_fast_function(module, name, callee, noted);
}

static void inline_at(LLVMModuleRef module, const hearth_fast_call *noted) {
  LLVMValueRef callee = LLVMGetCalledValue(noted->call);
  if (!LLVMIsAFunction(callee))
    return;
  hearth_ir_call_set_callee(noted->call, fast_function_for(module, noted, callee));
  hearth_shim_remark(noted->call, false, "FastPath",
                     noted->is_in_place ? "the allocator's fast path is in place of the call"
                                        : "a function with the allocator's fast path is called");
  if (noted->is_in_place)
    hearth_shim_inline(noted->call);
}

static bool is_fast_function(LLVMValueRef function) {
  return hearth_is_named_like(function, (const char *[]){FAST, NULL});
}

static void delete_unused_functions(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module), next; function; function = next) {
    next = LLVMGetNextFunction(function);
    if (is_fast_function(function) && !LLVMGetFirstUse(function))
      LLVMDeleteFunction(function);
  }
}

/* A lowering before the link made these functions; passes since then may have replaced parameters by values that all
 * their calls share. */
static void put_functions_aside(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
    if (is_fast_function(function))
      LLVMSetValueName2(function, FAST "before", strlen(FAST "before"));
}

/* Else it is something of the program's. */
static bool is_free_or_ours(LLVMModuleRef module, const char *name) {
  LLVMValueRef variable = LLVMGetNamedGlobal(module, name);
  return variable ? LLVMGetLinkage(variable) == LLVMWeakAnyLinkage : !LLVMGetNamedFunction(module, name);
}

void hearth_fast_inline(LLVMModuleRef module, hearth_fast_calls *calls) {
  bool can = is_free_or_ours(module, HEARTH_FAST_POOLS);
  put_functions_aside(module);
  for (size_t i = 0; can && i < calls->count; i++)
    inline_at(module, &calls->items[i]);
  delete_unused_functions(module);
  free(calls->items);
  *calls = (hearth_fast_calls){0};
}
