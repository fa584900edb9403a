// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a module has debug information, LLVM's loader runs LLVM's verifier. Newer releases have an option that keeps it away
// (hearth_ir.c), older ones nothing that it crashes on.
#include <llvm-c/IRReader.h>
#include <llvm/Config/llvm-config.h>

#include "ir_commands.h"

#if LLVM_VERSION_MAJOR >= 15 && LLVM_VERSION_MAJOR <= 17
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <llvm/AsmParser/LLParser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

using namespace llvm;

static LLVMModuleRef parseText(LLVMContext &Context, std::unique_ptr<MemoryBuffer> Buffer, char **ret_message) {
  auto M = std::make_unique<Module>(Buffer->getBufferIdentifier(), Context);
  SMDiagnostic Diagnostic;
  SourceMgr Sources;
  StringRef Text = Buffer->getBuffer();
  Sources.AddNewSourceBuffer(std::move(Buffer), SMLoc());
  if (!LLParser(Text, Sources, Diagnostic, M.get(), nullptr, Context).Run(/*UpgradeDebugInfo=*/false))
    return wrap(M.release());
  std::string Message;
  raw_string_ostream Stream(Message);
  Diagnostic.print(nullptr, Stream, false);
  *ret_message = strdup(Stream.str().c_str());
  return nullptr;
}

// Of bitcode it cannot be kept away: a process of its own tries.
static bool survivesLoading(LLVMContext &Context, const MemoryBuffer &Buffer) {
  int State = 0;
  pid_t Child = fork();
  if (Child == 0) {
    close(STDERR_FILENO); // what its verifier says is said of crashes, too
    consumeError(parseBitcodeFile(Buffer.getMemBufferRef(), Context).takeError());
    _exit(0);
  }
  return Child > 0 && waitpid(Child, &State, 0) == Child && WIFEXITED(State);
}

LLVMModuleRef hearth_ir_parse(LLVMContextRef context, LLVMMemoryBufferRef buffer, char **ret_message) {
  std::unique_ptr<MemoryBuffer> Buffer(unwrap(buffer));
  LLVMContext &Context = *unwrap(context);
  LLVMModuleRef Parsed = nullptr;
  if (!isBitcode(reinterpret_cast<const unsigned char *>(Buffer->getBufferStart()),
                 reinterpret_cast<const unsigned char *>(Buffer->getBufferEnd())))
    return parseText(Context, std::move(Buffer), ret_message);
  if (survivesLoading(Context, *Buffer))
    return LLVMParseIRInContext(context, wrap(Buffer.release()), &Parsed, ret_message) ? nullptr : Parsed;
  *ret_message = strdup("its own verifier ends the program, as the metadata of the bitcode is damaged: check its text");
  return nullptr;
}
#else
LLVMModuleRef hearth_ir_parse(LLVMContextRef context, LLVMMemoryBufferRef buffer, char **ret_message) {
  LLVMModuleRef module = nullptr;
  return LLVMParseIRInContext(context, buffer, &module, ret_message) ? nullptr : module;
}
#endif
