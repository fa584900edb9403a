/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which passes run where in LLVM's pipeline, and in which order. plugin.cpp registers LLVM's callbacks, asks here, and
 * does the work that needs C++. */
#ifndef HEARTH_PIPELINE_H
#define HEARTH_PIPELINE_H

#include <stddef.h>

#include "passes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef bool hearth_pass_function(LLVMModuleRef module, const hearth_pass_options *options);

typedef enum hearth_pass_kind {
  HEARTH_PASS_OURS,           /* `run` */
  HEARTH_PASS_DISCRIMINATORS, /* LLVM's, which gives calls on one line numbers */
  HEARTH_PASS_USE             /* hearth_pipeline_use */
} hearth_pass_kind;

typedef struct hearth_pass {
  const char *name; /* as in -passes= */
  hearth_pass_kind kind;
  hearth_pass_function *run;
} hearth_pass;

/* The pass of this name; NULL if there is none that can be asked for. */
const hearth_pass *hearth_pass_by_name(const char *name, size_t length);
/* Run one that was asked for by name, or is in one of the lists below. */
bool hearth_pass_run(const hearth_pass *pass, LLVMModuleRef module, const hearth_pass_options *options);

/* The settings of a pipeline from the command line. */
typedef struct hearth_pipeline {
  bool optimises;   /* not -O0 */
  bool uses;        /* a profile */
  bool instruments; /* accesses */
  bool is_link;     /* the pipeline of a full link, which gets bitcode */
} hearth_pipeline;

#define HEARTH_PIPELINE_MOST 8

/* Write the passes at the start and at the end of a pipeline, in order; return their number. */
size_t hearth_pipeline_start(const hearth_pipeline *pipeline, const hearth_pass *ret[HEARTH_PIPELINE_MOST]);
size_t hearth_pipeline_end(const hearth_pipeline *pipeline, const hearth_pass *ret[HEARTH_PIPELINE_MOST]);

/* The end of a pipeline that optimises with the profile, or in a link with the metadata that compiling with it left in
 * the module: each allocation call is given its hint. `told`: the phase of which LLVM speaks; the option goes before
 * it. True if the module changed. */
bool hearth_pipeline_use(LLVMModuleRef module, const hearth_pass_options *options, hearth_lto_phase told);

#ifdef __cplusplus
}
#endif
#endif
