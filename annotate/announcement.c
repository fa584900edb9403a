#include "announcement.h"

#include <inttypes.h>
#include <stdio.h>

#include "dispatch.h"
#include "hearth/ir_facts.h"
#include "shim.h"

#define RECEIVER "hearth_hotcold_contexts"

/* A weak reference: the allocator may be another, or none of its own. */
static LLVMValueRef declare_receiver(LLVMModuleRef module, LLVMValueRef word) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef parameters[] = {LLVMInt64TypeInContext(context), LLVMTypeOf(word)};
  LLVMValueRef receiver =
      LLVMAddFunction(module, RECEIVER, LLVMFunctionType(LLVMVoidTypeInContext(context), parameters, 2, false));
  LLVMSetLinkage(receiver, LLVMExternalWeakLinkage);
  return receiver;
}

static void define(LLVMValueRef function, LLVMValueRef receiver, uint64_t plan, LLVMValueRef word) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, function, "");
  LLVMBasicBlockRef present = LLVMAppendBasicBlockInContext(context, function, "present");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(context, function, "end");
  LLVMValueRef arguments[] = {LLVMConstInt(LLVMInt64TypeInContext(context), plan, false), word};
  LLVMPositionBuilderAtEnd(builder, entry);
  LLVMBuildCondBr(builder, LLVMBuildIsNotNull(builder, receiver, ""), present, end);
  LLVMPositionBuilderAtEnd(builder, present);
  LLVMBuildCall2(builder, LLVMGlobalGetValueType(receiver), receiver, arguments, 2, "");
  LLVMBuildBr(builder, end);
  LLVMPositionBuilderAtEnd(builder, end);
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
}

bool hearth_announce_word(LLVMModuleRef module, uint64_t plan, LLVMValueRef word) {
  char name[48];
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetModuleContext(module)), NULL, 0, false);
  snprintf(name, sizeof name, "__hearth_announce.%016" PRIx64, plan);
  if (LLVMGetNamedFunction(module, name) || LLVMGetNamedFunction(module, RECEIVER))
    return false;
  LLVMValueRef function = LLVMAddFunction(module, name, type);
  hearth_share_global(module, function, name);
  hearth_shim_make_support_function(function);
  define(function, declare_receiver(module, word), plan, word);
  hearth_ir_append_constructor(module, function, 1); /* before the program's own ones */
  return true;
}
