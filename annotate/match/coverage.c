/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* After matching, each leaf frame of the module's functions in the profile is compared with the contexts that were
 * marked as matched; one that lacks some is given a reason by the calls that stand at its place now. */
#include "match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "array.h"
#include "file.h"
#include "hearth/plan.h"
#include "salvage.h"
#include "shim.h"

const char *hearth_unmatched_name(hearth_unmatched_reason reason) {
#define HEARTH_NAME(NAME, name) name,
  static const char *const names[] = {HEARTH_UNMATCHED_REASONS(HEARTH_NAME)};
  return names[reason];
}

typedef struct measuring {
  hearth_coverage *coverage;
  hearth_session *session;
  hearth_profile *profile;
  const hearth_call_sites *sites;
  hearth_plan plan;   /* `id` 0: there is none */
  bool *seen;         /* by row of functions */
  uint32_t file_path; /* of a function of the module's file; HEARTH_NONE: the profile has none that the module has */
  bool salvaged;      /* the function that is being measured has changed */
  bool is_own;        /* it is of the module's file */
  hearth_error *err;
} measuring;

/* ------------------------------------------------ the module's file --------------------------------------------- */

/* The last name of the folder before `end`. */
static const char *folder_before(const char *path, const char *end, size_t *ret_length) {
  const char *first = end;
  while (first > path && first[-1] != '/')
    first--;
  *ret_length = (size_t)(end - first);
  return first;
}

/* The last name of the folder that the module's file is in; of no length if that is not known. */
static const char *folder_of(LLVMModuleRef module, const char *name, size_t *ret_length) {
  const char *base = hearth_base_name(name);
  if (base > name)
    return folder_before(name, base - 1, ret_length);
  *ret_length = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    unsigned length;
    if (!LLVMGetSubprogram(f) || !hearth_is_of_source_file(f))
      continue;
    const char *folder = LLVMDIFileGetDirectory(LLVMDIScopeGetFile(LLVMGetSubprogram(f)), &length);
    return folder_before(folder, folder + length, ret_length);
  }
  return name;
}

/* Several folders may have files of one name; where the sources lay may have changed. */
static bool is_folder_alike(const char *path, LLVMModuleRef module) {
  size_t length, own_length, name_length;
  const char *base = hearth_base_name(path),
             *own = folder_of(module, LLVMGetSourceFileName(module, &name_length), &own_length);
  if (base == path || own_length == 0 || own[own_length - 1] == '.')
    return true;
  const char *folder = folder_before(path, base - 1, &length);
  return length == own_length && memcmp(folder, own, length) == 0;
}

/* Is the function of the module's source file, wherever the file was when it was profiled? Its path is then that of
 * functions which the module has, or else ends in the same folder and file name. */
static hearth_status is_own(const measuring *m, const hearth_function_info *function, bool *ret) {
  size_t length;
  char path[HEARTH_PATH_LIMIT];
  *ret = function->path == m->file_path;
  if (m->file_path != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_path(m->profile, function->path, path, sizeof path, m->err));
  *ret = strcmp(hearth_base_name(path), hearth_base_name(LLVMGetSourceFileName(m->session->module, &length))) == 0 &&
         is_folder_alike(path, m->session->module);
  return HEARTH_OK;
}

/* ---------------------------------------------------- measuring ------------------------------------------------- */

/* The code in the module at a place of the profile that was not matched whole. */
static hearth_unmatched_reason reason_for(const measuring *m, uint64_t function, const hearth_frame_info *frame,
                                          bool is_called, LLVMValueRef *ret_callee) {
  if (!frame->stack_id)
    return HEARTH_UNMATCHED_NO_PLACE;
  size_t i = hearth_call_sites_from(m->sites, function, frame->line, 0);
  hearth_unmatched_reason reason = HEARTH_UNMATCHED_NO_LINE;
  for (; i < m->sites->count; i++) {
    const hearth_call_site *site = &m->sites->items[i];
    if (site->function != function || site->line != frame->line)
      break;
    if (reason == HEARTH_UNMATCHED_NO_LINE)
      reason = HEARTH_UNMATCHED_NO_COLUMN;
    if (site->column != frame->column || !is_called)
      continue;
    if (site->inlined || hearth_alloc_function_of(site->call))
      return HEARTH_UNMATCHED_CHAIN;
    *ret_callee = LLVMIsAFunction(LLVMGetCalledValue(site->call));
    reason = *ret_callee ? HEARTH_UNMATCHED_CALLEE : HEARTH_UNMATCHED_POINTER;
  }
  return reason;
}

static hearth_status add_unmatched(measuring *m, hearth_unmatched unmatched) {
  hearth_coverage *c = m->coverage;
  if (!hearth_array_grow(&c->unmatched, &c->room, c->n_unmatched, sizeof *c->unmatched))
    return hearth_error_nomem(m->err);
  c->unmatched[c->n_unmatched++] = unmatched;
  return HEARTH_OK;
}

static void coverage_add(hearth_coverage_sums *sums, uint64_t contexts, uint64_t bytes) {
  sums->contexts += contexts;
  sums->bytes = sums->bytes + bytes < bytes ? UINT64_MAX : sums->bytes + bytes;
}

/* At the call, the program's last one before that of an allocation function: in a library, or through a pointer. */
static void remark_elsewhere(const measuring *m, uint64_t function, const hearth_frame_info *frame,
                             const hearth_unmatched *unmatched) {
  char message[320];
  const char *why;
  size_t i = hearth_call_sites_from(m->sites, function, frame->line, frame->column);
  if (i == m->sites->count)
    return;
  const hearth_call_site *site = &m->sites->items[i];
  if (site->function != function || site->line != frame->line || site->column != frame->column ||
      !hearth_shim_wants_remarks(site->call))
    return;
  if (unmatched->in_library) {
    snprintf(message, sizeof message,
             "%" PRIu64 " bytes are allocated in a library that is called here, where no hint reaches",
             unmatched->bytes);
    hearth_shim_remark(site->call, true, "InLibrary", message);
  } else if (hearth_is_pointer_call(site->call) && !hearth_pointer_callee(site->call, &why)) {
    snprintf(message, sizeof message,
             "%" PRIu64 " bytes are allocated by this call through a pointer, which gets no hint: %s", unmatched->bytes,
             why);
    hearth_shim_remark(site->call, true, "NotPromoted", message);
  }
}

/* The outcome for the contexts of one leaf frame. */
static hearth_status measure_frame(measuring *m, uint64_t function, uint32_t row, const hearth_frame_info *frame,
                                   bool *ret_matched) {
  hearth_coverage_sums all = {0}, matched = {0};
  for (uint32_t i = 0; i < frame->context_count; i++) {
    uint64_t bytes;
    HEARTH_TRY(hearth_profile_get_context_bytes(m->profile, frame->first_context + i, &bytes, m->err));
    coverage_add(&all, 1, bytes);
    if (m->session->matcher->matched[frame->first_context + i])
      coverage_add(&matched, 1, bytes);
  }
  hearth_unmatched unmatched = {.frame = row,
                                .contexts = all.contexts - matched.contexts,
                                .bytes = all.bytes - matched.bytes,
                                .in_library = frame->library};
  bool in_callee = false;
  if (unmatched.contexts) {
    bool is_called;
    HEARTH_TRY(hearth_match_frame(m->profile, m->sites, function, row, frame, &is_called, m->err));
    unmatched.reason = reason_for(m, function, frame, is_called, &unmatched.callee);
    in_callee = unmatched.reason == HEARTH_UNMATCHED_CALLEE || unmatched.reason == HEARTH_UNMATCHED_POINTER;
    HEARTH_TRY(add_unmatched(m, unmatched));
    *ret_matched &= in_callee;
  }
  if (in_callee) {
    coverage_add(&m->coverage->elsewhere, unmatched.contexts, unmatched.bytes);
    if (frame->library)
      coverage_add(&m->coverage->library, unmatched.contexts, unmatched.bytes);
    remark_elsewhere(m, function, frame, &unmatched);
  } else {
    coverage_add(&m->coverage->all, unmatched.contexts, unmatched.bytes);
    m->coverage->file.lost += m->is_own ? unmatched.bytes : 0;
  }
  coverage_add(&m->coverage->all, matched.contexts, matched.bytes);
  coverage_add(&m->coverage->matched, matched.contexts, matched.bytes);
  if (m->salvaged)
    coverage_add(&m->coverage->salvaged, matched.contexts, matched.bytes);
  return HEARTH_OK;
}

/* Does the plan have this row's call set a bit? */
static bool is_decision_site(const measuring *m, uint32_t row, const hearth_frame_info *frame) {
  const hearth_plan_site *site = frame->stack_id ? hearth_plan_find_site(&m->plan, frame->stack_id) : NULL;
  return site && site->frame == row;
}

static void coverage_count(hearth_callsite_sums *sums, bool found, bool has_changed) {
  sums->all++;
  sums->matched += found;
  sums->salvaged += found && has_changed;
}

static hearth_status count_callsite(measuring *m, uint64_t function, uint32_t row, const hearth_frame_info *frame) {
  bool found;
  if (!frame->stack_id)
    return HEARTH_OK;
  HEARTH_TRY(hearth_match_frame(m->profile, m->sites, function, row, frame, &found, m->err));
  coverage_count(&m->coverage->callsites, found, m->salvaged);
  if (is_decision_site(m, row, frame))
    coverage_count(&m->coverage->decision_sites, found, m->salvaged);
  return HEARTH_OK;
}

static hearth_status measure_function(measuring *m, uint32_t row) {
  hearth_function_info function;
  uint64_t contexts = m->coverage->all.contexts;
  bool matched = true;
  HEARTH_TRY(hearth_profile_get_function(m->profile, row, &function, m->err));
  HEARTH_TRY(is_own(m, &function, &m->is_own));
  m->seen[row] = true;
  for (uint32_t i = 0; i < function.frame_count; i++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(m->profile, function.first_frame + i, &frame, m->err));
    HEARTH_TRY(count_callsite(m, function.id, function.first_frame + i, &frame));
    if (frame.context_count)
      HEARTH_TRY(measure_frame(m, function.id, function.first_frame + i, &frame, &matched));
  }
  bool has_any = m->coverage->all.contexts > contexts;
  m->coverage->all.functions += has_any;
  m->coverage->matched.functions += has_any && matched;
  m->coverage->salvaged.functions += has_any && matched && m->salvaged;
  return HEARTH_OK;
}

/* Row of the profile's function that `function` is; E_NOT_FOUND if it has none. */
static hearth_status find_row(const measuring *m, LLVMValueRef function, uint32_t *ret) {
  uint64_t id;
  if (LLVMIsDeclaration(function) || !hearth_locate_function(m->session->locator, function, &id))
    return HEARTH_E_NOT_FOUND;
  return hearth_profile_find_function(m->profile, id, ret, m->err);
}

/* Decision sites in functions of the module's file that it does not have. */
static hearth_status count_gone_sites(const measuring *m) {
  for (uint32_t i = 0; i < m->plan.site_count; i++) {
    hearth_frame_info frame;
    hearth_function_info function;
    bool is_gone;
    HEARTH_TRY(hearth_profile_get_frame(m->profile, m->plan.sites[i].frame, &frame, m->err));
    if (m->seen[frame.function])
      continue;
    HEARTH_TRY(hearth_profile_get_function(m->profile, frame.function, &function, m->err));
    HEARTH_TRY(is_own(m, &function, &is_gone));
    m->coverage->decision_sites.all += is_gone;
  }
  return HEARTH_OK;
}

static hearth_status measure_module(measuring *m) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m->session->module); f; f = LLVMGetNextFunction(f)) {
    uint32_t row;
    hearth_status status = find_row(m, f, &row);
    if (status == HEARTH_E_NOT_FOUND || (status == HEARTH_OK && m->seen[row]))
      continue;
    HEARTH_TRY(status);
    m->salvaged = hearth_locate_moved(m->session->locator, f);
    HEARTH_TRY(measure_function(m, row));
  }
  return count_gone_sites(m);
}

/* A function of the module's file. If the module does not have it, its places go to `unmatched`, too. */
static hearth_status measure_own(measuring *m, uint32_t row, const hearth_function_info *function) {
  hearth_file_sums *file = &m->coverage->file;
  for (uint32_t i = 0; i < function->frame_count; i++) {
    hearth_frame_info frame;
    hearth_unmatched gone = {.frame = function->first_frame + i, .reason = HEARTH_UNMATCHED_FUNCTION};
    HEARTH_TRY(hearth_profile_get_frame(m->profile, gone.frame, &frame, m->err));
    for (uint32_t k = frame.first_context; k < frame.first_context + frame.context_count; k++) {
      uint64_t bytes;
      HEARTH_TRY(hearth_profile_get_context_bytes(m->profile, k, &bytes, m->err));
      if (m->session->matcher->matched[k])
        file->matched += bytes;
      else if (!m->seen[row]) {
        gone.contexts++;
        gone.bytes += bytes;
      }
    }
    if (gone.contexts)
      HEARTH_TRY(add_unmatched(m, gone));
    if (!frame.library)
      file->lost += gone.bytes;
  }
  return HEARTH_OK;
}

/* Find the path under which the profile has functions of the module's file. */
static hearth_status coverage_find_file(measuring *m) {
  LLVMValueRef f = LLVMGetFirstFunction(m->session->module);
  for (; f && m->file_path == HEARTH_NONE; f = LLVMGetNextFunction(f)) {
    hearth_function_info function;
    uint32_t row;
    hearth_status status = find_row(m, f, &row);
    if (status == HEARTH_E_NOT_FOUND || (status == HEARTH_OK && !hearth_is_of_source_file(f)))
      continue;
    HEARTH_TRY(status);
    HEARTH_TRY(hearth_profile_get_function(m->profile, row, &function, m->err));
    m->file_path = function.path;
  }
  return HEARTH_OK;
}

/* Takes time in proportion to all functions of the profile; paths, which take most of it, are compared once or a few
 * times. */
static hearth_status measure_file(measuring *m) {
  enum { KNOWN_PATHS = 256 };
  struct {
    uint32_t path;
    bool is_known, is_own;
  } paths[KNOWN_PATHS] = {0};
  for (uint32_t row = 0, end = hearth_profile_function_count(m->profile); row < end; row++) {
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_function(m->profile, row, &function, m->err));
    unsigned i = function.path % KNOWN_PATHS;
    if (!paths[i].is_known || paths[i].path != function.path) {
      HEARTH_TRY(is_own(m, &function, &paths[i].is_own));
      paths[i].path = function.path;
      paths[i].is_known = true;
    }
    if (paths[i].is_own)
      HEARTH_TRY(measure_own(m, row, &function));
  }
  return HEARTH_OK;
}

static hearth_status measure_all(measuring *m, bool of_file) {
  if (m->session->options->by_word)
    HEARTH_TRY(hearth_profile_get_plan(m->profile, &m->plan, m->err));
  HEARTH_TRY(coverage_find_file(m));
  HEARTH_TRY(measure_module(m));
  if (of_file)
    return measure_file(m);
  m->coverage->file = (hearth_file_sums){0};
  return HEARTH_OK;
}

hearth_status hearth_coverage_measure(hearth_coverage *coverage, hearth_session *session,
                                      const hearth_call_sites *sites, bool of_file, hearth_error *err) {
  hearth_profile *profile = session->matcher->profile;
  measuring m = {.coverage = coverage,
                 .session = session,
                 .profile = profile,
                 .sites = sites,
                 .seen = calloc((size_t)hearth_profile_function_count(profile) + 1, sizeof *m.seen),
                 .file_path = HEARTH_NONE,
                 .err = err};
  hearth_status status = m.seen ? measure_all(&m, of_file) : hearth_error_nomem(err);
  free(m.seen);
  return status;
}

void hearth_coverage_free(hearth_coverage *coverage) {
  free(coverage->unmatched);
  memset(coverage, 0, sizeof *coverage);
}
