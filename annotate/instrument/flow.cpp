// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instructions may do, and where pointers come from.
#include "instrument.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

using namespace llvm;

bool hearth_flow_interrupts(LLVMValueRef instruction) {
  const Instruction &I = *cast<Instruction>(unwrap(instruction));
  // A terminator that stays within the function only chooses the next block, which is looked at by itself.
  if (isa<BranchInst>(I) || isa<SwitchInst>(I) || isa<IndirectBrInst>(I))
    return false;
  auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (Callee && Callee->hasFnAttribute(HEARTH_FACT_QUIET))
    return false;
  if (!isGuaranteedToTransferExecutionToSuccessor(&I))
    return true;
  if (I.isAtomic()) // behind it, or in front of it, the block may be another thread's
    return true;
  return Call && !Call->onlyReadsMemory() && !Call->hasFnAttr(Attribute::NoFree);
}

LLVMValueRef hearth_flow_pointer_base(LLVMValueRef pointer, int64_t *ret_offset) {
  Value *P = unwrap(pointer);
  auto *User = dyn_cast<Instruction>(P);
  *ret_offset = 0;
  if (!User)
    return pointer;
  const DataLayout &Layout = User->getModule()->getDataLayout();
  APInt Offset(Layout.getIndexTypeSizeInBits(P->getType()), 0);
  Value *Base = P->stripAndAccumulateConstantOffsets(Layout, Offset, /*AllowNonInbounds=*/true);
  *ret_offset = Offset.getSExtValue();
  return wrap(Base);
}

LLVMValueRef hearth_flow_pointer_object(LLVMValueRef pointer, int64_t *ret_offset) {
  LLVMValueRef Base = hearth_flow_pointer_base(pointer, ret_offset);
  while (auto *Part = dyn_cast<GetElementPtrInst>(unwrap(Base))) {
    int64_t Offset;
    Base = hearth_flow_pointer_base(wrap(Part->getPointerOperand()), &Offset);
    *ret_offset += Offset;
  }
  return Base;
}
