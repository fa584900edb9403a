#include <stdio.h>

#include "alloc_functions.h"
#include "hearth/ir_facts.h"
#include "session.h"
#include "shim.h"

typedef struct lowering {
  LLVMModuleRef module;
  const hearth_options *options;
  hearth_md *md;
  bool changed;
} lowering;

/* Why a call with a hint keeps its plain form, or NULL. */
static const char *obstacle(LLVMValueRef call) {
  if (hearth_ir_call_is_nobuiltin(call))
    return "the call is not a builtin (-fno-builtin, or operator new called by name)";
  if (hearth_ir_call_is_musttail(call))
    return "the call is musttail: its parameters cannot change";
  return NULL;
}

static void visit(LLVMValueRef call, void *data) {
  lowering *l = data;
  char message[256];
  bool ambiguous;
  const hearth_alloc_function *function = hearth_alloc_function_of(call);
  if (!function)
    return;
  hearth_class hint = hearth_md_get_hint(l->md, call, &ambiguous);
  if (hint == HEARTH_CLASS_UNKNOWN && !ambiguous)
    return;
  const char *name = ambiguous ? "ambiguous" : hearth_class_name(hint), *why = obstacle(call);
  LLVMValueRef hinted = why ? NULL : hearth_ir_declare_with_hint(l->module, LLVMGetCalledValue(call), function->hinted);
  if (!hinted) {
    snprintf(message, sizeof message, "%s call not given the hint %s: %s", function->name, name,
             why ? why : "the module uses the hinted function's name for something else");
    hearth_shim_remark(call, true, "NotLowered", message);
    return;
  }
  uint8_t value = l->options->hints[hint];
  LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetModuleContext(l->module));
  LLVMValueRef lowered = hearth_ir_call_append_argument(call, hinted, LLVMConstInt(i8, value, false));
  snprintf(message, sizeof message, "%s call given the hint %u (%s)", function->name, value, name);
  hearth_shim_remark(lowered, false, "Lowered", message);
  l->changed = true;
}

bool hearth_pass_lower(LLVMModuleRef module, const hearth_options *options) {
  lowering l = {.module = module, .options = options, .md = hearth_md_create(module)};
  if (l.md)
    hearth_for_each_instruction(module, visit, &l);
  hearth_md_destroy(l.md);
  return l.changed;
}
