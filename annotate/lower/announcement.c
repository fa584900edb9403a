/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constructors that call weak functions of the allocator: where a program has another one, nothing happens. */
#include "lower.h"

#include <inttypes.h>
#include <stdio.h>

#include <llvm-c/Comdat.h>

#include "hearth/ir_facts.h"
#include "hearth/mib.h"
#include "shim.h"

#define SITES_RECEIVER "hearth_malloc_need_sites"
#define PLANS_RECEIVER "hearth_malloc_plan"
#define LINK_RECEIVER  "hearth_malloc_no_plugin"
#define NEED_OF_LINK   "__hearth_need_link"

/* Names that a plan's id makes different. */
typedef struct plan_name {
  char c[48];
} plan_name;

static plan_name announcement_name_of(const char *what, uint64_t plan) {
  plan_name name;
  snprintf(name.c, sizeof name.c, "%s.%016" PRIx64, what, plan);
  return name;
}

/* Of the allocator, which may be another, or none of its own: a weak reference. */
static LLVMValueRef declare_receiver(LLVMModuleRef module, const char *name, LLVMTypeRef *parameters, unsigned count) {
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetModuleContext(module)), parameters, count, false);
  LLVMValueRef receiver = LLVMAddFunction(module, name, type);
  LLVMSetLinkage(receiver, LLVMExternalWeakLinkage);
  return receiver;
}

static void announcement_define(LLVMValueRef function, LLVMValueRef receiver, LLVMValueRef *arguments, unsigned count) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, function, "");
  LLVMBasicBlockRef present = LLVMAppendBasicBlockInContext(context, function, "present");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(context, function, "end");
  LLVMPositionBuilderAtEnd(builder, entry);
  LLVMBuildCondBr(builder, LLVMBuildIsNotNull(builder, receiver, ""), present, end);
  LLVMPositionBuilderAtEnd(builder, present);
  LLVMBuildCall2(builder, LLVMGlobalGetValueType(receiver), receiver, arguments, count, "");
  LLVMBuildBr(builder, end);
  LLVMPositionBuilderAtEnd(builder, end);
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
}

/* Without a body yet; before the program's own ones. */
static LLVMValueRef announcement_add_constructor(LLVMModuleRef module, const char *name) {
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetModuleContext(module)), NULL, 0, false);
  LLVMValueRef function = LLVMAddFunction(module, name, type);
  hearth_share_global(module, function, name);
  hearth_shim_make_support_function(function);
  hearth_ir_append_constructor(module, function, 1);
  return function;
}

static LLVMTypeRef id_type(LLVMModuleRef module) { return LLVMInt64TypeInContext(LLVMGetModuleContext(module)); }

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
  plan_name name = announcement_name_of("__hearth_need_sites", plan);
  LLVMValueRef sites = get_sites(module, announcement_name_of("__hearth_sites", plan), word);
  if (!LLVMIsDeclaration(sites) || LLVMGetNamedFunction(module, name.c) || LLVMGetNamedFunction(module, SITES_RECEIVER))
    return;
  LLVMValueRef arguments[] = {LLVMConstInt(id_type(module), plan, false), sites, word};
  LLVMTypeRef parameters[] = {id_type(module), LLVMTypeOf(sites), LLVMTypeOf(word)};
  LLVMValueRef function = announcement_add_constructor(module, name.c);
  announcement_define(function, declare_receiver(module, SITES_RECEIVER, parameters, 3), arguments, 3);
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
  if (LLVMGetNamedFunction(module, name.c) || LLVMGetNamedFunction(module, PLANS_RECEIVER))
    return;
  LLVMValueRef arguments[] = {LLVMConstInt(id_type(module), plan, false), add_layout(module, layout)};
  LLVMTypeRef parameters[] = {id_type(module), LLVMTypeOf(arguments[1])};
  LLVMValueRef function = announcement_add_constructor(module, name.c);
  announcement_define(function, declare_receiver(module, PLANS_RECEIVER, parameters, 2), arguments, 2);
}

void hearth_announce_need_of_link(LLVMModuleRef module) {
  if (LLVMGetNamedFunction(module, NEED_OF_LINK) || LLVMGetNamedFunction(module, LINK_RECEIVER))
    return;
  LLVMValueRef function = announcement_add_constructor(module, NEED_OF_LINK);
  announcement_define(function, declare_receiver(module, LINK_RECEIVER, NULL, 0), NULL, 0);
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
