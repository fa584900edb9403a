#include "alloc_functions.h"
#include "session.h"

typedef struct annotation {
  hearth_session session;
  hearth_edits edits;
  hearth_error err;
} annotation;

static void visit(LLVMValueRef instruction, void *data) {
  annotation *a = data;
  if (a->err.status != HEARTH_OK || !hearth_is_call(instruction))
    return;
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(instruction));
  if (callee && LLVMGetIntrinsicID(callee) != 0)
    return;
  hearth_status status = HEARTH_E_NOT_FOUND;
  if (hearth_alloc_function_of(instruction))
    status = hearth_session_match_allocation(&a->session, instruction, &a->edits, &a->err);
  if (status == HEARTH_E_NOT_FOUND)
    status = hearth_session_match_callsite(&a->session, instruction, &a->edits, &a->err);
  if (status != HEARTH_E_NOT_FOUND)
    a->err.status = status;
}

bool hearth_pass_annotate(LLVMModuleRef module, const hearth_options *options) {
  annotation a = {.err = {HEARTH_OK, ""}};
  bool changed = false;
  if (hearth_session_open(&a.session, module, options) && a.session.matcher.profile) {
    hearth_for_each_instruction(module, visit, &a);
    if (a.err.status == HEARTH_OK)
      changed = hearth_session_apply(&a.session, &a.edits);
    else
      hearth_session_fail(&a.session, &a.err);
  }
  hearth_edits_free(&a.edits);
  hearth_session_close(&a.session);
  return changed;
}
