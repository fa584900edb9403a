/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A mark of the build that a module is of, in the place where compilers sign: the section .comment of the object, which is not
 * loaded, and of all that is linked from it. hearth-cc looks for it at a link. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/compile_mark.h"
#include "passes.h"

static const char place[] = "llvm.ident";

/* Equal nodes are one. */
static bool has(LLVMModuleRef module, LLVMValueRef node) {
  unsigned count = LLVMGetNamedMetadataNumOperands(module, place);
  LLVMValueRef *nodes = malloc((count + 1) * sizeof *nodes);
  bool found = !nodes; /* out of memory: no mark */
  if (nodes)
    LLVMGetNamedMetadataOperands(module, place, nodes);
  for (unsigned i = 0; i < count && !found; i++)
    found = nodes[i] == node;
  free(nodes);
  return found;
}

bool hearth_pass_mark(LLVMModuleRef module, const hearth_pass_options *options) {
  char mark[64] = HEARTH_MARK_INSTRUMENT;
  LLVMContextRef context = LLVMGetModuleContext(module);
  if (*options->profile)
    snprintf(mark, sizeof mark, HEARTH_MARK_USE, options->profile_id);
  if ((*options->profile && !options->profile_id) || !LLVMGetNamedMetadata(module, place, strlen(place)))
    return false; /* flags by hand; a compiler that is told not to sign */
  LLVMMetadataRef text = LLVMMDStringInContext2(context, mark, strlen(mark));
  LLVMValueRef node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &text, 1));
  if (has(module, node))
    return false;
  LLVMAddNamedMetadataOperand(module, place, node);
  return true;
}
