/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One pass over one module with the profile at hand. The part that was read is kept for the next pass. */
#ifndef HEARTH_SESSION_H
#define HEARTH_SESSION_H

#include "hearth/md.h"
#include "match.h"
#include "passes.h"

typedef struct hearth_session {
  LLVMModuleRef module;
  const hearth_pass_options *options;
  hearth_matcher *matcher; /* of the options; NULL where no profile was given */
  enum hearth_id_scheme scheme;
  hearth_moved_calls moved; /* the module's notes on functions that changed (salvage.h) */
  hearth_locator *locator;
  hearth_md *md;
  hearth_call_sites sites; /* where they are now, if this session was the module's first; else none */
  enum { HEARTH_IDS_NOT_COMPARED, HEARTH_IDS_OURS, HEARTH_IDS_FOREIGN } ids;
} hearth_session;

/* The attachments for one call: all of them are computed before the module changes. */
typedef struct hearth_edit {
  LLVMValueRef call;
  uint64_t *callsite;
  size_t n_callsite;
  bool through_pointer;     /* the call is to be promoted first (hearth_promote_pointer_call) */
  bool salvaged;            /* the call, or one that it was inlined by, is in a function that has changed */
  hearth_contexts contexts; /* none: only `!callsite` */
} hearth_edit;

typedef struct hearth_edits {
  hearth_edit *items;
  size_t count, capacity;
} hearth_edits;

/* False when the profile cannot be used; the user has then been told. Close in either case. */
bool hearth_session_open(hearth_session *session, LLVMModuleRef module, const hearth_pass_options *options);
void hearth_session_close(hearth_session *session);
/* From now on, calls of functions that have changed since they were profiled are where they were then. */
hearth_status hearth_session_salvage(hearth_session *session, hearth_error *err);
/* Are the ids in the module Hearth's hashes of debug locations? In a module that clang's own heap profiling
 * annotated they are not. True where no id can be compared. */
bool hearth_session_ids_are_ours(hearth_session *session);
/* Tell the user that the profile could not be used, and why. Returns false. */
bool hearth_session_fail(hearth_session *session, const hearth_error *err);

/* Match an allocation call; on OK an edit was added. E_NOT_FOUND: the profile says nothing about it. */
hearth_status hearth_session_match_allocation(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                              hearth_error *err);
/* The same for a call through a pointer that can be promoted; also E_NOT_FOUND: its contexts are too light for hints. */
hearth_status hearth_session_match_pointer_call(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                                hearth_error *err);
/* The same for a call that may be a caller in contexts. */
hearth_status hearth_session_match_callsite(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                            hearth_error *err);
/* Carry out all edits; returns whether the module changed. */
bool hearth_session_apply(hearth_session *session, hearth_edits *edits);
void hearth_edits_free(hearth_edits *edits);

/* Mark a call `nomerge`: it is told apart by its location only. */
void hearth_forbid_merging(LLVMValueRef call);

#endif
