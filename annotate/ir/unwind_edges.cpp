// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call that may unwind becomes an invoke whose landing pad goes on unwinding. Code goes to the start of the block
// behind each of both edges, which are split if they are not the only way there.
#include "unwind_edges.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;

namespace {

using Emit = void (*)(LLVMBuilderRef, void *);

bool mayLeaveByException(const CallInst &Call) { return !Call.doesNotThrow() && !Call.getFunction()->doesNotThrow(); }

// Whatever personality the function has runs cleanups; libgcc's does nothing else, and every program has it.
void ensurePersonality(Function &F) {
  if (F.hasPersonalityFn())
    return;
  Type *Int = Type::getInt32Ty(F.getContext());
  F.setPersonalityFn(cast<Constant>(
      F.getParent()->getOrInsertFunction("__gcc_personality_v0", FunctionType::get(Int, true)).getCallee()));
}

// A block that runs the code and goes on unwinding.
BasicBlock *createPad(Function &F, Emit Code, void *Data) {
  ensurePersonality(F);
  LLVMContext &Context = F.getContext();
  BasicBlock *Pad = BasicBlock::Create(Context, "unwinding", &F);
  IRBuilder<> Builder(Pad);
  // llvm-c makes pointers of all releases.
  Type *Exception =
      StructType::get(unwrap(LLVMPointerType(wrap(Type::getInt8Ty(Context)), 0)), Type::getInt32Ty(Context));
  LandingPadInst *Landing = Builder.CreateLandingPad(Exception, 0);
  Landing->setCleanup(true);
  Code(wrap(&Builder), Data);
  Builder.CreateResume(Landing);
  return Pad;
}

InvokeInst *makeInvoke(CallInst *Call, BasicBlock *Pad) {
  SmallVector<std::pair<unsigned, MDNode *>, 4> Metadata;
  Call->getAllMetadataOtherThanDebugLoc(Metadata);
  BasicBlock *Before = Call->getParent();
  changeToInvokeAndSplitBasicBlock(Call, Pad);
  auto *Invoke = cast<InvokeInst>(Before->getTerminator());
  for (const auto &[Kind, Node] : Metadata)
    Invoke->setMetadata(Kind, Node);
  return Invoke;
}

} // namespace

bool hearth_may_unwind(LLVMValueRef Called) {
  auto *Call = dyn_cast<CallInst>(unwrap(Called));
  return !Call || mayLeaveByException(*Call);
}

void hearth_call_seldom(LLVMValueRef Called, LLVMValueRef Condition, LLVMValueRef Otherwise) {
  auto *Call = cast<CallInst>(unwrap(Called));
  MDNode *Seldom = MDBuilder(Call->getContext()).createBranchWeights(1, 1000);
  Instruction *Then = SplitBlockAndInsertIfThen(unwrap(Condition), Call->getNextNode(), false, Seldom);
  BasicBlock *Head = Call->getParent(), *Tail = Then->getSuccessor(0);
  Call->moveBefore(*Then->getParent(), Then->getIterator());
  IRBuilder<> Builder(Tail, Tail->begin());
  PHINode *Value = Builder.CreatePHI(Call->getType(), 2);
  Call->replaceAllUsesWith(Value);
  Value->addIncoming(Call, Then->getParent());
  Value->addIncoming(unwrap(Otherwise), Head);
}

void hearth_after_call(LLVMValueRef Called, LLVMBasicBlockRef *Pad, Emit Code, void *Data) {
  auto *Invoke = dyn_cast<InvokeInst>(unwrap(Called));
  bool IsNew = false;
  if (auto *Call = dyn_cast<CallInst>(unwrap(Called))) {
    if (!mayLeaveByException(*Call)) {
      IRBuilder<> Builder(Call->getNextNode());
      Code(wrap(&Builder), Data);
      return;
    }
    if (!*Pad)
      *Pad = wrap(createPad(*Call->getFunction(), Code, Data));
    Invoke = makeInvoke(Call, unwrap(*Pad));
    IsNew = true;
  }
  BasicBlock *Normal = Invoke->getNormalDest();
  if (!Normal->getSinglePredecessor())
    Normal = SplitEdge(Invoke->getParent(), Normal);
  IRBuilder<> Builder(&*Normal->getFirstInsertionPt());
  Code(wrap(&Builder), Data);
  if (!IsNew) {
    Builder.SetInsertPoint(&*Invoke->getUnwindDest()->getFirstInsertionPt());
    Code(wrap(&Builder), Data);
  }
}
