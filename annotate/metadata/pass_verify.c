/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib's verifier; findings are warnings, and one error counts them. */
#include <stdio.h>

#include "session.h"
#include "shim.h"

enum { DESCRIBED = 100 }; /* describing one takes time that grows with the module */

typedef struct reporting {
  LLVMModuleRef module;
  size_t described;
} reporting;

/* Warnings, since the first error ends opt; the error comes last. */
static void report(const hearth_md_finding *finding, void *data) {
  reporting *r = data;
  char message[640];
  if (r->described == DESCRIBED)
    return;
  r->described++;
  hearth_md_describe_finding(finding, message, sizeof message);
  hearth_shim_warn(r->module, "hearth-verify", message);
}

bool hearth_pass_verify(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  reporting r = {.module = module};
  hearth_md *md = hearth_md_create(module);
  size_t findings = md ? hearth_md_verify(md, report, &r) : 0;
  hearth_md_destroy(md);
  if (findings) {
    char message[120];
    snprintf(message, sizeof message, "hearth-verify: %zu finding%s%s", findings, findings == 1 ? "" : "s",
             findings > r.described ? ", of which the first were described" : "");
    hearth_shim_error(module, message);
  }
  return false;
}
