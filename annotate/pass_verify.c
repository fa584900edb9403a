#include <stdio.h>

#include "session.h"
#include "shim.h"

/* Warnings, since the first error ends opt; the error comes last. */
static void report(const hearth_md_finding *finding, void *data) {
  char message[640];
  char *instruction = finding->instruction ? LLVMPrintValueToString(finding->instruction) : NULL;
  size_t length = 0;
  const char *function = finding->function ? LLVMGetValueName2(finding->function, &length) : "";
  snprintf(message, sizeof message, "%.*s%s%s (%s)%s%.160s [%s]", (int)length, function, length ? ": " : "",
           hearth_md_rule_text(finding->rule), finding->detail, instruction ? " in:" : "",
           instruction ? instruction : "", hearth_md_rule_name(finding->rule));
  LLVMDisposeMessage(instruction);
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
