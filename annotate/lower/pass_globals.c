/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hot and untouched global variables go to sections whose names begin with those of the others, .data.hot. and
 * .data.unlikely.: linkers put these into .data, or beside it (globals.ld). What may be known to others by its place
 * stays where it is. */
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "hearth/global.h"
#include "match.h"
#include "shim.h"

typedef struct placing {
  hearth_session session;
  hearth_error err;
  LLVMValueRef *fixed; /* globals that stay */
  size_t n_fixed, fixed_room;
  bool changed;
} placing;

static bool fix(placing *p, LLVMValueRef value) {
  while (!LLVMIsAGlobalValue(value) && LLVMIsAConstantExpr(value))
    value = LLVMGetOperand(value, 0);
  if (!hearth_array_grow(&p->fixed, &p->fixed_room, p->n_fixed, sizeof *p->fixed))
    return false;
  p->fixed[p->n_fixed++] = value;
  return true;
}

static bool fix_used(placing *p, const char *list) {
  LLVMValueRef global = LLVMGetNamedGlobal(p->session.module, list);
  LLVMValueRef value = global ? LLVMGetInitializer(global) : NULL;
  for (int i = 0, n = value ? LLVMGetNumOperands(value) : 0; i < n; i++)
    if (!fix(p, LLVMGetOperand(value, (unsigned)i)))
      return false;
  return true;
}

/* Used in ways that the compiler does not see, or under other names. */
static bool find_fixed(placing *p) {
  for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->session.module); a; a = LLVMGetNextGlobalAlias(a))
    if (!fix(p, LLVMAliasGetAliasee(a)))
      return false;
  return fix_used(p, "llvm.used") && fix_used(p, "llvm.compiler.used");
}

static bool is_fixed(const placing *p, LLVMValueRef global) {
  for (size_t i = 0; i < p->n_fixed; i++)
    if (p->fixed[i] == global)
      return true;
  return false;
}

/* They lay globals out themselves. */
static bool is_sanitized(LLVMModuleRef module) {
  static const char *const names[] = {"sanitize_address", "sanitize_hwaddress", "sanitize_memory", "sanitize_memtag",
                                      NULL};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (hearth_has_attribute(f, LLVMAttributeFunctionIndex, names))
      return true;
  return false;
}

/* LLVM's profiles know them by a part of the name alone. */
static hearth_status pass_globals_find(placing *p, const hearth_global_name *name, hearth_global *ret) {
  hearth_profile *profile = p->session.matcher->profile;
  uint64_t id = hearth_global_id(name->name, name->file, name->flags);
  hearth_status status = hearth_profile_find_global(profile, id, ret, &p->err);
  if (status != HEARTH_E_NOT_FOUND || p->session.scheme != HEARTH_IDS_LLVM)
    return status;
  char kept[sizeof name->name];
  snprintf(kept, sizeof kept, "%.*s", (int)hearth_llvm_global_name_length(name->name), name->name);
  return hearth_profile_find_global(profile, hearth_global_id(kept, "", 0), ret, &p->err);
}

static void place(placing *p, LLVMValueRef global) {
  hearth_global_name name;
  hearth_global known;
  if (!hearth_global_name_of(global, &name) || LLVMGetLinkage(global) == LLVMCommonLinkage)
    return;
  enum hearth_global_kind kind = hearth_global_kind_of(name.flags);
  if (kind == HEARTH_GLOBAL_LITERAL || is_fixed(p, global)) /* linkers merge literals by section */
    return;
  hearth_status status = pass_globals_find(p, &name, &known);
  if (status != HEARTH_OK) {
    p->err.status = status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
    return;
  }
  const char *prefix = known.flags & HEARTH_GLOBAL_HOT ? "hot" : known.accesses == 0 ? "unlikely" : NULL;
  if (prefix)
    p->changed |= hearth_shim_set_section_prefix(global, hearth_global_kind_name(kind), prefix);
}

bool hearth_pass_globals(LLVMModuleRef module, const hearth_pass_options *options) {
  placing p = {.err = {HEARTH_OK, ""}};
  if (!*options->profile || is_sanitized(module))
    return false;
  if (hearth_session_open(&p.session, module, options) && hearth_profile_global_count(p.session.matcher->profile) > 0) {
    if (!find_fixed(&p))
      p.err = (hearth_error){HEARTH_E_NOMEM, "out of memory"};
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g && p.err.status == HEARTH_OK; g = LLVMGetNextGlobal(g))
      place(&p, g);
    if (p.err.status != HEARTH_OK)
      hearth_session_fail(&p.session, &p.err);
  }
  hearth_session_close(&p.session);
  free(p.fixed);
  return p.changed;
}
