/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Salvages calls of changed functions, matches all calls, and measures the coverage, which warnings and the report
 * tell. Edits are applied at the end, and only if no error came up. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <llvm-c/DebugInfo.h>

#include "hearth/ir_facts.h"
#include "match.h"
#include "salvage.h"
#include "shim.h"

typedef struct annotation {
  hearth_session session;
  hearth_edits edits;
  hearth_error err;
  bool allocates, located;       /* the module has allocation calls; some of them with debug locations */
  hearth_context_sums nobuiltin; /* `count`: matched calls that get no hint, as they are no builtins; their bytes */
} annotation;

static void count_nobuiltin(annotation *a, LLVMValueRef call, const hearth_contexts *contexts) {
  if (a->session.options->nobuiltin || !hearth_alloc_is_by_name(call))
    return;
  hearth_context_sums found = hearth_sum_contexts(contexts);
  if (found.of_placement[HEARTH_CLASS_UNKNOWN] == found.count)
    return;
  a->nobuiltin.count++;
  a->nobuiltin.bytes += found.bytes;
}

/* Of a call that was just matched. `promoted_to`: NULL, or the function that it is to be compared with. */
static void note_matched(annotation *a, LLVMValueRef call, const char *promoted_to) {
  const hearth_edit *edit = &a->edits.items[a->edits.count - 1];
  count_nobuiltin(a, call, &edit->contexts);
  if (!hearth_shim_wants_remarks(call))
    return;
  hearth_context_sums found = hearth_sum_contexts(&edit->contexts);
  if (promoted_to)
    hearth_remark_promoted(call, &found, promoted_to);
  else
    hearth_remark_matched(call, &found, edit->salvaged);
}

static hearth_status match_allocation(annotation *a, LLVMValueRef call) {
  a->allocates = true;
  a->located |= hearth_ir_instruction_location(call) != NULL;
  HEARTH_TRY(hearth_session_match_allocation(&a->session, call, &a->edits, &a->err));
  note_matched(a, call, NULL);
  return HEARTH_OK;
}

static hearth_status match_pointer_call(annotation *a, LLVMValueRef call) {
  const char *why, *function = hearth_pointer_callee(call, &why);
  if (!function)
    return HEARTH_E_NOT_FOUND;
  HEARTH_TRY(hearth_session_match_pointer_call(&a->session, call, &a->edits, &a->err));
  note_matched(a, call, function);
  return HEARTH_E_NOT_FOUND; /* where it leads to other functions, it may be a caller in contexts */
}

static void annotate_visit(LLVMValueRef instruction, void *data) {
  annotation *a = data;
  if (a->err.status != HEARTH_OK || !hearth_ir_is_caller(instruction))
    return;
  hearth_status status = HEARTH_E_NOT_FOUND;
  if (hearth_alloc_function_of(instruction))
    status = match_allocation(a, instruction);
  else if (hearth_is_pointer_call(instruction))
    status = match_pointer_call(a, instruction);
  if (status == HEARTH_E_NOT_FOUND)
    status = hearth_session_match_callsite(&a->session, instruction, &a->edits, &a->err);
  if (status != HEARTH_E_NOT_FOUND)
    a->err.status = status;
}

#define SILENCE "-memprof-coverage-threshold=0 silences this)"

/* Unless the user wants no warnings of coverage. */
__attribute__((format(printf, 2, 3))) static void warn(const hearth_session *session, const char *format, ...) {
  char message[1024];
  va_list arguments;
  if (session->options->coverage_threshold == 0)
    return;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  hearth_shim_warn(session->module, session->options->profile, message);
}

static const char *source_of(const hearth_session *session) {
  size_t length;
  return LLVMGetSourceFileName(session->module, &length);
}

/* Rounded down; 100 if there are none. */
static unsigned percent_of(uint64_t part, uint64_t all) {
  return all ? (unsigned)((double)part * 100 / (double)all) : 100;
}

/* False if there is nothing to warn of. Bytes are those of the module's allocation calls; where all go through a
 * wrapper, how much its callers changed shows in call sites only. */
static bool warn_of_coverage(const hearth_session *session, const hearth_coverage *coverage) {
  unsigned bytes = percent_of(coverage->matched.bytes, coverage->all.bytes);
  unsigned callsites = percent_of(coverage->callsites.matched, coverage->callsites.all);
  unsigned decision_sites = percent_of(coverage->decision_sites.matched, coverage->decision_sites.all);
  unsigned threshold = session->options->coverage_threshold;
  if (bytes >= threshold && callsites >= threshold && decision_sites >= threshold)
    return false;
  char decisions[64] = "";
  if (coverage->decision_sites.all)
    snprintf(decisions, sizeof decisions, " (of the decision sites %u %%)", decision_sites);
  warn(session,
       "heap profile matches %u %% of the bytes and %u %% of the call sites%s that it has for %.256s (%" PRIu64
       " of %" PRIu64 " contexts, %" PRIu64
       " of them salvaged): the source, or the compiler, has changed since; profile the program again "
       "(-memprof-report=FILE lists the places that were not found, " SILENCE,
       bytes, callsites, decisions, source_of(session), coverage->matched.contexts, coverage->all.contexts,
       coverage->salvaged.contexts);
  return true;
}

/* Some of its functions may have other names now: no share of the bytes that the profile has for the module's own
 * shows that. */
static void warn_of_file(const hearth_session *session, const hearth_coverage *coverage) {
  uint64_t all = coverage->file.matched + coverage->file.lost;
  unsigned bytes = percent_of(coverage->file.matched, all);
  if (bytes < session->options->coverage_threshold)
    warn(session,
         "heap profile matches %u %% of the %" PRIu64
         " bytes that it has for %.256s: functions have other names or types now, or the source, or the compiler, has "
         "changed otherwise; profile the program again (-memprof-report=FILE lists the places that were not "
         "found, " SILENCE,
         bytes, all, source_of(session));
}

/* A module that is not in the profile may simply not allocate. But if the profile has functions of its names in
 * another file, all hints are lost: warn. */
static hearth_status warn_of_namesake(const hearth_session *session, hearth_error *err) {
  const hearth_salvage *salvage = session->matcher->salvage;
  hearth_profile *profile = session->matcher->profile;
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  if (!salvage || salvage->namesake == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_function(profile, salvage->namesake, &function, err));
  HEARTH_TRY(hearth_profile_get_path(profile, function.path, path, sizeof path, err));
  warn(session,
       "heap profile has nothing for %.256s, but a function named '%.200s' in %.256s: it is another program's, or the "
       "file was renamed and its code has changed since; profile this program (" SILENCE,
       source_of(session), function.name, path);
  return HEARTH_OK;
}

/* Calls that nobody can tell apart are placed as without a profile, whatever the coverage is. */
static void warn_of_doubts(const hearth_session *session) {
  const hearth_salvage *salvage = session->matcher->salvage;
  for (size_t i = 0; salvage && i < salvage->n_doubtful; i++) {
    const hearth_doubtful_function *doubtful = &salvage->doubtful[i];
    size_t name_length, file_length;
    const char *name = LLVMGetValueName2(doubtful->function, &name_length);
    const char *file = hearth_ir_subprogram_file(LLVMGetSubprogram(doubtful->function), &file_length);
    warn(session,
         "heap profile not used for calls in '%.*s' from %.*s:%u on: the function has changed since, and calls of one "
         "function can no longer be told apart; profile the program again (" SILENCE,
         (int)(name_length < 256 ? name_length : 256), name, (int)(file_length < 400 ? file_length : 400),
         file ? file : "", doubtful->line);
  }
}

/* The place of most bytes that a pointer or a function of the program's leads to; NULL if there is none. Functions
 * of ours do where the module was lowered before. */
static const hearth_unmatched *heaviest_elsewhere(const hearth_coverage *coverage) {
  const hearth_unmatched *heaviest = NULL;
  for (size_t i = 0; i < coverage->n_unmatched; i++) {
    const hearth_unmatched *place = &coverage->unmatched[i];
    bool is_elsewhere = place->reason == HEARTH_UNMATCHED_POINTER || place->reason == HEARTH_UNMATCHED_CALLEE;
    bool is_lowered = place->callee && hearth_is_dispatch(place->callee);
    if (is_elsewhere && !is_lowered && !place->in_library && (!heaviest || place->bytes > heaviest->bytes))
      heaviest = place;
  }
  return heaviest;
}

/* Coverage leaves out what no hint can reach. A module all of whose blocks are such says so if they matter to the
 * program. Of libraries, `hearth index` tells. */
static hearth_status warn_of_elsewhere(const hearth_session *session, const hearth_coverage *coverage,
                                       hearth_error *err) {
  enum { PERCENT_OF_PROFILE = 10 };
  uint64_t bytes = coverage->elsewhere.bytes - coverage->library.bytes;
  const hearth_unmatched *place = heaviest_elsewhere(coverage);
  hearth_profile *profile = session->matcher->profile;
  hearth_profile_summary summary;
  hearth_frame_info frame;
  hearth_function_info function;
  if (!place || coverage->matched.bytes > 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  double percent = (double)bytes * 100 / (double)summary.total_bytes;
  if (percent < PERCENT_OF_PROFILE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_frame(profile, place->frame, &frame, err));
  HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
  warn(session,
       "%.0f %% of the heap profile's bytes are allocated in %.256s where no hint reaches them, most in '%.200s': %s; "
       "-Rpass-missed=hearth and -memprof-report=FILE name the calls (" SILENCE,
       percent, source_of(session), function.name,
       place->reason == HEARTH_UNMATCHED_POINTER
           ? "by a call through a pointer that cannot be compared with malloc; call malloc by its name, or through "
             "a pointer of its type"
           : "in a function that was profiled without debug information; compile it with the profiling flags");
  return HEARTH_OK;
}

/* Found, and of no use: coverage counts them as matched. */
static void warn_of_nobuiltin(const annotation *a) {
  if (a->nobuiltin.count)
    warn(&a->session,
         "%zu allocation calls of the profile in %.256s, with %" PRIu64
         " bytes, get no hint: they are no builtins (-fno-builtin, -fno-builtin-malloc, or operator new called by "
         "name); '-mllvm -optimize-nobuiltin-hot-cold-new-new' gives hints to them too (" SILENCE,
         a->nobuiltin.count, source_of(&a->session), a->nobuiltin.bytes);
}

/* Tells the user how much of the profile was found. The module does not depend on it. */
static hearth_status report_coverage(annotation *a) {
  const hearth_pass_options *options = a->session.options;
  hearth_error report_err = {HEARTH_OK, ""};
  hearth_call_sites sites = {0};
  hearth_coverage coverage = {0};
  bool report = *options->report;
  hearth_status status = hearth_call_sites_collect(&sites, a->session.module, a->session.locator, &a->err);
  if (status == HEARTH_OK)
    status = hearth_coverage_measure(&coverage, &a->session, &sites, report || a->allocates, &a->err);
  if (status == HEARTH_OK && !warn_of_coverage(&a->session, &coverage) && a->allocates)
    warn_of_file(&a->session, &coverage);
  if (status == HEARTH_OK)
    status = warn_of_elsewhere(&a->session, &coverage, &a->err);
  if (status == HEARTH_OK && report &&
      hearth_match_report_append(options->report, &a->session, &coverage, &report_err) != HEARTH_OK)
    hearth_shim_warn(a->session.module, options->report, report_err.message);
  hearth_coverage_free(&coverage);
  hearth_call_sites_free(&sites);
  return status;
}

bool hearth_pass_annotate(LLVMModuleRef module, const hearth_pass_options *options) {
  annotation a = {.err = {HEARTH_OK, ""}};
  bool changed = false;
  if (hearth_session_open(&a.session, module, options) && a.session.matcher) {
    a.err.status = hearth_session_salvage(&a.session, &a.err);
    hearth_ir_for_each_instruction(module, annotate_visit, &a);
    if (a.allocates && !a.located)
      hearth_error_set(&a.err, HEARTH_E_NO_DEBUG_INFO,
                       "the module's allocation calls have no debug locations to find them by; compile with -gmlt "
                       "-fdebug-info-for-profiling");
    if (a.err.status == HEARTH_OK)
      a.err.status = report_coverage(&a);
    if (a.err.status == HEARTH_OK)
      a.err.status = warn_of_namesake(&a.session, &a.err);
    if (a.err.status == HEARTH_OK) {
      warn_of_doubts(&a.session);
      warn_of_nobuiltin(&a);
      changed = hearth_session_apply(&a.session, &a.edits);
      changed |= hearth_pass_nomerge(module, false);
    } else {
      hearth_session_fail(&a.session, &a.err);
    }
  }
  hearth_edits_free(&a.edits);
  hearth_session_close(&a.session);
  return changed;
}

/* ------------------------------------------------ pass nomerge ------------------------------------------------ */

/* Two arms of a branch that call one helper are one call with an unknown column after hoisting or sinking: the contexts
 * they stand for are lost, in the profile as in the code. */

typedef struct marking {
  bool all_calls, changed;
} marking;

static void pass_nomerge_visit(LLVMValueRef instruction, void *data) {
  marking *m = data;
  if (m->all_calls ? !hearth_ir_is_caller(instruction) : !hearth_alloc_function_of(instruction))
    return;
  hearth_forbid_merging(instruction);
  m->changed = true;
}

bool hearth_pass_nomerge(LLVMModuleRef module, bool all_calls) {
  marking m = {.all_calls = all_calls};
  hearth_ir_for_each_instruction(module, pass_nomerge_visit, &m);
  return m.changed;
}
