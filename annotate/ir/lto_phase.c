/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Module flags of behaviour 'append unique': the linker lists the values of all modules, and the first one holds. */
#include "passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/ir_facts.h"
#include "hearth/md.h"
#include "shim.h"

#define HINTS       "memprof.hints"
#define PLAN        "memprof.plan"
#define VALUES      6                    /* of HINTS */
#define CLANG_S_LTO "EnableSplitLTOUnit" /* on all modules that clang makes for a link, before they are optimised */

static LLVMMetadataRef flag(LLVMModuleRef module, const char *name) {
  return LLVMGetModuleFlag(module, name, strlen(name));
}

/* Linking modules puts their values of a flag behind each other; equal ones are one. */
static void add_flag(LLVMModuleRef module, const char *name, LLVMMetadataRef *values, size_t n) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMMetadataRef value = LLVMMDNodeInContext2(context, values, n);
  if (!flag(module, name))
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorAppendUnique, name, strlen(name),
                      LLVMMDNodeInContext2(context, &value, 1));
}

typedef struct fitting {
  hearth_md *md;
  unsigned kind_memprof;
  bool clones;
  bool changed;
} fitting;

/* LLVM plans clones for the calls that have contexts in the flat form. */
static bool forbid_cloning_for(fitting *f, LLVMValueRef call) {
  if (hearth_md_is_chained_only(f->md) || !LLVMHasMetadata(call) || !LLVMGetMetadata(call, f->kind_memprof))
    return false;
  hearth_md_resolve(f->md, call, HEARTH_CLASS_UNKNOWN);
  return true;
}

static void fit(LLVMValueRef instruction, void *data) {
  fitting *f = data;
  if (!f->clones)
    f->changed |= forbid_cloning_for(f, instruction);
  f->changed |= hearth_md_fit_summary(f->md, instruction);
}

bool hearth_lto_fit_summary(LLVMModuleRef module, bool clones) {
  fitting f = {.md = hearth_md_create(module),
               .kind_memprof = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "memprof", strlen("memprof")),
               .clones = clones};
  if (f.md)
    hearth_ir_for_each_instruction(module, fit, &f);
  hearth_md_destroy(f.md);
  return f.changed;
}

static LLVMMetadataRef first_value(LLVMModuleRef module, const char *name) {
  LLVMMetadataRef values = flag(module, name);
  return hearth_ir_operand_count(values) ? hearth_ir_operand(values, 0) : NULL;
}

bool hearth_lto_read_options(LLVMModuleRef module, hearth_pass_options *ret) {
  LLVMMetadataRef node = first_value(module, HINTS);
  uint64_t values[VALUES];
  if (hearth_ir_operand_count(node) != VALUES)
    return false;
  if (hearth_ir_operand_count(flag(module, HINTS)) > 1)
    hearth_shim_warn(
        module, "hearth",
        "modules of the link were compiled with different hints, -memprof-classify or treatment of calls that are no "
        "builtins; those of the first hold for all");
  for (unsigned i = 0; i < VALUES; i++)
    if (hearth_ir_integer(hearth_ir_operand(node, i), &values[i]) != (i < 4 ? 8 : 32))
      return false;
  for (unsigned i = 0; i < 4; i++)
    ret->hints[i] = (uint8_t)values[i];
  ret->nobuiltin = values[4] != 0;
  ret->by_plan = values[5] != 0;
  return true;
}

void hearth_lto_write_options(LLVMModuleRef module, const hearth_pass_options *options) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
  LLVMMetadataRef values[VALUES];
  for (unsigned i = 0; i < 4; i++)
    values[i] = LLVMValueAsMetadata(LLVMConstInt(i8, options->hints[i], false));
  values[4] = LLVMValueAsMetadata(LLVMConstInt(i32, options->nobuiltin, false));
  values[5] = LLVMValueAsMetadata(LLVMConstInt(i32, options->by_plan, false));
  add_flag(module, HINTS, values, VALUES);
}

void hearth_lto_write_plan(LLVMModuleRef module, const char *profile, uint64_t plan) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  char *absolute = realpath(profile, NULL);
  const char *path = absolute ? absolute : profile;
  LLVMMetadataRef values[] = {
      LLVMMDStringInContext2(context, path, strlen(path)),
      LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), plan, false)),
  };
  add_flag(module, PLAN, values, 2);
  free(absolute);
}

/* Borrowed, not NUL-terminated. */
static const char *lto_phase_read_plan(LLVMMetadataRef node, size_t *ret_length, uint64_t *ret_plan) {
  if (hearth_ir_operand_count(node) != 2 || hearth_ir_integer(hearth_ir_operand(node, 1), ret_plan) != 64)
    return NULL;
  return hearth_ir_string(hearth_ir_operand(node, 0), ret_length);
}

/* Profiles of other names may have one plan. */
static void warn_of_other_plan(LLVMModuleRef module, const char *profile, uint64_t plan) {
  LLVMMetadataRef values = flag(module, PLAN);
  char message[512];
  for (unsigned i = 1, n = hearth_ir_operand_count(values); i < n; i++) {
    size_t length;
    uint64_t other_plan;
    const char *other = lto_phase_read_plan(hearth_ir_operand(values, i), &length, &other_plan);
    if (!other || other_plan == plan)
      continue;
    snprintf(
        message, sizeof message,
        "modules of the link were compiled with this profile and with %.*s: contexts are told apart by the plan of the "
        "first alone; compile all with one ('hearth merge' makes one of several)",
        (int)(length < 200 ? length : 200), other);
    hearth_shim_warn(module, profile, message);
    return;
  }
}

bool hearth_lto_read_plan(LLVMModuleRef module, char **ret_profile, uint64_t *ret_plan) {
  size_t length;
  const char *path = lto_phase_read_plan(first_value(module, PLAN), &length, ret_plan);
  if (!path)
    return false;
  *ret_profile = strndup(path, length);
  if (*ret_profile)
    warn_of_other_plan(module, *ret_profile, *ret_plan);
  return true;
}

hearth_lto_phase hearth_lto_phase_of(LLVMModuleRef module) {
  if (flag(module, HINTS))
    return HEARTH_LTO_POSTLINK;
  bool link_takes_plugins = hearth_ir_llvm_major() >= 19; /* else no later step does the rest */
  return link_takes_plugins && flag(module, CLANG_S_LTO) ? HEARTH_LTO_PRELINK : HEARTH_LTO_NONE;
}
