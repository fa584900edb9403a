/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib's repair, with ids from debug locations if those of the module are ours. */
#include <stdio.h>

#include "session.h"
#include "shim.h"

static size_t locate(LLVMValueRef call, uint64_t *ids, size_t capacity, void *data) {
  hearth_session *session = data;
  hearth_location chain[HEARTH_CHAIN_MAX];
  size_t n = hearth_session_ids_are_ours(session) ? hearth_locate(session->locator, call, chain) : 0;
  n = n < capacity ? n : capacity;
  for (size_t i = 0; i < n; i++)
    ids[i] = chain[i].id;
  return n;
}

bool hearth_pass_repair(LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_session session;
  hearth_md_repairs repairs;
  bool changed =
      hearth_session_open(&session, module, options) && hearth_md_repair(session.md, locate, &session, &repairs);
  hearth_session_close(&session);
  if (changed) {
    char message[200];
    snprintf(message, sizeof message,
             "metadata repaired: %zu schemas put aside, %zu callsites computed anew, %zu contexts and all metadata of "
             "%zu calls removed",
             repairs.schemas, repairs.callsites, repairs.contexts, repairs.calls);
    hearth_shim_warn(module, "hearth-repair", message);
  }
  return changed;
}
