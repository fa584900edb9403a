/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constructors that call weak functions of the allocator: where a program has another one, nothing happens. */
#include "lower.h"

#include <inttypes.h>
#include <stdio.h>

#include <llvm-c/Comdat.h>

#include "hearth/ir_facts.h"
#include "hearth/mib.h"
#include "shim.h"

#define NEED_OF_LINK  "__hearth_need_link"
#define PLAN_RECEIVER "hearth_malloc_plan"

/* Names that a plan's id makes different. */
typedef struct plan_name {
  char c[48];
} plan_name;

static plan_name announcement_name_of(const char *what, uint64_t plan) {
  plan_name name;
  snprintf(name.c, sizeof name.c, "%s.%016" PRIx64, what, plan);
  return name;
}

static bool is_untaken(LLVMModuleRef module, const char *name, const char *receiver_name) {
  return !LLVMGetNamedFunction(module, name) && !LLVMGetNamedFunction(module, receiver_name);
}

/* Define a constructor, which runs before the program's own ones, that calls a function of the allocator: there may be
 * another one, or none of its own, so by a weak reference. Not if the module uses the function's name itself. */
static void add_announcement(LLVMModuleRef module, const char *name, const char *receiver_name, LLVMValueRef *arguments,
                             unsigned count) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef none = LLVMVoidTypeInContext(context), types[3];
  if (!is_untaken(module, name, receiver_name))
    return;
  for (unsigned i = 0; i < count; i++)
    types[i] = LLVMTypeOf(arguments[i]);
  LLVMTypeRef type = LLVMFunctionType(none, types, count, false);
  LLVMValueRef receiver = LLVMAddFunction(module, receiver_name, type),
               function = LLVMAddFunction(module, name, LLVMFunctionType(none, NULL, 0, false));
  LLVMSetLinkage(receiver, LLVMExternalWeakLinkage);
  hearth_share_global(module, function, name);
  hearth_shim_make_support_function(function);
  hearth_ir_append_constructor(module, function, 1);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMBasicBlockRef end = hearth_build_if_bound(builder, function, receiver);
  LLVMBuildCall2(builder, type, receiver, arguments, count, "");
  LLVMBuildBr(builder, end);
  LLVMPositionBuilderAtEnd(builder, end);
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
}

static LLVMValueRef plan_number(LLVMModuleRef module, uint64_t plan) {
  return LLVMConstInt(LLVMInt64TypeInContext(LLVMGetModuleContext(module)), plan, false);
}

static LLVMValueRef get_sites(LLVMModuleRef module, plan_name name, LLVMValueRef word) {
  LLVMValueRef sites = LLVMGetNamedFunction(module, name.c);
  if (sites)
    return sites;
  sites = LLVMAddFunction(module, name.c, LLVMFunctionType(LLVMTypeOf(word), NULL, 0, false));
  LLVMSetLinkage(sites, LLVMExternalWeakLinkage);
  return sites;
}

void hearth_announce_sites(LLVMModuleRef module, uint64_t plan, LLVMValueRef word) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  plan_name name = announcement_name_of("__hearth_sites", plan);
  LLVMValueRef sites = get_sites(module, name, word);
  if (!LLVMIsDeclaration(sites))
    return;
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, sites, ""));
  LLVMBuildRet(builder, word);
  LLVMDisposeBuilder(builder);
  LLVMSetLinkage(sites, LLVMWeakODRLinkage);
  LLVMSetComdat(sites, LLVMGetOrInsertComdat(module, name.c));
  hearth_shim_make_support_function(sites);
}

void hearth_announce_need_of_sites(LLVMModuleRef module, uint64_t plan, LLVMValueRef word) {
  LLVMValueRef sites = get_sites(module, announcement_name_of("__hearth_sites", plan), word);
  LLVMValueRef arguments[] = {plan_number(module, plan), sites, word};
  if (LLVMIsDeclaration(sites))
    add_announcement(module, announcement_name_of("__hearth_need_sites", plan).c, "hearth_malloc_need_sites", arguments,
                     3);
}

/* A constant array; NULL: a null pointer, each id has a pool of its own. */
static LLVMValueRef add_layout(LLVMModuleRef module, const uint8_t *layout) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
  if (!layout)
    return LLVMConstNull(pointer);
  LLVMValueRef pools = LLVMConstStringInContext(context, (const char *)layout, HEARTH_POOLS_MAX, true),
               global = LLVMAddGlobal(module, LLVMTypeOf(pools), HEARTH_OWN_PREFIX "layout");
  LLVMSetInitializer(global, pools);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return LLVMConstPointerCast(global, pointer);
}

void hearth_announce_plan(LLVMModuleRef module, uint64_t plan, const uint8_t *layout) {
  plan_name name = announcement_name_of("__hearth_plan", plan);
  if (!is_untaken(module, name.c, PLAN_RECEIVER))
    return;
  LLVMValueRef arguments[] = {plan_number(module, plan), add_layout(module, layout)};
  add_announcement(module, name.c, PLAN_RECEIVER, arguments, 2);
}

void hearth_announce_need_of_link(LLVMModuleRef module) {
  add_announcement(module, NEED_OF_LINK, "hearth_malloc_no_plugin", NULL, 0);
}

/* Emptied, as other modules' lists of constructors may name it, too. */
bool hearth_announce_link(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMValueRef function = LLVMGetNamedFunction(module, NEED_OF_LINK);
  if (!function || LLVMIsDeclaration(function))
    return false;
  LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(context, LLVMGetEntryBasicBlock(function), "");
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, entry);
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  return true;
}
