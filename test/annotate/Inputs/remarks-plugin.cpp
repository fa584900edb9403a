// A pass plugin that tells whether passes compose remarks.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Plugins/PassPlugin.h>

using namespace llvm;

struct Tell : PassInfoMixin<Tell> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    errs() << (M.getContext().getDiagHandlerPtr()->isAnyRemarkEnabled() ? "remarks\n" : "no remarks\n");
    return PreservedAnalyses::all();
  }
};

extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "tell", "", [](PassBuilder &PB) {
            PB.registerOptimizerLastEPCallback([](ModulePassManager &MPM, auto &&...) { MPM.addPass(Tell()); });
          }};
}
