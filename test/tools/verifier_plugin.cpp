// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass `hearth-verify`: findings are warnings, since the first error ends opt; one error counts them at the end.
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#if LLVM_VERSION_MAJOR >= 22 // the header's new place
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif

#include "metadata_verifier.h"

using namespace llvm;

namespace {

constexpr size_t DescribedMost = 100; // describing one takes time that grows with the module

struct Reporting {
  Module &M;
  size_t Described;
};

void report(const hearth_md_finding *Finding, void *Data) {
  auto &Report = *static_cast<Reporting *>(Data);
  char Message[640];
  if (Report.Described == DescribedMost)
    return;
  Report.Described++;
  hearth_md_describe_finding(Finding, Message, sizeof Message);
  Report.M.getContext().diagnose(DiagnosticInfoPGOProfile("hearth-verify", Message, DS_Warning));
}

struct VerifyPass : PassInfoMixin<VerifyPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    Reporting Report{M, 0};
    hearth_md *MD = hearth_md_create(wrap(&M));
    size_t Findings = MD ? hearth_md_verify(MD, report, &Report) : 0;
    hearth_md_destroy(MD);
    if (Findings > 0)
      M.getContext().emitError("hearth-verify: " + Twine(Findings) + (Findings == 1 ? " finding" : " findings"));
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; } // at -O0, too
};

bool parsePass(StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
  if (Name != "hearth-verify")
    return false;
  MPM.addPass(VerifyPass());
  return true;
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "hearth-verify", "1",
          [](PassBuilder &PB) { PB.registerPipelineParsingCallback(parsePass); }};
}
