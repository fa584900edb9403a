#include <stdio.h>

#include "session.h"
#include "shim.h"

/* Warnings, since the first error ends opt; the error comes last. */
static void report(const hearth_md_finding *finding, void *data) {
  char message[640];
  hearth_md_describe_finding(finding, message, sizeof message);
  hearth_shim_warn(data, "hearth-verify", message);
}

bool hearth_pass_verify(LLVMModuleRef module, const hearth_options *options) {
  (void)options;
  hearth_md *md = hearth_md_create(module);
  size_t findings = md ? hearth_md_verify(md, report, module) : 0;
  hearth_md_destroy(md);
  if (findings) {
    char message[64];
    snprintf(message, sizeof message, "hearth-verify: %zu finding%s", findings, findings == 1 ? "" : "s");
    hearth_shim_error(module, message);
  }
  return false;
}
