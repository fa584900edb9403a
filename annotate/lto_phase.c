#include "lto_phase.h"

#include <string.h>

#include "hearth/ir_facts.h"

#define HINTS       "memprof.hints"
#define CLANG_S_LTO "EnableSplitLTOUnit" /* on all modules that clang makes for a link, before they are optimised */

static LLVMMetadataRef flag(LLVMModuleRef module, const char *name) {
  return LLVMGetModuleFlag(module, name, strlen(name));
}

bool hearth_lto_read_hints(LLVMModuleRef module, uint8_t ret_hints[4]) {
  LLVMMetadataRef node = flag(module, HINTS);
  uint64_t values[4];
  if (hearth_ir_operand_count(node) != 4)
    return false;
  for (unsigned i = 0; i < 4; i++)
    if (hearth_ir_integer(hearth_ir_operand(node, i), &values[i]) != 8)
      return false;
  for (unsigned i = 0; i < 4; i++)
    ret_hints[i] = (uint8_t)values[i];
  return true;
}

void hearth_lto_write_hints(LLVMModuleRef module, const uint8_t hints[4]) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(context);
  LLVMMetadataRef values[4];
  if (flag(module, HINTS))
    return;
  for (unsigned i = 0; i < 4; i++)
    values[i] = LLVMValueAsMetadata(LLVMConstInt(i8, hints[i], false));
  LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, HINTS, strlen(HINTS),
                    LLVMMDNodeInContext2(context, values, 4));
}

hearth_lto_phase hearth_lto_phase_of(LLVMModuleRef module) {
  if (flag(module, HINTS))
    return HEARTH_LTO_POSTLINK;
  return flag(module, CLANG_S_LTO) ? HEARTH_LTO_PRELINK : HEARTH_LTO_NONE;
}
