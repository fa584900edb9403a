// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin's entry point: options, and LLVM's callbacks. Which pass runs where and in which order, pipeline.c decides.
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#if LLVM_VERSION_MAJOR >= 22 // the header's new place
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

#include "hearth/lowered_calls.h"
#include "passes.h"
#include "shim.h"

using namespace llvm;

namespace {

// "memprof-use" is also the name of a pass of LLVM's; the option is ours alone.
cl::opt<std::string> Use("memprof-use", cl::desc("Optimise with this heap profile, which 'hearth index' made"),
                         cl::value_desc("file"));
struct IdParser : cl::parser<std::string> {
  using cl::parser<std::string>::parser;
  bool parse(cl::Option &O, StringRef, StringRef Arg, std::string &Value) {
    uint64_t Id;
    Value = Arg.str();
    return (Arg.getAsInteger(16, Id) || Id == 0) &&
           O.error("'" + Arg + "' is not the id of a profile ('hearth flags use' prints it)");
  }
};
// Its purpose is to stand on the command line, which build tools and caches of objects compare.
cl::opt<std::string, false, IdParser> ProfileId("memprof-profile-id", cl::value_desc("hex"),
                                                cl::desc("Refuse a profile with another id"));
cl::opt<bool> Instrument("memprof-instrument", cl::desc("Count memory accesses, for a profiling build"));

cl::opt<hearth_coalesce_mode>
    Coalesce("memprof-coalesce", cl::desc("Accesses that the instrumentation counts by one addition"),
             cl::values(clEnumValN(HEARTH_COALESCE_BLOCK, "block", "near each other in one block (default)"),
                        clEnumValN(HEARTH_COALESCE_GRANULE, "granule", "certainly in one granule"),
                        clEnumValN(HEARTH_COALESCE_OFF, "off", "none")),
             cl::init(HEARTH_COALESCE_BLOCK));
cl::opt<bool> AtomicCounters("memprof-atomic", cl::desc("Count accesses atomically, so that threads lose none"));

cl::opt<bool> Globals("memprof-globals", cl::desc("Count accesses of global variables, too"));
cl::opt<bool> GlobalStores("memprof-global-stores", cl::desc("With -memprof-globals: count stores apart, too"));

// Options that mean the same to LLVM's own heap profiling, where that has them.
#if LLVM_VERSION_MAJOR < 19
cl::opt<bool> Histogram("memprof-histogram", cl::desc("Count accesses to each 8 bytes"));
#endif
#if LLVM_VERSION_MAJOR < 20
cl::opt<bool> Nobuiltin("optimize-nobuiltin-hot-cold-new-new",
                        cl::desc("Give hints also to calls that are no builtins"));
#endif

bool isOn(StringRef Name) {
  auto Found = cl::getRegisteredOptions().find(Name);
  return Found != cl::getRegisteredOptions().end() && static_cast<cl::opt<bool> *>(Found->second)->getValue();
}

cl::opt<std::string> LibraryAccesses("memprof-library-accesses",
                                     cl::desc("Table of functions of libraries without counters, and what they access"),
                                     cl::value_desc("file"));

cl::opt<std::string> Report("memprof-report", cl::desc("Append to this file, as JSON, the part of the profile found"),
                            cl::value_desc("file"));

cl::opt<bool> Salvage("memprof-salvage", cl::desc("Align changed functions with the profile (default)"),
                      cl::init(true));

enum class Contexts { Trimmed, Full };
cl::opt<Contexts> WhichContexts("memprof-contexts", cl::desc("Contexts that are attached to allocation calls"),
                                cl::values(clEnumValN(Contexts::Trimmed, "trimmed",
                                                      "up to the caller that settles the class (default)"),
                                           clEnumValN(Contexts::Full, "full", "as recorded")),
                                cl::init(Contexts::Trimmed));

struct ClassifyParser : cl::parser<std::string> {
  using cl::parser<std::string>::parser;
  bool parse(cl::Option &O, StringRef, StringRef Arg, std::string &Value) {
    hearth_classify_options Parsed;
    hearth_error Err;
    Value = Arg.str();
    return Value != "plan" && hearth_classify_parse(Value.c_str(), &Parsed, &Err) != HEARTH_OK && O.error(Err.message);
  }
};
cl::opt<std::string, false, ClassifyParser>
    Classify("memprof-classify", cl::init("plan"), cl::value_desc("mode[,threshold=number]..."),
             cl::desc("Where contexts are placed: plan (default), as the profile's plan says, with its pools, or as "
                      "auto if it has none; auto, cold ones by the time that memory is left alone, hot ones by their "
                      "share of the accesses (thresholds cold-idle in seconds, hot-accesses in per cent); or llvm, by "
                      "LLVM's absolute ones (cold-density, "
                      "cold-lifetime in seconds, hot-density)"));

// One byte each, 0 coldest to 255 hottest, by hearth_class. The distributed tcmalloc takes only 0 for cold.
uint8_t HintOf[] = {HEARTH_HINT_AMBIGUOUS, HEARTH_HINT_COLD, HEARTH_HINT_NOTCOLD, HEARTH_HINT_HOT};
static_assert(HEARTH_CLASS_UNKNOWN == 0 && HEARTH_CLASS_COLD == 1 && HEARTH_CLASS_NOTCOLD == 2 && HEARTH_CLASS_HOT == 3,
              "HintOf has this order");

struct HintsParser : cl::parser<std::string> {
  using cl::parser<std::string>::parser;
  bool parse(cl::Option &O, StringRef, StringRef Arg, std::string &Value) {
    const StringRef Names[] = {"ambiguous", "cold", "notcold", "hot"};
    Value = Arg.str();
    for (StringRef Rest = Arg; !Rest.empty();) {
      StringRef Item, Name, Number;
      unsigned Hint;
      std::tie(Item, Rest) = Rest.split(',');
      std::tie(Name, Number) = Item.split(':');
      const StringRef *Found = std::find(std::begin(Names), std::end(Names), Name);
      if (Found == std::end(Names))
        return O.error("'" + Name + "' is not cold, notcold, hot or ambiguous");
      if (Number.getAsInteger(0, Hint) || Hint > 255)
        return O.error("'" + Number + "' is not a number from 0 to 255");
      HintOf[Found - Names] = static_cast<uint8_t>(Hint);
    }
    return false;
  }
};
cl::opt<std::string, false, HintsParser>
    Hints("memprof-hints", cl::value_desc("class:hint,..."),
          cl::desc("Hints (0-255) of cold, notcold and hot allocations, and of ambiguous calls"));

struct PercentParser : cl::parser<unsigned> {
  using cl::parser<unsigned>::parser;
  bool parse(cl::Option &O, StringRef, StringRef Arg, unsigned &Value) {
    if (Arg.getAsInteger(10, Value) || Value > 100)
      return O.error("'" + Arg + "' is not a number from 0 to 100");
    return false;
  }
};
using PercentOption = cl::opt<unsigned, false, PercentParser>;
PercentOption FastPath(
    "memprof-fast-path",
    cl::desc("Calls of at least this share of all allocations get the allocator's fast path in place; 0: none"),
    cl::init(1));
PercentOption CoverageThreshold("memprof-coverage-threshold",
                                cl::desc("Warn if the module matches less of the profile's bytes; 0: never"),
                                cl::init(80));
cl::opt<bool> Strict("memprof-strict", cl::desc("Turn warnings about the heap profile into errors"));

// LLVM tells the phase from 20 on only, and never to passes given one by one.
cl::opt<hearth_lto_phase>
    LTOPhase("memprof-lto-phase", cl::desc("Where in a link-time optimised build the compiler is"),
             cl::values(clEnumValN(HEARTH_LTO_AUTO, "auto", "by LLVM or by the module's flags (default)"),
                        clEnumValN(HEARTH_LTO_NONE, "none", "not link-time optimised"),
                        clEnumValN(HEARTH_LTO_PRELINK, "prelink", "before the link"),
                        clEnumValN(HEARTH_LTO_POSTLINK, "postlink", "in the link or after it")),
             cl::init(HEARTH_LTO_AUTO));

cl::opt<bool> LinkPlugin("memprof-link-plugin",
                         cl::desc("The link loads this plugin too (set by 'hearth flags use --lto')"));

enum ContextsBy { ByInline, ByWord };
cl::bits<ContextsBy> ContextsApartBy(
    "memprof-contexts-by",
    cl::desc("How contexts that share an allocation call are told apart (default: all of these)"), cl::CommaSeparated,
    cl::values(clEnumValN(ByInline, "inline", "by inlining; always"),
               clEnumValN(ByWord, "word", "as the program runs, by the profile's plan ('hearth show --plan')")));

// Flags come twice in builds that have them in CFLAGS and in LDFLAGS: the last one counts, as it does from LLVM 15 on.
struct Repeatable {
  Repeatable() {
    for (auto &Option : cl::getRegisteredOptions())
      if (Option.second->ArgStr.take_front(8) == "memprof-")
        Option.second->setNumOccurrencesFlag(cl::ZeroOrMore);
  }
} OptionsAreRepeatable;

hearth_pass_options currentOptions() {
  hearth_shim_make_strict(Strict);
  hearth_pass_options Options = {};
  Options.profile = Use.c_str();
  StringRef(ProfileId).getAsInteger(16, Options.profile_id); // 0 if it was not given
  Options.library_accesses = LibraryAccesses.c_str();
  Options.report = Report.c_str();
  Options.coverage_threshold = CoverageThreshold;
  Options.salvage = Salvage;
  Options.full_contexts = WhichContexts == Contexts::Full;
  hearth_error Err;
  Options.by_plan = Classify == "plan";
  hearth_classify_parse(Options.by_plan ? "auto" : Classify.c_str(), &Options.classify, &Err); // as its parser did
  Options.fast_path = FastPath;
  Options.lto_phase = LTOPhase;
  Options.coalesce = Coalesce;
  Options.atomic_counters = AtomicCounters;
  Options.globals = Globals;
  Options.global_stores = Globals && GlobalStores;
  Options.histogram = isOn("memprof-histogram");
  Options.nobuiltin = isOn("optimize-nobuiltin-hot-cold-new-new");
  Options.link_has_plugin = LinkPlugin;
  Options.by_word = ContextsApartBy.getBits() == 0 || ContextsApartBy.isSet(ByWord);
  std::copy(std::begin(HintOf), std::end(HintOf), Options.hints);
  return Options;
}

// The part of the profile that the passes of one pipeline have read. A pipeline runs on one thread.
using Matcher = std::shared_ptr<hearth_matcher>;

// A module pass that calls a C function, over modules that the profile's or the program's runtime can be linked to.
struct CPass : PassInfoMixin<CPass> {
  const hearth_pass *Pass;
  Matcher Read;
  hearth_lto_phase Told; // by LLVM
  CPass(const hearth_pass *Pass, Matcher Read, hearth_lto_phase Told) : Pass(Pass), Read(std::move(Read)), Told(Told) {}
  void printPipeline(raw_ostream &OS, function_ref<StringRef(StringRef)>) { OS << Pass->name; }
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    hearth_pass_options Options = currentOptions();
    Options.matcher = Read.get();
    if (Options.lto_phase == HEARTH_LTO_AUTO)
      Options.lto_phase = Told;
    bool Changed = hearth_shim_has_runtime(wrap(&M)) && Pass->run(wrap(&M), &Options);
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; } // at -O0, too
};

hearth_pipeline pipelineAt(OptimizationLevel Level, bool IsLink) {
  return {Level != OptimizationLevel::O0, !Use.empty(), Instrument, IsLink};
}

void addStart(ModulePassManager &MPM, const Matcher &Read, OptimizationLevel Level) {
  const hearth_pass *Passes[HEARTH_PIPELINE_MOST];
  hearth_pipeline Pipeline = pipelineAt(Level, /*IsLink=*/false);
  for (size_t i = 0, n = hearth_pipeline_start(&Pipeline, Passes); i < n; i++)
    MPM.addPass(CPass(Passes[i], Read, HEARTH_LTO_NONE));
}

void addEnd(ModulePassManager &MPM, const Matcher &Read, OptimizationLevel Level, bool IsLink, hearth_lto_phase Told) {
  const hearth_pass *Passes[HEARTH_PIPELINE_MOST];
  hearth_pipeline Pipeline = pipelineAt(Level, IsLink);
  for (size_t i = 0, n = hearth_pipeline_end(&Pipeline, Passes); i < n; i++)
    MPM.addPass(CPass(Passes[i], Read, Told));
}

// Alone, a pass is in no link unless the option says so.
bool parsePass(StringRef Name, ModulePassManager &MPM, const Matcher &Read) {
  const hearth_pass *Pass = hearth_pass_by_name(Name.data(), Name.size());
  if (Pass)
    MPM.addPass(CPass(Pass, Read, HEARTH_LTO_NONE));
  return Pass;
}

#if LLVM_VERSION_MAJOR >= 20
hearth_lto_phase toldBy(ThinOrFullLTOPhase Phase) {
  switch (Phase) {
  case ThinOrFullLTOPhase::ThinLTOPreLink:
  case ThinOrFullLTOPhase::FullLTOPreLink:
    return HEARTH_LTO_PRELINK;
  case ThinOrFullLTOPhase::ThinLTOPostLink:
  case ThinOrFullLTOPhase::FullLTOPostLink:
    return HEARTH_LTO_POSTLINK;
  case ThinOrFullLTOPhase::None:
    break;
  }
  return HEARTH_LTO_NONE;
}
#endif

void registerCallbacks(PassBuilder &PB) {
  Matcher Read(hearth_matcher_create(), hearth_matcher_destroy);
  PB.registerPipelineParsingCallback(
      [Read](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
        return parsePass(Name, MPM, Read);
      });
  PB.registerPipelineStartEPCallback(
      [Read](ModulePassManager &MPM, OptimizationLevel Level) { addStart(MPM, Read, Level); });
#if LLVM_VERSION_MAJOR >= 20 // from here on the callback is told the phase
  PB.registerOptimizerLastEPCallback([Read](ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase Phase) {
    addEnd(MPM, Read, Level, /*IsLink=*/false, toldBy(Phase));
  });
#else
  PB.registerOptimizerLastEPCallback([Read](ModulePassManager &MPM, OptimizationLevel Level) {
    addEnd(MPM, Read, Level, /*IsLink=*/false, HEARTH_LTO_AUTO);
  });
#endif
#if LLVM_VERSION_MAJOR >= 19 // links with older ones take no plugins
  PB.registerFullLinkTimeOptimizationLastEPCallback([Read](ModulePassManager &MPM, OptimizationLevel Level) {
    addEnd(MPM, Read, Level, /*IsLink=*/true, HEARTH_LTO_POSTLINK);
  });
#endif
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "hearth", HEARTH_VERSION, registerCallbacks};
}
