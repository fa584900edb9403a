// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks are of three kinds. Shared ones exist once: a call that may allocate, whose return address so stays the only one
// of its place in the source, and what must not be copied. All others are plain, and those from which an access can be
// reached without a new start have a counted copy. A start is a block that control enters from a shared one, or the head
// of a loop with calls or loops in it. In front of it a dispatch block chooses the version: at the function's entry and at
// heads of loops the runtime's countdown decides, elsewhere the last such decision holds. Loops without calls and loops are
// copied as they are, so that their accesses can be counted in front of them.
//
// Values that live across blocks are in memory while blocks are copied, and then get registers again.
#include "versions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <map>
#include <set>
#include <vector>

using namespace llvm;

namespace {

constexpr const char *Mark = "hearth.counted";    // on the terminators of counted blocks
constexpr uint32_t Plain = 1u << 20, Counted = 1; // weights: the counted version is to be out of the way

// --- obstacles ---

bool isIntrinsic(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->isIntrinsic();
}

const char *obstacleOfCall(const CallBase &Call) {
  if (isa<CallBrInst>(Call))
    return "it has an asm goto";
  if (Call.cannotDuplicate() || Call.isConvergent())
    return "it has a call that must not be copied";
  if (!isIntrinsic(Call))
    return nullptr;
  StringRef Name = Call.getCalledFunction()->getName();
  if (Name.take_front(10) == "llvm.coro.")
    return "it is a coroutine";
  return Name.take_front(10) == "llvm.local" ? "it gives its variables to other functions" : nullptr;
}

const char *obstacleOfInstruction(const Instruction &I) {
  if (I.isEHPad() && !isa<LandingPadInst>(I))
    return "it has exception handlers of Windows";
  if (I.getType()->isTokenTy() || I.getType()->isX86_AMXTy())
    return "it has a value that cannot be in memory";
  auto *Variable = dyn_cast<AllocaInst>(&I);
  if (Variable && (Variable->isSwiftError() || Variable->isUsedWithInAlloca()))
    return "it has a variable that cannot be moved";
  auto *Call = dyn_cast<CallBase>(&I);
  return Call ? obstacleOfCall(*Call) : nullptr;
}

// --- shape: the blocks that the rest needs ---

struct Shape {
  Function &F;
  bool (*IsCopied)(LLVMValueRef);
  std::set<const BasicBlock *> Shared;
  std::set<BasicBlock *> Behind; // starts behind shared blocks; each has one way in
  BasicBlock *Body = nullptr;    // the first block behind the variables

  bool standsAlone(const Instruction &I) const {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || isIntrinsic(*Call))
      return false;
    return Call->isMustTailCall() || Call->isInlineAsm() ||
           !(Call->onlyReadsMemory() || IsCopied(wrap(const_cast<CallBase *>(Call))));
  }

  // Variables of fixed size stay in the first block, or they would be made at each visit.
  void splitEntry() {
    BasicBlock &Entry = F.getEntryBlock();
    std::vector<AllocaInst *> Variables;
    for (Instruction &I : Entry)
      if (auto *Variable = dyn_cast<AllocaInst>(&I))
        if (isa<ConstantInt>(Variable->getArraySize()))
          Variables.push_back(Variable);
    for (AllocaInst *Variable : reverse(Variables))
      Variable->moveBefore(Entry, Entry.begin());
    BasicBlock::iterator First = Entry.begin();
    std::advance(First, Variables.size());
    Body = SplitBlock(&Entry, &*First);
    Shared.insert(&Entry);
  }

  // The block that only an edge from `From` leads to.
  void addBehind(BasicBlock *From, BasicBlock *To) {
    FoldSingleEntryPHINodes(To);
    Behind.insert(To->getUniquePredecessor() && !isa<PHINode>(To->begin()) ? To : SplitEdge(From, To));
  }

  void isolate(Instruction *Call) {
    BasicBlock *Block = Call->getParent();
    if (Call != &Block->front())
      Block = SplitBlock(Block, Call);
    Shared.insert(Block);
    if (isa<CallInst>(Call) && !cast<CallInst>(Call)->isMustTailCall())
      Behind.insert(SplitBlock(Block, Call->getNextNode()));
  }

  void splitCalls() {
    std::vector<Instruction *> Calls;
    std::vector<InvokeInst *> Invokes;
    for (Instruction &I : instructions(F)) {
      if (standsAlone(I))
        Calls.push_back(&I);
      if (auto *Invoke = dyn_cast<InvokeInst>(&I))
        Invokes.push_back(Invoke);
    }
    for (Instruction *Call : Calls)
      isolate(Call);
    for (InvokeInst *Invoke : Invokes) {
      FoldSingleEntryPHINodes(Invoke->getNormalDest());
      if (Shared.count(Invoke->getParent()))
        addBehind(Invoke->getParent(), Invoke->getNormalDest());
      else if (!Invoke->getNormalDest()->getUniquePredecessor())
        SplitEdge(Invoke->getParent(), Invoke->getNormalDest());
    }
  }

  // Tables of addresses know the label alone.
  void splitLabels() {
    std::vector<BasicBlock *> Labels;
    for (BasicBlock &B : F)
      if (B.hasAddressTaken())
        Labels.push_back(&B);
    for (BasicBlock *Label : Labels) {
      Behind.insert(SplitBlock(Label, &*Label->getFirstInsertionPt()));
      Shared.insert(Label);
    }
  }

  void splitLandingPads() {
    std::vector<LandingPadInst *> Pads;
    for (BasicBlock &B : F)
      if (B.isLandingPad())
        Pads.push_back(B.getLandingPadInst());
    for (LandingPadInst *Pad : Pads) {
      Behind.insert(SplitBlock(Pad->getParent(), Pad->getNextNode()));
      Shared.insert(Pad->getParent());
    }
  }

  Shape(Function &F, bool (*IsCopied)(LLVMValueRef)) : F(F), IsCopied(IsCopied) {
    splitEntry();
    splitLabels();
    splitCalls();
    splitLandingPads();
  }
};

// --- plan: starts, and which blocks are copied ---

enum class Choice { Anew, AsBefore };

struct Plan {
  std::set<BasicBlock *> Useful; // an access follows without a start in between
  std::map<BasicBlock *, Choice> Starts;

  static bool isChecked(const Loop &L) {
    return !L.isInnermost() || any_of(L.blocks(), [](const BasicBlock *B) {
      return any_of(*B, [](const Instruction &I) { return isa<CallBase>(I) && !isIntrinsic(cast<CallBase>(I)); });
    });
  }

  // Control comes to landing pads and to labels in a table directly.
  static BasicBlock *headOf(const Loop &L) {
    BasicBlock *Header = L.getHeader();
    return Header->isLandingPad() || Header->hasAddressTaken() ? Header->getSingleSuccessor() : Header;
  }

  void findUseful(const Shape &S, const std::set<const BasicBlock *> &Accessing) {
    std::vector<BasicBlock *> Rest;
    for (BasicBlock &B : S.F)
      if (Accessing.count(&B) && !S.Shared.count(&B) && Useful.insert(&B).second)
        Rest.push_back(&B);
    while (!Rest.empty()) {
      BasicBlock *At = Rest.back();
      Rest.pop_back();
      if (Starts.count(At))
        continue;
      for (BasicBlock *From : predecessors(At))
        if (!S.Shared.count(From) && Useful.insert(From).second)
          Rest.push_back(From);
    }
  }

  // The loop whose head decides for this block; NULL: the function's entry does.
  static const Loop *decider(const LoopInfo &LI, const BasicBlock *B) {
    const Loop *L = LI.getLoopFor(B);
    while (L && !isChecked(*L))
      L = L->getParentLoop();
    return L;
  }

  // Those of stretches without accesses go, but for decisions that others depend on.
  void dropUseless(const LoopInfo &LI, BasicBlock *Body) {
    std::set<const Loop *> Deciding;
    for (auto &Start : Starts)
      if (Start.second == Choice::AsBefore && Useful.count(Start.first))
        Deciding.insert(decider(LI, Start.first));
    for (auto At = Starts.begin(); At != Starts.end();) {
      bool Decides = At->second == Choice::Anew && Deciding.count(At->first == Body ? nullptr : decider(LI, At->first));
      At = Useful.count(At->first) || Decides ? std::next(At) : Starts.erase(At);
    }
  }

  Plan(const Shape &S, const std::set<const BasicBlock *> &Accessing) {
    DominatorTree DT(S.F);
    LoopInfo LI(DT);
    for (BasicBlock *B : S.Behind)
      if (!S.Shared.count(B))
        Starts[B] = Choice::AsBefore;
    for (Loop *L : LI.getLoopsInPreorder())
      if (isChecked(*L))
        Starts[headOf(*L)] = Choice::Anew;
    Starts[S.Body] = Choice::Anew;
    findUseful(S, Accessing);
    dropUseless(LI, S.Body);
  }
};

// --- values in memory ---

void dropMarkersOfMoved(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Marker = dyn_cast<IntrinsicInst>(&I);
    if (!Marker ||
        (Marker->getIntrinsicID() != Intrinsic::lifetime_start && Marker->getIntrinsicID() != Intrinsic::lifetime_end))
      continue;
    auto *Variable = dyn_cast<AllocaInst>(Marker->getArgOperand(Marker->arg_size() - 1)->stripPointerCasts());
    if (!Variable || !Variable->isStaticAlloca())
      Marker->eraseFromParent();
  }
}

bool isUsedElsewhere(const Instruction &I) {
  return any_of(I.users(), [&](const User *U) { return cast<Instruction>(U)->getParent() != I.getParent(); });
}

std::vector<AllocaInst *> putValuesInMemory(Function &F) {
  std::vector<AllocaInst *> Slots;
  std::vector<Instruction *> Values;
  for (BasicBlock &B : F)
    for (PHINode &Phi : B.phis())
      Values.push_back(&Phi);
  for (Instruction *Phi : Values)
    if (AllocaInst *Slot = DemotePHIToStack(cast<PHINode>(Phi)))
      Slots.push_back(Slot);
  Values.clear();
  for (Instruction &I : instructions(F))
    if (I.getParent() != &F.getEntryBlock() && isUsedElsewhere(I))
      Values.push_back(&I);
  for (Instruction *Value : Values)
    if (AllocaInst *Slot = DemoteRegToStack(*Value))
      Slots.push_back(Slot);
  return Slots;
}

void putValuesInRegisters(Function &F, const std::vector<AllocaInst *> &Slots) {
  DominatorTree DT(F);
  std::vector<AllocaInst *> Promotable;
  copy_if(Slots, std::back_inserter(Promotable), isAllocaPromotable);
  PromoteMemToReg(Promotable, DT);
}

// --- copies ---

// Variables of a debugger are those of the plain version.
void dropDebugVariables(BasicBlock &B) {
  for (Instruction &I : make_early_inc_range(B)) {
#if LLVM_VERSION_MAJOR >= 19 // records instead of calls
    I.dropDbgRecords();
#endif
    if (isa<DbgInfoIntrinsic>(I))
      I.eraseFromParent();
  }
}

void copyBlocks(Function &F, const std::set<BasicBlock *> &Blocks, ValueToValueMapTy &Copies) {
  std::vector<BasicBlock *> Ordered, Made;
  for (BasicBlock &B : F)
    if (Blocks.count(&B))
      Ordered.push_back(&B);
  for (BasicBlock *B : Ordered) {
    BasicBlock *Copy = CloneBasicBlock(B, Copies, ".counted", &F);
    dropDebugVariables(*Copy);
    Copies[B] = Copy;
    Made.push_back(Copy);
  }
  MDNode *Empty = MDNode::get(F.getContext(), {});
  for (BasicBlock *Copy : Made) {
    for (Instruction &I : *Copy)
      RemapInstruction(&I, Copies, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Copy->getTerminator()->setMetadata(Mark, Empty);
  }
}

// --- dispatch ---

struct Dispatch {
  Function &F;
  AllocaInst *IsCounted; // the last decision
  GlobalVariable *Left;
  FunctionCallee Turn;
  MDNode *Weights;

  static GlobalVariable *declareLeft(Module &M) {
    if (GlobalVariable *Found = M.getNamedGlobal("__hearth_burst_left"))
      return Found;
    auto *Left =
        new GlobalVariable(M, Type::getInt64Ty(M.getContext()), /*isConstant=*/false, GlobalValue::ExternalLinkage,
                           nullptr, "__hearth_burst_left", nullptr, GlobalValue::InitialExecTLSModel);
    return Left;
  }

  // It keeps most registers, and is not bound lazily, as the resolver does not: code around it need not save any.
  static FunctionCallee declareTurn(Module &M) {
    FunctionCallee Turn = M.getOrInsertFunction("__hearth_burst_turn", Type::getInt1Ty(M.getContext()));
    auto *Declared = cast<Function>(Turn.getCallee());
    Declared->setCallingConv(CallingConv::PreserveMost);
    Declared->addFnAttr(Attribute::NonLazyBind);
    Declared->addFnAttr(Attribute::NoUnwind);
    Declared->addFnAttr(Attribute::Cold);
    return Turn;
  }

  explicit Dispatch(Function &F)
      : F(F), IsCounted(IRBuilder<>(F.getEntryBlock().getTerminator())
                            .CreateAlloca(Type::getInt1Ty(F.getContext()), nullptr, "hearth.is_counted")),
        Left(declareLeft(*F.getParent())), Turn(declareTurn(*F.getParent())),
        Weights(MDBuilder(F.getContext()).createBranchWeights(Counted, Plain)) {}

  void chooseAnew(BasicBlock *At, BasicBlock *Plain, BasicBlock *Counted) {
    BasicBlock *Asking = BasicBlock::Create(F.getContext(), "hearth.turn", &F);
    IRBuilder<> B(At);
    Value *Now = B.CreateSub(B.CreateLoad(B.getInt64Ty(), Left), B.getInt64(1));
    B.CreateStore(Now, Left);
    B.CreateStore(B.getFalse(), IsCounted);
    B.CreateCondBr(B.CreateICmpSLT(Now, B.getInt64(0)), Asking, Plain, Weights);
    B.SetInsertPoint(Asking);
    CallInst *Answer = B.CreateCall(Turn);
    Answer->setCallingConv(CallingConv::PreserveMost);
    B.CreateStore(Answer, IsCounted);
    if (Plain == Counted)
      B.CreateBr(Plain);
    else
      B.CreateCondBr(Answer, Counted, Plain);
  }

  void chooseAsBefore(BasicBlock *At, BasicBlock *Plain, BasicBlock *Counted) {
    IRBuilder<> B(At);
    B.CreateCondBr(B.CreateLoad(B.getInt1Ty(), IsCounted), Counted, Plain, Weights);
  }
};

// All ways to the start lead to a new block.
BasicBlock *makeFront(BasicBlock *Start) {
  BasicBlock *Front = BasicBlock::Create(Start->getContext(), "hearth.dispatch", Start->getParent(), Start);
  Start->replaceUsesWithIf(Front, [](Use &U) { return cast<Instruction>(U.getUser())->isTerminator(); });
  return Front;
}

void makeVersions(Function &F, const Plan &P) {
  std::vector<AllocaInst *> Slots = putValuesInMemory(F);
  std::vector<BasicBlock *> Starts, Fronts;
  ValueToValueMapTy Copies;
  for (BasicBlock &B : F)
    if (P.Starts.count(&B))
      Starts.push_back(&B);
  for (BasicBlock *Start : Starts)
    Fronts.push_back(makeFront(Start));
  copyBlocks(F, P.Useful, Copies);
  Dispatch D(F);
  for (size_t i = 0; i < Starts.size(); ++i) {
    Value *Copy = Copies.lookup(Starts[i]);
    BasicBlock *Counted = Copy ? cast<BasicBlock>(Copy) : Starts[i];
    if (P.Starts.at(Starts[i]) == Choice::Anew)
      D.chooseAnew(Fronts[i], Starts[i], Counted);
    else
      D.chooseAsBefore(Fronts[i], Starts[i], Counted);
  }
  Slots.push_back(D.IsCounted);
  putValuesInRegisters(F, Slots);
}

} // namespace

const char *hearth_versions_obstacle(LLVMValueRef function) {
  auto &F = *cast<Function>(unwrap(function));
  if (F.callsFunctionThatReturnsTwice())
    return "it calls a function that returns twice";
  if (any_of(F.args(), [](const Argument &A) { return A.hasSwiftErrorAttr(); }))
    return "it has an argument that cannot be in memory";
  for (const Instruction &I : instructions(F))
    if (const char *Obstacle = obstacleOfInstruction(I))
      return Obstacle;
  return nullptr;
}

void hearth_versions_prepare(LLVMValueRef function) {
  auto &F = *cast<Function>(unwrap(function));
  removeUnreachableBlocks(F);
  dropMarkersOfMoved(F);
}

void hearth_versions_make(LLVMValueRef function, const LLVMValueRef *accesses, size_t count,
                          bool (*is_copied)(LLVMValueRef call)) {
  auto &F = *cast<Function>(unwrap(function));
  Shape S(F, is_copied);
  std::set<const BasicBlock *> Accessing;
  for (size_t i = 0; i < count; ++i)
    Accessing.insert(cast<Instruction>(unwrap(accesses[i]))->getParent());
  Plan P(S, Accessing);
  if (!P.Useful.empty())
    makeVersions(F, P);
}

bool hearth_versions_is_counted(LLVMBasicBlockRef block) {
  return unwrap(block)->getTerminator()->getMetadata(Mark) != nullptr;
}

void hearth_versions_forget(LLVMValueRef function) {
  for (BasicBlock &B : *cast<Function>(unwrap(function)))
    B.getTerminator()->setMetadata(Mark, nullptr);
}
