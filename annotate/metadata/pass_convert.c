/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib's conversion for each call; one warning sums up the losses. */
#include <stdio.h>

#include "hearth/ir_facts.h"
#include "session.h"
#include "shim.h"

typedef bool (*conversion)(hearth_md *md, LLVMValueRef call, hearth_md_losses *losses);

typedef struct converting {
  hearth_md *md;
  conversion convert;
  hearth_md_losses losses;
  bool changed;
} converting;

static void visit(LLVMValueRef instruction, void *data) {
  converting *c = data;
  c->changed |= c->convert(c->md, instruction, &c->losses);
}

static bool run(LLVMModuleRef module, const char *name, conversion convert) {
  converting c = {.md = hearth_md_create(module), .convert = convert};
  if (!c.md)
    return false;
  hearth_ir_for_each_instruction(module, visit, &c);
  hearth_md_destroy(c.md);
  const hearth_md_losses *lost = &c.losses;
  if (lost->values || lost->classes || lost->calls) {
    char message[200];
    snprintf(message, sizeof message,
             "not held by the other encoding: %zu values, the class of %zu contexts; %zu calls left as they were",
             lost->values, lost->classes, lost->calls);
    hearth_shim_warn(module, name, message);
  }
  return c.changed;
}

bool hearth_pass_to_flat(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  return run(module, "hearth-to-flat", hearth_md_to_flat);
}

bool hearth_pass_to_chained(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  return run(module, "hearth-to-chained", hearth_md_to_chained);
}
