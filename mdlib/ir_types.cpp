// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of types, from debug information, linkage names and type-based alias information.
#include "hearth/ir_facts.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>

#include <cstdlib>
#include <cstring>
#include <string>

using namespace llvm;

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
