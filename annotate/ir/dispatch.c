/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds the function that compares the weak reference with null, and gives it the attributes that LLVM knows of the
 * plain function by its name. */
#include "module.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "hearth/ir_facts.h"
#include "shim.h"

#define MAX_NAME 128

void hearth_share_global(LLVMModuleRef module, LLVMValueRef global, const char *name) {
  LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
  LLVMSetVisibility(global, LLVMHiddenVisibility);
  LLVMSetComdat(global, LLVMGetOrInsertComdat(module, name));
}

LLVMThreadLocalMode hearth_thread_model(LLVMModuleRef module) {
  return LLVMGetModuleFlag(module, "PIC Level", 9) ? LLVMInitialExecTLSModel : LLVMLocalExecTLSModel;
}

LLVMValueRef hearth_build_tail_call(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef callee,
                                    LLVMValueRef *arguments, unsigned n) {
  LLVMValueRef called = LLVMConstPointerCast(callee, LLVMPointerType(type, 0));
  LLVMValueRef call = LLVMBuildCall2(builder, type, called, arguments, n, "");
  LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(callee));
  LLVMSetTailCall(call, true); /* a function that only allocates needs no frame */
  LLVMBuildRet(builder, call);
  return call;
}

LLVMBasicBlockRef hearth_build_if_bound(LLVMBuilderRef builder, LLVMValueRef function, LLVMValueRef weak) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, function, "");
  LLVMBasicBlockRef present = LLVMAppendBasicBlockInContext(context, function, "present");
  LLVMBasicBlockRef absent = LLVMAppendBasicBlockInContext(context, function, "absent");
  LLVMPositionBuilderAtEnd(builder, entry);
  LLVMBuildCondBr(builder, LLVMBuildIsNotNull(builder, weak, ""), present, absent);
  LLVMPositionBuilderAtEnd(builder, present);
  return absent;
}

static void dispatch_define(LLVMValueRef function, LLVMValueRef hinted, LLVMValueRef plain, LLVMTypeRef type) {
  LLVMValueRef arguments[HEARTH_ALLOC_PARAMETERS_MAX + 1];
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function)));
  LLVMBasicBlockRef absent = hearth_build_if_bound(builder, function, hinted);
  LLVMGetParams(function, arguments);
  hearth_build_tail_call(builder, LLVMGlobalGetValueType(hinted), hinted, arguments, LLVMCountParams(function));
  LLVMPositionBuilderAtEnd(builder, absent);
  hearth_build_tail_call(builder, type, plain, arguments, LLVMCountParamTypes(type));
  LLVMDisposeBuilder(builder);
}

/* Linkers take nothing out of an archive for a weak reference. But the allocator's archive is also where the
 * function is that frees such blocks; a program that refers to it gets the allocator from a plain -lhearth_malloc.
 * So let it refer to it, whether it frees anything or not, in a function that nobody calls. It is a call, as an
 * address in data would be that of a stub of the program's to all the process (in programs at fixed addresses). */
static void refer_to_free(LLVMModuleRef module, hearth_alloc_family family) {
  bool is_c = family == HEARTH_ALLOC_FAMILY_C;
  const char *name = is_c ? HEARTH_OWN_PREFIX "refers_to_free" : HEARTH_OWN_PREFIX "refers_to_delete",
             *target = is_c ? "free" : "_ZdlPv";
  LLVMContextRef context = LLVMGetModuleContext(module);
  if (LLVMGetNamedFunction(module, name) || LLVMGetNamedGlobal(module, target))
    return;
  LLVMValueRef function = LLVMGetNamedFunction(module, target);
  if (function && !LLVMIsDeclaration(function))
    return; /* the program frees in its own way */
  LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0), none = LLVMVoidTypeInContext(context),
              type = LLVMFunctionType(none, &pointer, 1, false);
  if (!function)
    function = LLVMAddFunction(module, target, type);
  LLVMValueRef caller = LLVMAddFunction(module, name, LLVMFunctionType(none, NULL, 0, false)),
               null = LLVMConstNull(pointer);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, caller, ""));
  LLVMBuildCall2(builder, type, LLVMConstPointerCast(function, LLVMPointerType(type, 0)), &null, 1, "");
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  hearth_share_global(module, caller, name);
  hearth_shim_keep(caller);
}

/* Unless it has the attribute, or this LLVM knows none of the name: LLVM 14 has no allockind. */
static void add_attribute(LLVMValueRef function, LLVMAttributeIndex place, const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  if (kind && !LLVMGetEnumAttributeAtIndex(function, place, kind))
    LLVMAddAttributeAtIndex(function, place, LLVMCreateEnumAttribute(context, kind, value));
}

/* The name by which LLVM tells which function frees a block. */
static const char *family_of(const hearth_alloc_function *row) {
  static const char *const names[][2] = {[HEARTH_ALLOC_FAMILY_C] = {"malloc", "malloc"},
                                         [HEARTH_ALLOC_FAMILY_NEW] = {"_Znwm", "_ZnwmSt11align_val_t"},
                                         [HEARTH_ALLOC_FAMILY_NEW_ARRAY] = {"_Znam", "_ZnamSt11align_val_t"}};
  return names[row->family][row->kind == HEARTH_ALLOC_ALIGNED];
}

/* LLVM knows facts of the plain function by its name; the hinted one needs attributes for them. The plain one must not
 * get them: calls of operator new by name must not be removed, new expressions may be, and only these are lowered. */
static void dispatch_describe(LLVMValueRef function, const hearth_alloc_function *row) {
  static const char family[] = "alloc-family";
  const char *name = family_of(row);
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  if (row->kind == HEARTH_ALLOC_OTHER)
    return;
  uint64_t first = (uint64_t)(row->size[0] - '0'), second = row->size[1] ? (uint64_t)(row->size[1] - '0') : UINT32_MAX;
  add_attribute(function, LLVMAttributeFunctionIndex, "allocsize", first << 32 | second);
  add_attribute(function, LLVMAttributeFunctionIndex, "allockind", row->kind);
  if (row->family == HEARTH_ALLOC_FAMILY_C) /* of operator new, -fno-assume-sane-operator-new says otherwise */
    add_attribute(function, LLVMAttributeReturnIndex, "noalias", 0);
  if (!LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, family, strlen(family)))
    LLVMAddAttributeAtIndex(
        function, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(context, family, (unsigned)strlen(family), name, (unsigned)strlen(name)));
}

/* In a link one that came with the module may have become the module's own, and LLVM have made it serve its calls
 * only: with constants in place of parameters. Those calls keep it. */
static void put_changed_one_aside(LLVMModuleRef module, const char *name) {
  char aside[MAX_NAME + 8];
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (!function || LLVMGetLinkage(function) != LLVMInternalLinkage)
    return;
  int length = snprintf(aside, sizeof aside, "%s.before", name);
  LLVMSetValueName2(function, aside, (size_t)length);
  LLVMSetComdat(function, NULL);
}

LLVMValueRef hearth_dispatch_for(LLVMValueRef call, const hearth_alloc_function *row) {
  char name[MAX_NAME];
  LLVMValueRef plain = hearth_alloc_callee(call);
  LLVMModuleRef module = LLVMGetGlobalParent(plain);
  LLVMTypeRef type = hearth_alloc_type(call, row);
  snprintf(name, sizeof name, HEARTH_OWN_PREFIX "%s", row->hinted);
  put_changed_one_aside(module, name);
  if (LLVMGetNamedFunction(module, name)) /* of this type, or not ours */
    return hearth_ir_declare_with_hint(plain, type, name);
  hearth_shim_infer_attributes(plain);
  bool is_new = !LLVMGetNamedFunction(module, row->hinted);
  LLVMValueRef hinted = hearth_ir_declare_with_hint(plain, type, row->hinted);
  LLVMValueRef function = hinted ? hearth_ir_declare_with_hint(plain, type, name) : NULL;
  if (!function)
    return NULL;
  if (is_new) { /* else the program calls it by name and needs it anyway */
    LLVMSetLinkage(hinted, LLVMExternalWeakLinkage);
    dispatch_describe(hinted, row);
  }
  hearth_share_global(module, function, name);
  dispatch_describe(function, row);
  hearth_shim_make_support_function(function);
  dispatch_define(function, hinted, plain, type);
  refer_to_free(module, row->family);
  return function;
}
