/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib's unification; a warning if it would have to guess. */
#include <stdio.h>

#include "session.h"
#include "shim.h"

bool hearth_pass_unify(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  bool changed = false;
  hearth_md *md = hearth_md_create(module);
  size_t unclear = md ? hearth_md_unify(md, &changed) : 0;
  hearth_md_destroy(md);
  if (unclear) {
    char message[160];
    snprintf(message, sizeof message,
             "schemas not unified: %zu schemas or lists of contexts are malformed, or it cannot be told which schema "
             "they follow",
             unclear);
    hearth_shim_warn(module, "hearth-unify", message);
  }
  return changed;
}
