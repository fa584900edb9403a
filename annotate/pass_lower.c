#include <stdio.h>

#include "alloc_functions.h"
#include "dispatch.h"
#include "hearth/ir_facts.h"
#include "lto_phase.h"
#include "session.h"
#include "shim.h"

typedef struct lowering {
  LLVMModuleRef module;
  const hearth_options *options;
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

static void report(LLVMValueRef call, const hearth_alloc_function *function, const char *hint, uint8_t value) {
  char where[256], message[512];
  hearth_describe_inlining(call, where, sizeof where);
  if (hint)
    snprintf(message, sizeof message, "%s call%s given the hint %u (%s)", function->name, where, value, hint);
  else
    snprintf(
        message, sizeof message,
        "%s call%s left to the ordinary allocator: it serves hot and cold contexts alike, which are told apart only "
        "where it is inlined into them",
        function->name, where);
  hearth_shim_remark(call, hint == NULL, hint ? "Lowered" : "Ambiguous", message);
}

static void visit(LLVMValueRef call, void *data) {
  lowering *l = data;
  bool ambiguous;
  const hearth_alloc_function *function = hearth_alloc_function_of(call);
  if (!function)
    return;
  hearth_class hint = hearth_md_get_hint(call, &ambiguous);
  if ((hint == HEARTH_CLASS_UNKNOWN && !ambiguous) || (ambiguous && l->options->lto_phase == HEARTH_LTO_PRELINK))
    return;
  const char *name = ambiguous ? "ambiguous" : hearth_class_name(hint), *why = obstacle(call);
  LLVMValueRef hinted = why ? NULL : hearth_dispatch_to(l->module, LLVMGetCalledValue(call), function);
  if (!hinted) {
    char message[256];
    snprintf(message, sizeof message, "%s call not given the hint %s: %s", function->name, name,
             why ? why : "the module uses the hinted function's name for something else");
    hearth_shim_remark(call, true, "NotLowered", message);
    return;
  }
  uint8_t value = l->options->hints[hint];
  LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetModuleContext(l->module));
  LLVMValueRef lowered = hearth_ir_call_append_argument(call, hinted, LLVMConstInt(i8, value, false));
  report(lowered, function, ambiguous ? NULL : name, value);
  l->changed = true;
}

bool hearth_pass_lower(LLVMModuleRef module, const hearth_options *options) {
  lowering l = {.module = module, .options = options};
  hearth_ir_for_each_instruction(module, visit, &l);
  if (options->lto_phase == HEARTH_LTO_PRELINK) {
    hearth_lto_write_options(module, options);
    l.changed = true;
  }
  return l.changed;
}
