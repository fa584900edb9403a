/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opens the profile once for a pipeline (the matcher keeps it), and a locator and a metadata handle for each pass.
 * Edits are listed first and applied together: on an error the module is unchanged. */
#include "match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ir_facts.h"
#include "salvage.h"
#include "shim.h"

/* A cache of objects would keep an object that is compiled without the profile under the profile's id, and give it out
 * when the profile is there. It does not keep failed compiles: `refuse`. */
static bool session_give_up(hearth_session *session, const hearth_error *err, bool refuse) {
  const char *file = session->options->profile, *message = err->message;
  if (session->matcher) /* its data may be incomplete */
    hearth_matcher_close(session->matcher);
  /* Most messages begin with the file's name; the diagnostic names it already. */
  size_t length = strlen(file);
  if (strncmp(message, file, length) == 0 && strncmp(message + length, ": ", 2) == 0)
    message += length + 2;
  char text[sizeof err->message + 64] = "heap profile not used: ";
  strncat(text, message, sizeof text - strlen(text) - 1);
  (refuse ? hearth_shim_refuse : hearth_shim_warn)(session->module, file, text);
  return false;
}

bool hearth_session_fail(hearth_session *session, const hearth_error *err) {
  return session_give_up(session, err, false);
}

static hearth_status check_id(const hearth_pass_options *options, const hearth_profile *profile, hearth_error *err) {
  uint64_t id = hearth_profile_id(profile);
  if (!options->profile_id || options->profile_id == id)
    return HEARTH_OK;
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "it is not the one that the flags are for (its id is %016" PRIx64
                          ", -memprof-profile-id says %016" PRIx64
                          "): take flags anew from 'hearth flags use', for all files",
                          id, options->profile_id);
}

static hearth_status session_open_profile(hearth_session *session, enum hearth_id_scheme *ret_scheme,
                                          hearth_error *err) {
  const hearth_pass_options *options = session->options;
  hearth_profile_summary summary;
  if (!options->matcher)
    return hearth_error_nomem(err);
  HEARTH_TRY(hearth_matcher_open(options->matcher, options->profile, options, err));
  session->matcher = options->matcher;
  HEARTH_TRY(check_id(options, session->matcher->profile, err));
  HEARTH_TRY(hearth_profile_get_summary(session->matcher->profile, &summary, err));
  *ret_scheme = summary.id_scheme;
  return HEARTH_OK;
}

/* The type of blocks is among the values if the profile knows any, the pool if its plan has some. */
static void session_choose_schema(hearth_session *session) {
  hearth_md_schema schema;
  if (!session->matcher)
    return;
  const hearth_placer *placer = &session->matcher->placer;
  hearth_md_schema_default(&schema);
  if (hearth_profile_type_count(session->matcher->profile) > 0)
    schema.tags[schema.count++] = HEARTH_TAG_DataTypeId;
  if (placer->by_plan && placer->plan.call_count > 0)
    schema.tags[schema.count++] = HEARTH_TAG_Pool;
  hearth_md_use_schema(session->md, &schema);
}

/* Of the module when it was compiled: by comparison with the profile, or as that told the link. It holds in sessions
 * without the profile, too: ids in metadata are those of old places. */
static const hearth_moved_calls *known_moves(const hearth_session *session) {
  const hearth_salvage *salvage = session->options->matcher ? session->options->matcher->salvage : NULL;
  return salvage && salvage->moved.n_functions ? &salvage->moved : &session->moved;
}

static hearth_status make_locator(hearth_session *session, hearth_error *err) {
  const hearth_matcher *matcher = session->options->matcher;
  hearth_locator_destroy(session->locator);
  session->locator = hearth_locator_create(session->scheme, known_moves(session),
                                           matcher && matcher->knows_crowded ? &matcher->crowded : NULL);
  return session->locator ? HEARTH_OK : hearth_error_nomem(err);
}

/* Facts about the module's places that must be known before matching. All passes use the state before the first of
 * them: later, calls that stood beside others may be gone. */
static hearth_status know_module(hearth_session *session, hearth_error *err) {
  hearth_matcher *matcher = session->matcher;
  if (!matcher || matcher->knows_crowded)
    return HEARTH_OK;
  hearth_locator *locator = hearth_locator_create(session->scheme, NULL, NULL);
  hearth_status status =
      locator ? hearth_call_sites_collect(&session->sites, session->module, locator, err) : hearth_error_nomem(err);
  hearth_locator_destroy(locator);
  if (status == HEARTH_OK)
    status = hearth_call_sites_find_crowded(&matcher->crowded, &session->sites, err);
  matcher->knows_crowded = status == HEARTH_OK;
  return status;
}

bool hearth_session_open(hearth_session *session, LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_error err = {HEARTH_OK, ""};
  memset(session, 0, sizeof *session);
  session->module = module;
  session->options = options;
  session->scheme = HEARTH_IDS_HEARTH;
  if (*options->profile && session_open_profile(session, &session->scheme, &err) != HEARTH_OK)
    return session_give_up(session, &err, options->profile_id != 0);
  session->md = hearth_md_create(module);
  hearth_moved_calls_read(module, &session->moved);
  if (!session->md)
    hearth_error_nomem(&err);
  if (!session->md || know_module(session, &err) != HEARTH_OK || make_locator(session, &err) != HEARTH_OK)
    return hearth_session_fail(session, &err);
  session_choose_schema(session);
  return true;
}

hearth_status hearth_session_salvage(hearth_session *session, hearth_error *err) {
  hearth_matcher *matcher = session->matcher;
  if (matcher->salvage || !session->options->salvage)
    return HEARTH_OK;
  if (!session->sites.count)
    HEARTH_TRY(hearth_call_sites_collect(&session->sites, session->module, session->locator, err));
  HEARTH_TRY(hearth_salvage_create(session->module, matcher->profile, &matcher->placer, session->locator,
                                   &session->sites, &matcher->salvage, err));
  return matcher->salvage->moved.n_functions ? make_locator(session, err) : HEARTH_OK;
}

void hearth_session_close(hearth_session *session) {
  hearth_call_sites_free(&session->sites);
  hearth_locator_destroy(session->locator);
  hearth_moved_calls_free(&session->moved);
  hearth_md_destroy(session->md);
}

static void session_compare_ids(LLVMValueRef instruction, void *data) {
  hearth_session *session = data;
  hearth_location chain[HEARTH_CHAIN_MAX];
  uint64_t own_id;
  if (session->ids == HEARTH_IDS_OURS || !hearth_ir_is_call(instruction) ||
      hearth_md_get_callsite(session->md, instruction, &own_id, 1) == 0 || own_id == 0)
    return;
  for (size_t i = 0, n = hearth_locate(session->locator, instruction, chain); i < n; i++)
    if (chain[i].id == own_id)
      session->ids = HEARTH_IDS_OURS;
    else if (session->ids == HEARTH_IDS_NOT_COMPARED)
      session->ids = HEARTH_IDS_FOREIGN;
}

bool hearth_session_ids_are_ours(hearth_session *session) {
  if (session->ids == HEARTH_IDS_NOT_COMPARED)
    hearth_ir_for_each_instruction(session->module, session_compare_ids, session);
  if (session->ids == HEARTH_IDS_NOT_COMPARED)
    session->ids = HEARTH_IDS_OURS;
  return session->ids == HEARTH_IDS_OURS;
}

/* A new edit with the ids of chain[0..n); NULL when out of memory. */
static hearth_edit *add_edit(hearth_edits *edits, LLVMValueRef call, const hearth_location *chain, size_t n) {
  if (!hearth_array_grow(&edits->items, &edits->capacity, edits->count, sizeof *edits->items))
    return NULL;
  hearth_edit *edit = &edits->items[edits->count];
  *edit = (hearth_edit){.call = call, .n_callsite = n, .callsite = malloc(n * sizeof *edit->callsite)};
  if (!edit->callsite)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    edit->callsite[i] = chain[i].id;
    edit->salvaged |= chain[i].moved;
  }
  edits->count++;
  return edit;
}

static void free_edit(hearth_edit *edit) {
  free(edit->callsite);
  hearth_contexts_free(&edit->contexts);
}

void hearth_edits_free(hearth_edits *edits) {
  for (size_t i = 0; i < edits->count; i++)
    free_edit(&edits->items[i]);
  free(edits->items);
  memset(edits, 0, sizeof *edits);
}

hearth_status hearth_session_match_allocation(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                              hearth_error *err) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  hearth_contexts contexts;
  size_t leaf, end, n = hearth_locate(session->locator, call, chain);
  hearth_status status = hearth_match_allocation(session->matcher, chain, n, &contexts, &leaf, &end, err);
  if (status != HEARTH_OK)
    return status;
  hearth_edit *edit = add_edit(edits, call, chain + leaf, end - leaf);
  if (!edit) {
    hearth_contexts_free(&contexts);
    return hearth_error_nomem(err);
  }
  edit->contexts = contexts;
  return HEARTH_OK;
}

hearth_status hearth_session_match_pointer_call(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                                hearth_error *err) {
  HEARTH_TRY(hearth_session_match_allocation(session, call, edits, err));
  hearth_edit *edit = &edits->items[edits->count - 1];
  edit->through_pointer = true;
  if (edit->contexts.placements != hearth_placement_bit(HEARTH_CLASS_UNKNOWN))
    return HEARTH_OK;
  free_edit(edit);
  edits->count--;
  return HEARTH_E_NOT_FOUND;
}

hearth_status hearth_session_match_callsite(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                            hearth_error *err) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  size_t n = hearth_locate(session->locator, call, chain);
  hearth_status status = hearth_match_callsite(session->matcher, chain, n, err);
  if (status == HEARTH_OK && !add_edit(edits, call, chain, n))
    return hearth_error_nomem(err);
  return status;
}

static void attach_contexts(hearth_session *session, const hearth_edit *edit) {
  const hearth_contexts *contexts = &edit->contexts;
  hearth_md_mib *mibs = calloc(contexts->count, sizeof *mibs);
  if (!mibs)
    return;
  for (size_t i = 0; i < contexts->count; i++) {
    const hearth_context *context = &contexts->items[i];
    mibs[i].stack = context->stack;
    mibs[i].depth = context->depth;
    mibs[i].hotness = hearth_placer_class(&session->matcher->placer, context->placement);
    mibs[i].pool = context->placement >= HEARTH_PLACEMENT_POOL ? context->placement : 0;
    hearth_md_mib_set_all(&mibs[i], &context->mib);
  }
  hearth_md_attach(session->md, edit->call, edit->callsite, edit->n_callsite, mibs, contexts->count);
  if (contexts->has_dormant)
    hearth_alloc_note_dormant(edit->call);
  free(mibs);
}

void hearth_forbid_merging(LLVMValueRef call) {
  unsigned kind = LLVMGetEnumAttributeKindForName("nomerge", strlen("nomerge"));
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
}

/* Of contexts that are matched: metadata may lack them (-memprof-contexts). */
static bool are_frequent(const hearth_session *session, const hearth_contexts *contexts) {
  hearth_profile_summary summary;
  uint64_t allocs = 0;
  if (!session->options->fast_path ||
      hearth_profile_get_summary(session->matcher->profile, &summary, NULL) != HEARTH_OK)
    return false;
  for (size_t i = 0; i < contexts->count; i++)
    allocs = hearth_merge_SUM(allocs, contexts->items[i].mib.AllocCount);
  return (double)allocs * 100 >= (double)summary.total_allocs * session->options->fast_path;
}

bool hearth_session_apply(hearth_session *session, hearth_edits *edits) {
  bool changed = edits->count > 0;
  for (size_t i = 0; i < edits->count; i++) {
    hearth_edit *edit = &edits->items[i];
    if (edit->through_pointer)
      edit->call = hearth_promote_pointer_call(edit->call);
    if (edit->contexts.count) {
      hearth_alloc_note_frame(edit->call);
      hearth_alloc_note_frequent(edit->call, are_frequent(session, &edit->contexts));
      attach_contexts(session, edit);
    } else {
      hearth_md_set_callsite(session->md, edit->call, edit->callsite, edit->n_callsite);
    }
    hearth_forbid_merging(edit->call);
  }
  hearth_edits_free(edits);
  return changed;
}
