// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call that may unwind becomes an invoke whose landing pad goes on unwinding. Code goes to the start of the block
// behind each of both edges, which are split if they are not the only way there.

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "shim.h"

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

// All pads of a function are alike. Null: nothing can go on with its exceptions by a resume, as they are tokens (garbage
// collection by statepoints) or go through funclets.
Type *exceptionOf(Function &F) {
  for (BasicBlock &B : F)
    if (B.isEHPad()) {
      LandingPadInst *Landing = B.getLandingPadInst();
      return Landing && !Landing->getType()->isTokenTy() ? Landing->getType() : nullptr;
    }
  LLVMContext &Context = F.getContext();
  // llvm-c makes pointers of all releases.
  return StructType::get(unwrap(LLVMPointerType(wrap(Type::getInt8Ty(Context)), 0)), Type::getInt32Ty(Context));
}

// A block that runs the code and goes on unwinding; null if there can be none.
BasicBlock *createPad(Function &F, Emit Code, void *Data) {
  Type *Exception = exceptionOf(F);
  if (!Exception)
    return nullptr;
  ensurePersonality(F);
  BasicBlock *Pad = BasicBlock::Create(F.getContext(), "unwinding", &F);
  IRBuilder<> Builder(Pad);
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
  hearth_shim_before_split(wrap(Call));
  changeToInvokeAndSplitBasicBlock(Call, Pad);
  auto *Invoke = cast<InvokeInst>(Before->getTerminator());
  for (const auto &[Kind, Node] : Metadata)
    Invoke->setMetadata(Kind, Node);
  return Invoke;
}

// Does the value come from the call, or is it none, or one of the call's arguments, which it may return?
bool mayBeResult(const Value *V, const CallInst &Call, unsigned Depth = 0) {
  if (V == &Call || isa<UndefValue>(V) || is_contained(Call.args(), V) || Depth > 8)
    return true;
  bool IsPassedOn = isa<PHINode>(V) || isa<CastInst>(V) || isa<InsertValueInst>(V) || isa<ExtractValueInst>(V);
  return IsPassedOn && any_of(cast<Instruction>(V)->operands(), [&](const Value *From) {
           return !isa<UndefValue>(From) && mayBeResult(From, Call, Depth + 1);
         });
}

// The code generator has it before the call, or nowhere.
bool isNothingBehindCall(const Instruction &I) {
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    if (Intrinsic->isAssumeLikeIntrinsic() || Intrinsic->onlyAccessesInaccessibleMemory())
      return true;
  return !I.isTerminator() && !I.mayHaveSideEffects() && !I.mayReadFromMemory();
}

bool isUsedBehindBlock(const Instruction &I) {
  return any_of(I.users(), [&](const User *By) {
    return !isa<PHINode>(By) && cast<Instruction>(By)->getParent() != I.getParent();
  });
}

} // namespace

bool hearth_may_jump(LLVMValueRef Called) {
  auto *Call = dyn_cast<CallInst>(unwrap(Called));
  if (!Call || !Call->isTailCall() || Call->getFunction()->getFnAttribute("disable-tail-calls").getValueAsBool())
    return false;
  SmallPtrSet<const BasicBlock *, 8> Seen;
  const Instruction *I = Call->getNextNode();
  while (I) {
    if (auto *Return = dyn_cast<ReturnInst>(I))
      return !Return->getReturnValue() || mayBeResult(Return->getReturnValue(), *Call);
    auto *Branch = dyn_cast<BranchInst>(I);
    if (Branch && Branch->isUnconditional() && Seen.insert(Branch->getParent()).second)
      I = &Branch->getSuccessor(0)->front();
    else
      I = isNothingBehindCall(*I) ? I->getNextNode() : nullptr;
  }
  return false;
}

bool hearth_jump_if(LLVMValueRef Called, LLVMValueRef Condition) {
  auto *Call = cast<CallInst>(unwrap(Called));
  BasicBlock *Head = Call->getParent();
  for (BasicBlock *Next; (Next = Head->getSingleSuccessor()) && Next != Head && MergeBlockIntoPredecessor(Next);)
    ;
  if (any_of(make_range(Call->getIterator(), Head->end()), isUsedBehindBlock))
    return false;
  ValueToValueMapTy Copies;
  BasicBlock *Rest = Head->splitBasicBlock(Call), *Copy = CloneBasicBlock(Rest, Copies, ".jump", Head->getParent());
  for (Instruction &I : *Copy)
    RemapInstruction(&I, Copies, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  for (BasicBlock *Next : successors(Rest))
    for (PHINode &Phi : Next->phis()) {
      Value *From = Phi.getIncomingValueForBlock(Rest), *Copied = Copies.lookup(From);
      Phi.addIncoming(Copied ? Copied : From, Copy);
    }
  Head->getTerminator()->eraseFromParent();
  IRBuilder<>(Head).CreateCondBr(unwrap(Condition), Copy, Rest);
  Call->setTailCallKind(CallInst::TCK_None);
  return true;
}

void hearth_after_call(LLVMValueRef Called, LLVMBasicBlockRef *Pad, Emit Code, void *Data) {
  auto *Invoke = dyn_cast<InvokeInst>(unwrap(Called));
  bool IsNew = false;
  if (auto *Call = dyn_cast<CallInst>(unwrap(Called))) {
    bool Leaves = mayLeaveByException(*Call);
    if (Leaves && !*Pad)
      *Pad = wrap(createPad(*Call->getFunction(), Code, Data));
    if (!Leaves || !*Pad) {
      IRBuilder<> Builder(Call->getNextNode());
      Code(wrap(&Builder), Data);
      return;
    }
    Invoke = makeInvoke(Call, unwrap(*Pad));
    IsNew = true;
  }
  BasicBlock *Normal = Invoke->getNormalDest();
  if (!Normal->getSinglePredecessor())
    Normal = SplitEdge(Invoke->getParent(), Normal);
  IRBuilder<> Builder(&*Normal->getFirstInsertionPt());
  Code(wrap(&Builder), Data);
  BasicBlock *Unwind = Invoke->getUnwindDest();
  if (!IsNew && Unwind->getFirstInsertionPt() != Unwind->end()) { // else a catchswitch
    Builder.SetInsertPoint(&*Unwind->getFirstInsertionPt());
    Code(wrap(&Builder), Data);
  }
}
