/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The order of the passes, as lists of rows of one table, and the order of the steps at the end of a pipeline. LLVM's
 * extension points are PipelineStart for the start; OptimizerLast, and FullLinkTimeOptimizationLast in a link, for the
 * end (plugin.cpp).
 *
 * At the start debug locations are as written, nothing is inlined, and types are in sight. At the end inlining has
 * told contexts apart, and whether a call has one class is known. Between compiling and linking the module carries
 * contexts on: contexts that the link's inlining may tell apart are left to the link. */
#include "passes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hearth/ir_facts.h"
#include "shim.h"

static bool forbid_merging(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  return hearth_pass_nomerge(module, true);
}

/* At -O0 nothing is inlined: a call could at best get the hint of all its callers together. A warning, because clang
 * passes over notes that follow nothing. */
static bool warn_not_optimised(LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_shim_warn(module, options->profile, "heap profile not used at -O0: hints are given from -O1 on");
  return false;
}

/* LLVM's, which gives calls on one line numbers. Idempotent; LLVM 14 runs it only later, and only for sample profiles. */
static bool add_discriminators(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  return hearth_shim_add_discriminators(module);
}

/* Set the phase and the options that depend on it. False if there is nothing to use: no profile, and none was compiled
 * with. */
static bool complete_options(LLVMModuleRef module, hearth_pass_options *options) {
  if (options->lto_phase == HEARTH_LTO_AUTO)
    options->lto_phase = hearth_lto_phase_of(module);
  return *options->profile || (options->lto_phase == HEARTH_LTO_POSTLINK && hearth_lto_read_options(module, options));
}

/* The end of a pipeline that optimises with the profile, or in a link with the metadata that compiling with it left in
 * the module: each allocation call is given its hint. */
static bool use_profile(LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_pass_options own = *options;
  bool changed = false;
  if (!complete_options(module, &own))
    return false;
  if (own.lto_phase == HEARTH_LTO_POSTLINK)
    changed |= hearth_pass_unify(module, &own);
  changed |= hearth_pass_prune(module, &own);
  changed |= hearth_pass_lower(module, &own);
  changed |= hearth_pass_globals(module, &own);
  return changed;
}

enum { ANNOTATE, PRUNE, LOWER, UNIFY, INSTRUMENT, TYPES, GLOBALS, BY_NAME };
enum { LINE_TABLES = BY_NAME, NOMERGE, TAIL_CALLS, NOT_OPTIMISED, MARK, DISCRIMINATORS, USE };

static const hearth_pass passes[] = {
    [ANNOTATE] = {"hearth-annotate", hearth_pass_annotate},
    [PRUNE] = {"hearth-prune", hearth_pass_prune},
    [LOWER] = {"hearth-lower", hearth_pass_lower},
    [UNIFY] = {"hearth-unify", hearth_pass_unify},
    [INSTRUMENT] = {"hearth-instrument", hearth_pass_instrument},
    [TYPES] = {"hearth-types", hearth_pass_types},
    [GLOBALS] = {"hearth-globals", hearth_pass_globals},
    /* From here on not by name. */
    [LINE_TABLES] = {"hearth-line-tables", hearth_pass_line_tables},
    [NOMERGE] = {"hearth-nomerge", forbid_merging},
    [TAIL_CALLS] = {"hearth-tail-calls", hearth_pass_tail_calls},
    [NOT_OPTIMISED] = {"hearth-not-optimised", warn_not_optimised},
    [MARK] = {"hearth-mark", hearth_pass_mark},
    [DISCRIMINATORS] = {"hearth-discriminators", add_discriminators},
    [USE] = {"hearth-use", use_profile},
};

const hearth_pass *hearth_pass_by_name(const char *name, size_t length) {
  for (size_t i = 0; i < BY_NAME; i++)
    if (strlen(passes[i].name) == length && memcmp(passes[i].name, name, length) == 0)
      return &passes[i];
  return NULL;
}

/* ------------------------------------------------- start and end ------------------------------------------------ */

size_t hearth_pipeline_start(const hearth_pipeline *pipeline, const hearth_pass *ret[HEARTH_PIPELINE_MOST]) {
  bool annotates = pipeline->uses && pipeline->optimises;
  size_t n = 0;
  if (pipeline->uses && !annotates)
    ret[n++] = &passes[NOT_OPTIMISED];
  if (pipeline->uses || pipeline->instruments)
    ret[n++] = &passes[MARK];
  if (!annotates && !pipeline->instruments)
    return n;
  ret[n++] = &passes[LINE_TABLES];
  ret[n++] = &passes[DISCRIMINATORS];
  if (pipeline->instruments) {
    ret[n++] = &passes[NOMERGE];
    ret[n++] = &passes[TAIL_CALLS];
    ret[n++] = &passes[TYPES];
  }
  if (annotates)
    ret[n++] = &passes[ANNOTATE];
  return n;
}

size_t hearth_pipeline_end(const hearth_pipeline *pipeline, const hearth_pass *ret[HEARTH_PIPELINE_MOST]) {
  size_t n = 0;
  if (pipeline->optimises)
    ret[n++] = &passes[USE];
  if (pipeline->instruments && !pipeline->is_link)
    ret[n++] = &passes[INSTRUMENT];
  return n;
}

/* ------------------------------------------------ host check ------------------------------------------------ */

/* A plugin for one LLVM release in a compiler of another crashes in its first static constructor, with a stack dump
 * that names LLVM. This runs before any of them and reports the mismatch instead. */

/* llvm-c has it from release 16 on. */
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) __attribute__((weak));

__attribute__((constructor(101))) static void check_host(void) {
  unsigned major = 0, minor, patch;
  if (LLVMGetVersion)
    LLVMGetVersion(&major, &minor, &patch);
  unsigned own = hearth_ir_llvm_major();
  if (major == own || (major == 0 && own < 16))
    return;
  char other[32] = "a release before 16";
  if (major)
    snprintf(other, sizeof other, "LLVM %u", major);
  fprintf(stderr,
          "hearth.so: error: this plugin was built for LLVM %u, the compiler is of %s: use one of the same release "
          "('hearth flags --clang=CLANG' checks)\n",
          own, other);
  _exit(1);
}
