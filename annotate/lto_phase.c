#include "lto_phase.h"

#include <stdlib.h>
#include <string.h>

#include "hearth/ir_facts.h"
#include "hearth/md.h"

#define HINTS       "memprof.hints"
#define PLAN        "memprof.plan"
#define CLANG_S_LTO "EnableSplitLTOUnit" /* on all modules that clang makes for a link, before they are optimised */

static LLVMMetadataRef flag(LLVMModuleRef module, const char *name) {
  return LLVMGetModuleFlag(module, name, strlen(name));
}

typedef struct fitting {
  hearth_md *md;
  bool changed;
} fitting;

static void fit(LLVMValueRef instruction, void *data) {
  fitting *f = data;
  f->changed |= hearth_md_fit_summary(f->md, instruction);
}

bool hearth_lto_fit_summary(LLVMModuleRef module) {
  fitting f = {.md = hearth_md_create(module)};
  if (f.md)
    hearth_ir_for_each_instruction(module, fit, &f);
  hearth_md_destroy(f.md);
  return f.changed;
}

bool hearth_lto_read_options(LLVMModuleRef module, hearth_options *ret) {
  LLVMMetadataRef node = flag(module, HINTS);
  uint64_t values[6];
  if (hearth_ir_operand_count(node) != 6)
    return false;
  for (unsigned i = 0; i < 6; i++)
    if (hearth_ir_integer(hearth_ir_operand(node, i), &values[i]) != (i < 4 ? 8 : 32))
      return false;
  for (unsigned i = 0; i < 4; i++)
    ret->hints[i] = (uint8_t)values[i];
  ret->clone_budget = (unsigned)values[4];
  ret->cold_percent = (unsigned)values[5];
  return true;
}

void hearth_lto_write_options(LLVMModuleRef module, const hearth_options *options) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
  LLVMMetadataRef values[6];
  if (flag(module, HINTS))
    return;
  for (unsigned i = 0; i < 4; i++)
    values[i] = LLVMValueAsMetadata(LLVMConstInt(i8, options->hints[i], false));
  values[4] = LLVMValueAsMetadata(LLVMConstInt(i32, options->clone_budget, false));
  values[5] = LLVMValueAsMetadata(LLVMConstInt(i32, options->cold_percent, false));
  LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, HINTS, strlen(HINTS),
                    LLVMMDNodeInContext2(context, values, 6));
}

void hearth_lto_write_plan(LLVMModuleRef module, const char *profile, uint64_t plan) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  char *absolute = realpath(profile, NULL);
  const char *path = absolute ? absolute : profile;
  LLVMMetadataRef values[] = {
      LLVMMDStringInContext2(context, path, strlen(path)),
      LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), plan, false)),
  };
  if (!flag(module, PLAN))
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, PLAN, strlen(PLAN),
                      LLVMMDNodeInContext2(context, values, 2));
  free(absolute);
}

bool hearth_lto_read_plan(LLVMModuleRef module, char **ret_profile, uint64_t *ret_plan) {
  LLVMMetadataRef node = flag(module, PLAN);
  size_t length;
  if (hearth_ir_operand_count(node) != 2)
    return false;
  const char *path = hearth_ir_string(hearth_ir_operand(node, 0), &length);
  if (!path || hearth_ir_integer(hearth_ir_operand(node, 1), ret_plan) != 64)
    return false;
  *ret_profile = strndup(path, length);
  return true;
}

hearth_lto_phase hearth_lto_phase_of(LLVMModuleRef module) {
  if (flag(module, HINTS))
    return HEARTH_LTO_POSTLINK;
  return flag(module, CLANG_S_LTO) ? HEARTH_LTO_PRELINK : HEARTH_LTO_NONE;
}
