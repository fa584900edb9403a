// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of LLVM that the passes need and only C++ offers.
#include "shim.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/AddDiscriminators.h>
#include <llvm/Transforms/Utils/BuildLibCalls.h>
#include <llvm/Transforms/Utils/CallPromotionUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#if LLVM_VERSION_MAJOR >= 20 // the header's new place
#include <llvm/Transforms/Utils/Instrumentation.h>
#else
#include <llvm/Transforms/Instrumentation.h>
#endif
#if LLVM_VERSION_MAJOR >= 16 // the header's new place
#include <llvm/TargetParser/Triple.h>
#else
#include <llvm/ADT/Triple.h>
#endif

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

using namespace llvm;

namespace {

std::atomic<bool> IsStrict{false};

// Several passes of a pipeline meet the same broken profile; the user needs to hear of it once.
bool isFirst(const Module &M, const std::string &Text) {
  static std::mutex Lock;
  static std::set<std::string> Said;
  std::lock_guard<std::mutex> Guard(Lock);
  return Said.insert(M.getModuleIdentifier() + '\0' + Text).second;
}

void diagnoseOnce(LLVMModuleRef module, const char *file, const char *message, DiagnosticSeverity Severity) {
  if (isFirst(*unwrap(module), std::string(file) + '\0' + message))
    unwrap(module)->getContext().diagnose(DiagnosticInfoPGOProfile(file, message, Severity));
}

MDNode *likely(LLVMContext &Context) { return MDBuilder(Context).createBranchWeights(2000, 1); }

} // namespace

void hearth_shim_make_strict(bool strict) { IsStrict = strict; }

void hearth_shim_warn(LLVMModuleRef module, const char *file, const char *message) {
  diagnoseOnce(module, file, message, IsStrict ? DS_Error : DS_Warning);
}

void hearth_shim_refuse(LLVMModuleRef module, const char *file, const char *message) {
  diagnoseOnce(module, file, message, DS_Error);
}

void hearth_shim_error(LLVMModuleRef module, const char *message) { unwrap(module)->getContext().emitError(message); }

namespace {

// Between the compiler's handler, which the context had, and the passes.
class HandlerWithoutRemarks : public DiagnosticHandler {
  std::unique_ptr<DiagnosticHandler> Whole;

public:
  explicit HandlerWithoutRemarks(std::unique_ptr<DiagnosticHandler> Given) : Whole(std::move(Given)) {
    DiagnosticContext = Whole->DiagnosticContext;
  }
  bool handleDiagnostics(const DiagnosticInfo &DI) override { return Whole->handleDiagnostics(DI); }
  bool isAnalysisRemarkEnabled(StringRef) const override { return false; }
  bool isMissedOptRemarkEnabled(StringRef) const override { return false; }
  bool isPassedOptRemarkEnabled(StringRef) const override { return false; }
  bool isAnyRemarkEnabled() const override { return false; }
};

} // namespace

void hearth_shim_end_remarks(LLVMModuleRef module, const char *name) {
  LLVMContext &Context = unwrap(module)->getContext();
  if (Context.getDiagHandlerPtr() && Context.getDiagHandlerPtr()->isAnalysisRemarkEnabled(name))
    Context.setDiagnosticHandler(std::make_unique<HandlerWithoutRemarks>(Context.getDiagnosticHandler()));
}

bool hearth_shim_wants_remarks(LLVMValueRef instruction) {
  return OptimizationRemarkEmitter::allowExtraAnalysis(*cast<Instruction>(unwrap(instruction))->getFunction(),
                                                       "hearth");
}

void hearth_shim_remark(LLVMValueRef instruction, bool missed, const char *name, const char *message) {
  auto *I = cast<Instruction>(unwrap(instruction));
  OptimizationRemarkEmitter Emitter(I->getFunction());
  if (missed)
    Emitter.emit([&] { return OptimizationRemarkMissed("hearth", name, I) << message; });
  else
    Emitter.emit([&] { return OptimizationRemark("hearth", name, I) << message; });
}

bool hearth_shim_add_discriminators(LLVMModuleRef module) {
  FunctionAnalysisManager None; // it asks for no analysis
  bool Changed = false;
  for (Function &F : *unwrap(module))
    Changed |= !F.isDeclaration() && !AddDiscriminatorsPass().run(F, None).areAllPreserved();
  return Changed;
}

bool hearth_shim_has_runtime(LLVMModuleRef module) {
  Module &M = *unwrap(module);
  Triple Target(M.getTargetTriple());
  bool IsGlibc = Target.isOSLinux() && (Target.getEnvironment() == Triple::GNU || !Target.hasEnvironment());
  if (Target.str().empty() || (IsGlibc && (Target.getArch() == Triple::x86_64 || Target.getArch() == Triple::aarch64)))
    return true;
  auto F = find_if(M, [](const Function &F) { return !F.isDeclaration(); });
  if (F != M.end() && isFirst(M, Target.str()))
    OptimizationRemarkEmitter(&*F).emit([&] {
      return OptimizationRemarkMissed("hearth", "OtherTarget", DiagnosticLocation(F->getSubprogram()),
                                      &F->getEntryBlock())
             << "code for " << Target.str() << " is left alone: hearth's runtime is for Linux with glibc, on x86-64 "
             << "and AArch64";
    });
  return false;
}

void hearth_shim_before_split(LLVMValueRef instruction) {
  auto *I = cast<Instruction>(unwrap(instruction));
  if (I->getParent()->isEntryBlock())
    PrepareToSplitEntryBlock(*I->getParent(), I->getIterator());
}

LLVMValueRef hearth_shim_promote_call(LLVMValueRef call, LLVMValueRef callee) {
  auto *Call = cast<CallBase>(unwrap(call));
  hearth_shim_before_split(call);
  return wrap(&promoteCallWithIfThenElse(*Call, cast<Function>(unwrap(callee)), likely(Call->getContext())));
}

void hearth_shim_expect_true(LLVMValueRef branch) {
  auto *Branch = cast<Instruction>(unwrap(branch));
  Branch->setMetadata(LLVMContext::MD_prof, likely(Branch->getContext()));
}

#if LLVM_VERSION_MAJOR == 15
static bool namesIntegers(const Function &F, Attribute AllocSize) {
  auto [Size, Count] = AllocSize.getAllocSizeArgs();
  return std::max(Size, Count.value_or(0)) < F.arg_size() && F.getArg(Size)->getType()->isIntegerTy() &&
         (!Count || F.getArg(*Count)->getType()->isIntegerTy());
}
#endif

void hearth_shim_infer_attributes(LLVMValueRef function) {
  auto *F = cast<Function>(unwrap(function));
  TargetLibraryInfoImpl Library(Triple(F->getParent()->getTargetTriple()));
  TargetLibraryInfo Info(Library, F);
#if LLVM_VERSION_MAJOR >= 15 // the function's new name
  inferNonMandatoryLibFuncAttrs(*F, Info);
#else
  inferLibFuncAttributes(*F, Info);
#endif
#if LLVM_VERSION_MAJOR == 15 // knows functions by their names, whatever their parameters; its verifier refuses that
  if (Attribute Size = F->getFnAttribute(Attribute::AllocSize); Size.isValid() && !namesIntegers(*F, Size))
    F->removeFnAttr(Attribute::AllocSize);
#endif
}

void hearth_shim_make_support_function(LLVMValueRef function) {
  auto *F = cast<Function>(unwrap(function));
  F->addFnAttr(Attribute::NoInline);
#if LLVM_VERSION_MAJOR >= 15 // there is more than one kind of tables
  UWTableKind Kind = F->getParent()->getUwtable();
  if (Kind != UWTableKind::None) // of which LLVM 15 and 16 make an ill attribute
    F->setUWTableKind(Kind);
#else
  if (F->getParent()->getUwtable())
    F->addFnAttr(Attribute::UWTable);
#endif
}

void hearth_shim_inline(LLVMValueRef call) {
  auto *Call = cast<CallBase>(unwrap(call));
  InlineFunctionInfo Info;
  if (!Call->hasOperandBundles())
    (void)InlineFunction(*Call, Info);
}

bool hearth_shim_is_usual(LLVMValueRef instruction) {
  const BasicBlock *Block = cast<Instruction>(unwrap(instruction))->getParent();
  auto &F = const_cast<Function &>(*Block->getParent());
  DominatorTree Dominators(F);
  LoopInfo Loops(Dominators);
  BranchProbabilityInfo Branches(F, Loops);
  BlockFrequencyInfo Frequencies(F, Branches, Loops);
  const Loop *Inner = Loops.getLoopFor(Block);
  const BasicBlock *Start = Inner ? Inner->getHeader() : &F.getEntryBlock();
  return Frequencies.getBlockFreq(Block).getFrequency() >= Frequencies.getBlockFreq(Start).getFrequency() / 2;
}

bool hearth_shim_has_own_section(LLVMValueRef global) {
  auto *G = unwrap<GlobalVariable>(global);
  return G->hasSection() || G->hasImplicitSection();
}

void hearth_shim_raise_alignment(LLVMValueRef global, unsigned alignment) {
  auto *G = unwrap<GlobalVariable>(global);
  if (G->canIncreaseAlignment() && (!G->getAlign() || G->getAlign()->value() < alignment))
    G->setAlignment(Align(alignment));
}

bool hearth_shim_set_section_prefix(LLVMValueRef global, const char *section, const char *prefix) {
  auto *G = unwrap<GlobalVariable>(global);
#if LLVM_VERSION_MAJOR >= 22 // the code generator knows prefixes of globals
  (void)section;
  Module *M = G->getParent();
  if (G->getSectionPrefix())
    return false;
  // Or prefixes by block counts (-fpartition-static-data-sections) replace it, where there are some.
  if (!M->getModuleFlag("EnableDataAccessProf"))
    M->addModuleFlag(Module::Warning, "EnableDataAccessProf", 1);
  return G->setSectionPrefix(prefix);
#else
  if (G->isConstant() && G->hasGlobalUnnamedAddr())
    return false;
  G->setSection((Twine(".") + section + "." + prefix + "." + G->getName()).str());
  return true;
#endif
}

bool hearth_shim_may_write_through(LLVMValueRef call, unsigned argument) {
  auto *Call = cast<CallBase>(unwrap(call));
  return !Call->onlyReadsMemory() && !Call->onlyReadsMemory(argument);
}

void hearth_shim_keep(LLVMValueRef global) {
  auto *G = cast<GlobalValue>(unwrap(global));
  appendToCompilerUsed(*G->getParent(), {G});
}

// Of a function's alignment, which begins before them.
void hearth_shim_forbid_folding(LLVMValueRef function) {
  Function *F = unwrap<Function>(function);
  Type *I64 = Type::getInt64Ty(F->getContext());
  if (!F->hasPrefixData())
    F->setPrefixData(
        ConstantArray::get(ArrayType::get(I64, 2), {ConstantInt::get(I64, F->getGUID()), ConstantInt::get(I64, 0)}));
}

// ------------------------------------------------ flow ------------------------------------------------

bool hearth_flow_interrupts(LLVMValueRef instruction) {
  const Instruction &I = *cast<Instruction>(unwrap(instruction));
  // A terminator that stays within the function only chooses the next block, which is looked at by itself.
  if (isa<BranchInst>(I) || isa<SwitchInst>(I) || isa<IndirectBrInst>(I))
    return false;
  auto *Call = dyn_cast<CallBase>(&I);
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
