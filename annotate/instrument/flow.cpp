// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dominators, loops and scalar evolution, computed once for a function, behind C functions; basic blocks are numbered
// in reverse post-order.

#include "instrument.h"

#include "shim.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#if LLVM_VERSION_MAJOR >= 16 // the header's new place
#include <llvm/TargetParser/Triple.h>
#else
#include <llvm/ADT/Triple.h>
#endif
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <map>
#include <vector>

using namespace llvm;

namespace {

constexpr size_t MostMerges = 16; // phis and selects that one pointer is followed through

bool interrupts(const Instruction &I) {
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

bool canExpand(SCEVExpander &Expander, const SCEV *S, const Instruction *At, ScalarEvolution &SE) {
#if LLVM_VERSION_MAJOR >= 15 // became a member
  (void)SE;
  return Expander.isSafeToExpandAt(S, At);
#else
  (void)Expander;
  return isSafeToExpandAt(S, At, SE);
#endif
}

// The pointer without offsets, and the sum of the constant ones.
Value *withoutIndices(Value *Pointer, int64_t *ret_offset) {
  LLVMValueRef Base = hearth_flow_pointer_base(wrap(Pointer), ret_offset);
  while (auto *Part = dyn_cast<GetElementPtrInst>(unwrap(Base))) {
    int64_t Offset;
    Base = hearth_flow_pointer_base(wrap(Part->getPointerOperand()), &Offset);
    *ret_offset += Offset;
  }
  return unwrap(Base);
}

SmallVector<Value *, 4> choices(Value *Pointer) {
  SmallVector<Value *, 4> Found;
  if (auto *Phi = dyn_cast<PHINode>(Pointer))
    for (Value *Incoming : Phi->incoming_values())
      Found.push_back(Incoming);
  else if (auto *Select = dyn_cast<SelectInst>(Pointer))
    Found = {Select->getTrueValue(), Select->getFalseValue()};
  return Found;
}

// The pointer that a phi or select is computed from, whichever way control takes, if there is only one: the start of a
// pointer that walks in a loop. As it dominates the values that are computed from it, it is there, and of the same
// iteration of loops around both.
Value *onlyOrigin(Value *Merged, const DominatorTree &DT) {
  SmallVector<Value *, 8> Merges = {Merged};
  Value *Origin = nullptr;
  for (size_t i = 0; i < Merges.size(); ++i)
    for (Value *Choice : choices(Merges[i])) {
      int64_t Ignored;
      Value *From = withoutIndices(Choice, &Ignored);
      if (is_contained(Merges, From))
        continue;
      if (!choices(From).empty() && DT.dominates(Merged, cast<Instruction>(From))) {
        if (Merges.size() == MostMerges)
          return nullptr;
        Merges.push_back(From);
      } else if (Origin && Origin != From) {
        return nullptr;
      } else {
        Origin = From;
      }
    }
  return Origin;
}

SCEVExpander makeExpander(ScalarEvolution &SE, const Function &F) {
#if LLVM_VERSION_MAJOR >= 22 // takes the layout from SE
  (void)F;
  return SCEVExpander(SE, "hearth");
#else
  return SCEVExpander(SE, F.getParent()->getDataLayout(), "hearth");
#endif
}

} // namespace

struct hearth_flow {
  Function &F;
  DominatorTree DT;
  LoopInfo LI;
  AssumptionCache AC;
  TargetLibraryInfoImpl LibraryImpl;
  TargetLibraryInfo Library;
  ScalarEvolution SE;
  SCEVExpander Expander;
  std::map<const BasicBlock *, bool> Interrupted;
  std::vector<BasicBlock *> Blocks;
  std::map<const BasicBlock *, size_t> Position;
  std::map<std::pair<BasicBlock *, BasicBlock *>, BasicBlock *> SplitEdges;

  void add(BasicBlock &B) {
    Position[&B] = Blocks.size();
    Blocks.push_back(&B);
  }

  explicit hearth_flow(Function &F)
      : F(F), DT(F), LI(DT), AC(F), LibraryImpl(Triple(F.getParent()->getTargetTriple())), Library(LibraryImpl),
        SE(F, Library, AC, DT, LI), Expander(makeExpander(SE, F)) {
    for (const BasicBlock &B : F)
      Interrupted[&B] = any_of(B, interrupts);
    for (BasicBlock *B : ReversePostOrderTraversal<Function *>(&F))
      add(*B);
    for (BasicBlock &B : F)
      if (!DT.isReachableFromEntry(&B))
        add(B);
  }
};

hearth_flow *hearth_flow_create(LLVMValueRef function) { return new hearth_flow(*cast<Function>(unwrap(function))); }

void hearth_flow_destroy(hearth_flow *flow) { delete flow; }

bool hearth_flow_interrupts(LLVMValueRef instruction) { return interrupts(*cast<Instruction>(unwrap(instruction))); }

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

LLVMValueRef hearth_flow_pointer_object(const hearth_flow *flow, LLVMValueRef pointer, int64_t *ret_offset) {
  Value *Object = withoutIndices(unwrap(pointer), ret_offset);
  int64_t Ignored;
  while (Value *Origin = onlyOrigin(Object, flow->DT))
    Object = withoutIndices(Origin, &Ignored);
  return wrap(Object);
}

size_t hearth_flow_block_count(const hearth_flow *flow) { return flow->Blocks.size(); }

LLVMBasicBlockRef hearth_flow_block(const hearth_flow *flow, size_t position) { return wrap(flow->Blocks[position]); }

size_t hearth_flow_position(const hearth_flow *flow, LLVMBasicBlockRef block) {
  return flow->Position.at(unwrap(block));
}

bool hearth_flow_is_transparent(const hearth_flow *flow, LLVMBasicBlockRef block) {
  return !flow->Interrupted.at(unwrap(block));
}

bool hearth_flow_repeats(const hearth_flow *flow, LLVMBasicBlockRef block) {
  return flow->LI.getLoopFor(unwrap(block)) != nullptr;
}

bool hearth_flow_has_value(const hearth_flow *flow, LLVMValueRef value, LLVMBasicBlockRef block) {
  const BasicBlock *Block = unwrap(block);
  auto *Definition = dyn_cast<Instruction>(unwrap(value));
  return flow->DT.isReachableFromEntry(Block) && (!Definition || flow->DT.dominates(Definition, Block));
}

void hearth_flow_stand_at_start(LLVMBuilderRef builder, LLVMBasicBlockRef block) {
  unwrap(builder)->SetInsertPoint(unwrap(block), unwrap(block)->begin());
}

LLVMBasicBlockRef hearth_flow_split_edge(hearth_flow *flow, LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  BasicBlock *From = unwrap(from), *To = unwrap(to);
  if (To->getUniquePredecessor())
    return to;
  BasicBlock *&Between = flow->SplitEdges[{From, To}];
  if (!Between) {
    Instruction *End = From->getTerminator();
    unsigned Successor = 0;
    while (End->getSuccessor(Successor) != To)
      ++Successor;
    Between = SplitCriticalEdge(End, Successor, CriticalEdgeSplittingOptions().setMergeIdenticalEdges(), "hearth");
  }
  return wrap(Between);
}

void hearth_flow_branch(LLVMValueRef condition, LLVMValueRef before, LLVMValueRef *ret_then_end,
                        LLVMValueRef *ret_else_end) {
  Instruction *Then, *Else;
  hearth_shim_before_split(before);
  SplitBlockAndInsertIfThenElse(unwrap(condition), cast<Instruction>(unwrap(before)), &Then, &Else);
  *ret_then_end = wrap(Then);
  *ret_else_end = wrap(Else);
}

LLVMValueRef hearth_flow_branch_rarely(LLVMValueRef condition, LLVMValueRef before) {
  auto *Before = cast<Instruction>(unwrap(before));
  hearth_shim_before_split(before);
  MDNode *Rarely = MDBuilder(Before->getContext()).createBranchWeights(1, (1U << 20) - 1);
  return wrap(SplitBlockAndInsertIfThen(unwrap(condition), Before, /*Unreachable=*/false, Rarely));
}

bool hearth_flow_loop_access(hearth_flow *flow, LLVMValueRef instruction, LLVMValueRef pointer,
                             hearth_loop_access *ret_access) {
  auto *I = cast<Instruction>(unwrap(instruction));
  Loop *L = flow->LI.getLoopFor(I->getParent());
  // Left at the end of an iteration only: then code that dominates the end runs in each.
  if (!L || !L->getLoopPreheader() || !L->getLoopLatch() || L->getExitingBlock() != L->getLoopLatch() ||
      !flow->DT.dominates(I->getParent(), L->getLoopLatch()) ||
      any_of(L->blocks(), [&](const BasicBlock *B) { return flow->Interrupted[B]; }))
    return false;
  ScalarEvolution &SE = flow->SE;
  Instruction *At = L->getLoopPreheader()->getTerminator();
  const SCEV *Taken = SE.getBackedgeTakenCount(L);
  Type *I64 = Type::getInt64Ty(I->getContext());
  if (isa<SCEVCouldNotCompute>(Taken) || SE.getTypeSizeInBits(Taken->getType()) > 64)
    return false;
  const SCEV *Start = SE.getSCEV(unwrap(pointer));
  int64_t Stride = 0;
  if (auto *Moving = dyn_cast<SCEVAddRecExpr>(Start)) {
    auto *Step = dyn_cast<SCEVConstant>(Moving->getStepRecurrence(SE));
    if (Moving->getLoop() != L || !Moving->isAffine() || !Step)
      return false;
    Stride = Step->getAPInt().getSExtValue();
    Start = Moving->getStart();
  }
  const SCEV *Trips = SE.getAddExpr(SE.getNoopOrZeroExtend(Taken, I64), SE.getOne(I64));
  if (!SE.isLoopInvariant(Start, L) || !canExpand(flow->Expander, Start, At, SE) ||
      !canExpand(flow->Expander, Trips, At, SE))
    return false;
  *ret_access = {wrap(L->getLoopPreheader()), Stride, Start, Trips};
  return true;
}

void hearth_flow_expand(hearth_flow *flow, const hearth_loop_access *access, LLVMValueRef *ret_start,
                        LLVMValueRef *ret_trips) {
  auto *Start = static_cast<const SCEV *>(access->start), *Trips = static_cast<const SCEV *>(access->trips);
  Instruction *At = unwrap(access->preheader)->getTerminator();
  Type *I64 = Type::getInt64Ty(flow->F.getContext());
  Value *Pointer = flow->Expander.expandCodeFor(Start, Start->getType(), At);
  *ret_start = wrap(IRBuilder<>(At).CreatePtrToInt(Pointer, I64));
  *ret_trips = wrap(flow->Expander.expandCodeFor(Trips, I64, At));
}
