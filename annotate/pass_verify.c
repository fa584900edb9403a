#include <stdio.h>

#include "session.h"
#include "shim.h"

static void report(const hearth_md_finding *finding, void *data) {
  char message[512];
  char *instruction = finding->instruction ? LLVMPrintValueToString(finding->instruction) : NULL;
  size_t length = 0;
  const char *function = finding->function ? LLVMGetValueName2(finding->function, &length) : "";
  snprintf(message, sizeof message, "hearth-verify: %.*s%s%s (%s)%s%.160s", (int)length, function, length ? ": " : "",
           hearth_md_rule_text(finding->rule), finding->detail, instruction ? " in:" : "",
           instruction ? instruction : "");
  LLVMDisposeMessage(instruction);
  hearth_shim_error(data, hearth_md_rule_name(finding->rule), message);
}

bool hearth_pass_verify(LLVMModuleRef module, const hearth_options *options) {
  (void)options;
  hearth_md *md = hearth_md_create(module);
  if (md)
    hearth_md_verify(md, report, module);
  hearth_md_destroy(md);
  return false;
}
