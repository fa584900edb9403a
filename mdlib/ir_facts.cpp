// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ that LLVM forces on a C library; every test of LLVM's version is in this file or in C++ files of annotate/.
#include "hearth/ir_facts.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <cstdlib>
#include <cstring>
#include <string>

using namespace llvm;

unsigned hearth_ir_llvm_major(void) { return LLVM_VERSION_MAJOR; }

bool hearth_ir_flat_mibs_know_hot(void) { return LLVM_VERSION_MAJOR >= 19; } // 17 and 18 are untried

bool hearth_ir_flat_mibs_have_pairs(void) { return LLVM_VERSION_MAJOR >= 20; }

LLVMMetadataRef hearth_ir_scope_subprogram(LLVMMetadataRef scope) {
  auto *Scope = dyn_cast_or_null<DILocalScope>(unwrap(scope));
  return Scope ? wrap(Scope->getSubprogram()) : nullptr;
}

const char *hearth_ir_subprogram_name(LLVMMetadataRef subprogram, size_t *ret_length) {
  auto *SP = cast<DISubprogram>(unwrap(subprogram));
  StringRef Name = SP->getLinkageName().empty() ? SP->getName() : SP->getLinkageName();
  *ret_length = Name.size();
  return Name.data();
}

const char *hearth_ir_subprogram_file(LLVMMetadataRef subprogram, size_t *ret_length) {
  StringRef Name = cast<DISubprogram>(unwrap(subprogram))->getFilename();
  *ret_length = Name.size();
  return Name.data();
}

unsigned hearth_ir_subprogram_line(LLVMMetadataRef subprogram) {
  return cast<DISubprogram>(unwrap(subprogram))->getLine();
}

LLVMMetadataRef hearth_ir_instruction_location(LLVMValueRef instruction) {
  auto *I = dyn_cast<Instruction>(unwrap(instruction));
  return I ? wrap(I->getDebugLoc().get()) : nullptr;
}

unsigned hearth_ir_location_discriminator(LLVMMetadataRef location) {
  return cast<DILocation>(unwrap(location))->getBaseDiscriminator();
}

static const MDNode *node(LLVMMetadataRef metadata) { return dyn_cast_or_null<MDNode>(unwrap(metadata)); }

LLVMMetadataRef hearth_ir_attachment(LLVMValueRef instruction, unsigned kind) {
  return wrap(cast<Instruction>(unwrap(instruction))->getMetadata(kind));
}

LLVMMetadataRef hearth_ir_named_operand(LLVMModuleRef module, const char *name, unsigned index) {
  NamedMDNode *Named = unwrap(module)->getNamedMetadata(name);
  return Named && index < Named->getNumOperands() ? wrap(Named->getOperand(index)) : nullptr;
}

bool hearth_ir_is_node(LLVMMetadataRef metadata) { return node(metadata) != nullptr; }

unsigned hearth_ir_operand_count(LLVMMetadataRef metadata) {
  const MDNode *N = node(metadata);
  return N ? N->getNumOperands() : 0;
}

LLVMMetadataRef hearth_ir_operand(LLVMMetadataRef metadata, unsigned index) {
  const MDNode *N = node(metadata);
  return N && index < N->getNumOperands() ? wrap(N->getOperand(index).get()) : nullptr;
}

unsigned hearth_ir_integer(LLVMMetadataRef metadata, uint64_t *ret) {
  auto *Constant = dyn_cast_or_null<ConstantAsMetadata>(unwrap(metadata));
  auto *Integer = Constant ? dyn_cast<ConstantInt>(Constant->getValue()) : nullptr;
  if (!Integer || Integer->getBitWidth() > 64)
    return 0;
  *ret = Integer->getZExtValue();
  return Integer->getBitWidth();
}

const char *hearth_ir_string(LLVMMetadataRef metadata, size_t *ret_length) {
  auto *String = dyn_cast_or_null<MDString>(unwrap(metadata));
  if (!String)
    return nullptr;
  *ret_length = String->getLength();
  return String->getString().data();
}

void hearth_ir_for_each_instruction(LLVMModuleRef module, hearth_ir_visit visit, void *data) {
  for (Function &F : *unwrap(module))
    for (BasicBlock &B : F)
      for (Instruction &I : make_early_inc_range(B))
        visit(wrap(&I), data);
}

LLVMValueRef hearth_ir_function_of(LLVMValueRef instruction) {
  return wrap(cast<Instruction>(unwrap(instruction))->getFunction());
}

bool hearth_ir_is_call(LLVMValueRef instruction) { return isa<CallBase>(unwrap(instruction)); }

bool hearth_ir_is_caller(LLVMValueRef instruction) {
  auto *Call = dyn_cast<CallBase>(unwrap(instruction));
  Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Call || !Callee || !Callee->isIntrinsic())
    return Call != nullptr;
  StringRef Name = Callee->getName();
  return Name == "llvm.coro.resume" || Name == "llvm.coro.destroy" || Name.contains("llvm.coro.await.suspend.");
}

bool hearth_ir_call_is_nobuiltin(LLVMValueRef call) { return cast<CallBase>(unwrap(call))->isNoBuiltin(); }

bool hearth_ir_call_is_musttail(LLVMValueRef call) { return cast<CallBase>(unwrap(call))->isMustTailCall(); }

void hearth_ir_call_forbid_jump(LLVMValueRef call) {
  cast<CallInst>(unwrap(call))->setTailCallKind(CallInst::TCK_NoTail);
}

void hearth_ir_call_set_callee(LLVMValueRef call, LLVMValueRef callee) {
  cast<CallBase>(unwrap(call))->setCalledOperand(unwrap(callee));
}

// Those of a call or function, without those of parameters from the first on whose type is another one.
static AttributeList attributesForTypes(LLVMContext &Context, AttributeList Attributes, FunctionType *Old,
                                        FunctionType *New) {
  for (unsigned I = 0; I < New->getNumParams(); I++)
    if (I >= Old->getNumParams() || Old->getParamType(I) != New->getParamType(I))
      Attributes = Attributes.removeParamAttributes(Context, I);
  return Attributes;
}

LLVMValueRef hearth_ir_call_append_argument(LLVMValueRef call, LLVMValueRef callee, LLVMValueRef extra) {
  auto *Old = cast<CallBase>(unwrap(call));
  auto *Callee = cast<Function>(unwrap(callee));
  LLVMContext &Context = Old->getContext();

  IRBuilder<> Builder(Old);
  SmallVector<Value *, 8> Args(Old->args());
  unsigned ExtraIndex = Args.size();
  for (unsigned I = 0; I < ExtraIndex; I++)
    if (Args[I]->getType() != Callee->getArg(I)->getType())
      Args[I] = Builder.CreateIntCast(Args[I], Callee->getArg(I)->getType(), Old->paramHasAttr(I, Attribute::SExt));
  Args.push_back(unwrap(extra));
  SmallVector<OperandBundleDef, 2> Bundles;
  Old->getOperandBundlesAsDefs(Bundles);

  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(Old)) {
    New = Builder.CreateInvoke(Callee, Invoke->getNormalDest(), Invoke->getUnwindDest(), Args, Bundles);
  } else {
    auto *Call = Builder.CreateCall(Callee, Args, Bundles);
    Call->setTailCallKind(cast<CallInst>(Old)->getTailCallKind());
    New = Call;
  }
  New->setCallingConv(Old->getCallingConv());
  New->setAttributes(
      attributesForTypes(Context, Old->getAttributes(), Old->getFunctionType(), Callee->getFunctionType())
          .addParamAttribute(Context, ExtraIndex, Attribute::ZExt));
  New->copyMetadata(*Old); // the debug location is among it
  New->takeName(Old);
  Old->replaceAllUsesWith(New);
  Old->eraseFromParent();
  return wrap(New);
}

LLVMValueRef hearth_ir_declare_with_hint(LLVMValueRef plain, LLVMTypeRef type, const char *name) {
  auto *Plain = cast<Function>(unwrap(plain));
  Module *M = Plain->getParent();
  auto *PlainType = cast<FunctionType>(unwrap(type));
  SmallVector<llvm::Type *, 8> Params(PlainType->param_begin(), PlainType->param_end());
  unsigned HintIndex = Params.size();
  Params.push_back(llvm::Type::getInt8Ty(M->getContext()));
  auto *HintedType = FunctionType::get(PlainType->getReturnType(), Params, false);

  if (GlobalValue *Taken = M->getNamedValue(name)) {
    auto *Function = dyn_cast<llvm::Function>(Taken);
    return Function && Function->getFunctionType() == HintedType ? wrap(Function) : nullptr;
  }
  auto *Hinted = Function::Create(HintedType, GlobalValue::ExternalLinkage, name, M);
  // The zeroing twin that "alloc-variant-zeroed" names takes no hint, and LLVM would call it with one.
  Hinted->setAttributes(
      attributesForTypes(M->getContext(), Plain->getAttributes(), Plain->getFunctionType(), HintedType)
          .addParamAttribute(M->getContext(), HintIndex, Attribute::ZExt)
          .removeFnAttribute(M->getContext(), "alloc-variant-zeroed"));
  Hinted->setCallingConv(Plain->getCallingConv());
  return wrap(Hinted);
}

void hearth_ir_clear_named_metadata(LLVMModuleRef module, const char *name) {
  if (NamedMDNode *Node = unwrap(module)->getNamedMetadata(name))
    Node->clearOperands();
}

// Of a unit, the kind is all that cannot be set.
static DICompileUnit *withLineTables(DICompileUnit *CU) {
  return DICompileUnit::getDistinct(
      CU->getContext(), CU->getSourceLanguage(), CU->getFile(), CU->getProducer(), CU->isOptimized(), CU->getFlags(),
      CU->getRuntimeVersion(), CU->getSplitDebugFilename(), DICompileUnit::LineTablesOnly, CU->getEnumTypes(),
      CU->getRetainedTypes(), CU->getGlobalVariables(), CU->getImportedEntities(), CU->getMacros(), CU->getDWOId(),
      CU->getSplitDebugInlining(), CU->getDebugInfoForProfiling(), CU->getNameTableKind(), CU->getRangesBaseAddress(),
      CU->getSysRoot(), CU->getSDK());
}

bool hearth_ir_emit_line_tables(LLVMModuleRef module) {
  Module &M = *unwrap(module);
  NamedMDNode *Units = M.getNamedMetadata("llvm.dbg.cu");
  DenseMap<DICompileUnit *, DICompileUnit *> Raised;
  for (unsigned I = 0; Units && I < Units->getNumOperands(); I++) {
    auto *CU = cast<DICompileUnit>(Units->getOperand(I));
    if (CU->getEmissionKind() != DICompileUnit::NoDebug)
      continue;
    Units->setOperand(I, Raised[CU] = withLineTables(CU));
  }
  if (Raised.empty())
    return false;
  DebugInfoFinder Found;
  Found.processModule(M);
  for (DISubprogram *SP : Found.subprograms())
    if (DICompileUnit *CU = Raised.lookup(SP->getUnit()))
      SP->replaceUnit(CU);
  if (!M.getModuleFlag("Dwarf Version")) // clang writes it with -g only
    M.addModuleFlag(Module::Max, "Dwarf Version", 5);
  return true;
}

void hearth_ir_keep(LLVMModuleRef module, LLVMValueRef global) {
  appendToUsed(*unwrap(module), {cast<GlobalValue>(unwrap(global))});
}

void hearth_ir_append_constructor(LLVMModuleRef module, LLVMValueRef function, unsigned priority) {
  auto *F = cast<Function>(unwrap(function));
  appendToGlobalCtors(*unwrap(module), F, priority, F->hasComdat() ? F : nullptr);
}

// ------------------------------------------------ names of types ------------------------------------------------

// From debug information, linkage names and type-based alias information.

static bool put_type_name(StringRef Name, char *buffer, size_t size) {
  if (Name.empty() || Name.size() >= size)
    return false;
  memcpy(buffer, Name.data(), Name.size());
  buffer[Name.size()] = '\0';
  return true;
}

static std::string qualified(const DIScope *Scope, StringRef Name) {
  std::string Result = Name.str();
  for (; Scope && (isa<DINamespace>(Scope) || isa<DICompositeType>(Scope)); Scope = Scope->getScope())
    Result = (Scope->getName().empty() ? "(anonymous namespace)" : Scope->getName().str()) + "::" + Result;
  return Result;
}

bool hearth_ir_debug_type_name(LLVMMetadataRef metadata, char *buffer, size_t size) {
  auto *Type = dyn_cast_or_null<DIType>(unwrap(metadata));
  for (auto *Derived = dyn_cast_or_null<DIDerivedType>(Type); Derived;
       Derived = dyn_cast_or_null<DIDerivedType>(Type)) {
    if (Derived->getTag() == dwarf::DW_TAG_pointer_type)
      return false;
    Type = Derived->getBaseType();
  }
  return Type && !Type->getName().empty() && put_type_name(qualified(Type->getScope(), Type->getName()), buffer, size);
}

bool hearth_ir_struct_name(LLVMTypeRef type, char *buffer, size_t size) {
  auto *Struct = dyn_cast<StructType>(unwrap(type));
  if (!Struct || !Struct->hasName())
    return false;
  StringRef Name = Struct->getName();
  if (!Name.consume_front("struct.") && !Name.consume_front("class.") && !Name.consume_front("union."))
    return false;
  // A point separates the suffix that tells equal names of one context apart, and the tails of subobjects.
  Name = Name.rtrim("0123456789").rtrim('.');
  Name.consume_back(".base");
  return Name.substr(0, 4) != "anon" && put_type_name(Name, buffer, size);
}

namespace {
struct Demangled {
  ItaniumPartialDemangler Parts;
  bool Good;
  explicit Demangled(const char *Name) : Good(!Parts.partialDemangle(Name)) {}
  bool putContext(char *buffer, size_t size) const {
    size_t Length = 0;
    char *Name = Parts.getFunctionDeclContextName(nullptr, &Length);
    bool Fits = Name && put_type_name(Name, buffer, size);
    std::free(Name);
    return Fits;
  }
};
} // namespace

bool hearth_ir_constructed_class(const char *linkage_name, char *buffer, size_t size) {
  Demangled Function(linkage_name);
  // Destructors have a tilde behind the class.
  if (!Function.Good || !Function.Parts.isFunction() || !Function.Parts.isCtorOrDtor())
    return false;
  size_t Length = 0;
  char *Base = Function.Parts.getFunctionBaseName(nullptr, &Length);
  bool IsConstructor = Base && *Base != '~';
  std::free(Base);
  return IsConstructor && Function.putContext(buffer, size);
}

bool hearth_ir_member_class(const char *linkage_name, char *buffer, size_t size) {
  Demangled Function(linkage_name);
  return Function.Good && Function.Parts.isFunction() && Function.putContext(buffer, size);
}

bool hearth_ir_accessed_pointee(LLVMValueRef access, char *buffer, size_t size) {
  MDNode *Tag = cast<Instruction>(unwrap(access))->getMetadata(LLVMContext::MD_tbaa);
  auto *Accessed = Tag && Tag->getNumOperands() >= 2 ? dyn_cast_or_null<MDNode>(Tag->getOperand(1).get()) : nullptr;
  auto *Name =
      Accessed && Accessed->getNumOperands() ? dyn_cast_or_null<MDString>(Accessed->getOperand(0).get()) : nullptr;
  StringRef Pointee = Name ? Name->getString() : "";
  if (!Pointee.consume_front("p1 "))
    return false;
  if (!Pointee.consume_front("_ZTS"))
    return put_type_name(Pointee == "omnipotent char" ? "char" : Pointee, buffer, size);
  std::string Type = demangle(("_ZTI" + Pointee).str());
  StringRef Plain = Type;
  return Plain.consume_front("typeinfo for ") && put_type_name(Plain, buffer, size);
}

LLVMTypeRef hearth_ir_pointee(LLVMTypeRef pointer) {
#if LLVM_VERSION_MAJOR < 15 // from here on all pointers are opaque unless the user asks for others
  auto *Pointer = cast<PointerType>(unwrap(pointer));
  return Pointer->isOpaque() ? nullptr : wrap(Pointer->getNonOpaquePointerElementType());
#else
  (void)pointer;
  return nullptr;
#endif
}
