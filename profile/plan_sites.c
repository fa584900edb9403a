/* First step of planning: allocation calls whose contexts differ, and the call sites at which these part. */
#include <stdlib.h>
#include <string.h>

#include "hearth/classify.h"
#include "plan_internal.h"

#define DEPTH_MAX      256u               /* callers looked at from an allocation outwards */
#define WORK_MAX       UINT64_C(50000000) /* steps: a profile that needs more gets a plan of what was seen until then */
#define CONTEXTS_MAX   100000u            /* of all allocation calls but the one that matters most */
#define CHAIN_MAX      64u   /* callers that contexts of one class share, of which each may become a site */
#define CANDIDATES_MAX 4096u /* those that most bytes go through */

/* -------------------------------------------------- leaves -------------------------------------------------- */

typedef struct leaf_frame {
  uint64_t stack_id;
  uint32_t frame;
} leaf_frame;

static int compare_leaf_frames(const void *a, const void *b) {
  const leaf_frame *x = a, *y = b;
  return x->stack_id != y->stack_id ? (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id)
                                    : (x->frame > y->frame) - (x->frame < y->frame);
}

static hearth_status list_leaf_frames(planner *p, leaf_frame **ret, size_t *ret_count) {
  size_t room = 0;
  *ret = NULL;
  *ret_count = 0;
  for (uint32_t i = 0; i < hearth_profile_frame_count(p->profile); i++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(p->profile, i, &frame, p->err));
    if (frame.context_count == 0 || frame.stack_id == 0)
      continue;
    HEARTH_TRY(plan_grow(p, (void **)ret, *ret_count, &room, sizeof **ret));
    (*ret)[(*ret_count)++] = (leaf_frame){frame.stack_id, i};
  }
  if (*ret_count)
    qsort(*ret, *ret_count, sizeof **ret, compare_leaf_frames);
  return HEARTH_OK;
}

static hearth_status add_contexts(planner *p, const hearth_classifier *classifier, uint32_t row) {
  hearth_frame_info frame;
  HEARTH_TRY(hearth_profile_get_frame(p->profile, row, &frame, p->err));
  for (uint32_t i = 0; i < frame.context_count; i++) {
    hearth_mib mib;
    uint32_t node, leaf_frame, caller;
    HEARTH_TRY(hearth_profile_get_context(p->profile, frame.first_context + i, &node, &mib, p->err));
    HEARTH_TRY(hearth_profile_get_stack(p->profile, node, &leaf_frame, &caller, p->err));
    p->total_bytes += mib.TotalSize;
    HEARTH_TRY(plan_grow(p, (void **)&p->contexts, p->context_count, &p->context_room, sizeof *p->contexts));
    p->contexts[p->context_count++] = (plan_context){.node = caller,
                                                     .caller = caller,
                                                     .bytes = mib.TotalSize,
                                                     .allocs = mib.AllocCount,
                                                     .hotness = hearth_classify(classifier, &mib)};
  }
  return HEARTH_OK;
}

static bool differ(const plan_context *contexts, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (contexts[i].hotness != contexts[0].hotness)
      return true;
  return false;
}

static hearth_status add_leaves(planner *p, const leaf_frame *frames, size_t count,
                                const hearth_classifier *classifier) {
  for (size_t i = 0, end; i < count; i = end) {
    size_t first = p->context_count;
    for (end = i; end < count && frames[end].stack_id == frames[i].stack_id; end++)
      HEARTH_TRY(add_contexts(p, classifier, frames[end].frame));
    if (!differ(p->contexts + first, p->context_count - first)) {
      p->context_count = first;
      continue;
    }
    HEARTH_TRY(plan_grow(p, (void **)&p->leaves, p->leaf_count, &p->leaf_room, sizeof *p->leaves));
    p->leaves[p->leaf_count++] = (plan_leaf){.stack_id = frames[i].stack_id,
                                             .frame = frames[i].frame,
                                             .first_context = (uint32_t)first,
                                             .context_count = (uint32_t)(p->context_count - first)};
  }
  return HEARTH_OK;
}

static uint64_t at_stake(const planner *p, const plan_leaf *leaf) {
  uint64_t bytes[4] = {0}, sum = 0, most = 0;
  for (uint32_t i = 0; i < leaf->context_count; i++)
    bytes[p->contexts[leaf->first_context + i].hotness] += p->contexts[leaf->first_context + i].bytes;
  for (int i = 0; i < 4; i++) {
    sum += bytes[i];
    most = bytes[i] > most ? bytes[i] : most;
  }
  return sum - most;
}

static int compare_by_stake(const void *a, const void *b) {
  const plan_leaf *x = a, *y = b;
  return x->at_stake != y->at_stake ? (x->at_stake < y->at_stake) - (x->at_stake > y->at_stake)
                                    : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static int compare_leaves(const void *a, const void *b) {
  const plan_leaf *x = a, *y = b;
  return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* Of a profile with very many contexts, the allocation calls whose hints matter most, so that planning takes no longer
 * than indexing. */
static void keep_what_matters(planner *p) {
  size_t kept = 0, contexts = 0;
  if (p->context_count <= CONTEXTS_MAX)
    return;
  for (size_t i = 0; i < p->leaf_count; i++)
    p->leaves[i].at_stake = at_stake(p, &p->leaves[i]);
  qsort(p->leaves, p->leaf_count, sizeof *p->leaves, compare_by_stake);
  while (kept < p->leaf_count && (kept == 0 || contexts + p->leaves[kept].context_count <= CONTEXTS_MAX))
    contexts += p->leaves[kept++].context_count;
  p->leaf_count = kept;
  qsort(p->leaves, p->leaf_count, sizeof *p->leaves, compare_leaves);
}

hearth_status plan_find_leaves(planner *p) {
  leaf_frame *frames;
  size_t count;
  hearth_classifier classifier;
  HEARTH_TRY(hearth_classifier_init(&classifier, p->profile, NULL, p->err));
  hearth_status status = list_leaf_frames(p, &frames, &count);
  if (status == HEARTH_OK)
    status = add_leaves(p, frames, count, &classifier);
  if (status == HEARTH_OK)
    keep_what_matters(p);
  free(frames);
  return status;
}

/* ------------------------------------------------ candidates ------------------------------------------------ */

typedef struct refining {
  planner *p;
  uint64_t work; /* steps that are left */
} refining;

static bool is_candidate(const void *owner, uint32_t item, const void *key) {
  const planner *p = owner;
  return p->candidates[item].stack_id == *(const uint64_t *)key;
}

static hearth_status add_candidate(planner *p, uint64_t stack_id, uint32_t frame, uint64_t bytes, uint32_t depth) {
  uint64_t hash = id_table_mix(stack_id);
  uint32_t found = id_table_find(&p->candidate_table, hash, is_candidate, p, &stack_id);
  if (found == HEARTH_NONE) {
    HEARTH_TRY(plan_grow(p, (void **)&p->candidates, p->candidate_count, &p->candidate_room, sizeof *p->candidates));
    if (!id_table_reserve(&p->candidate_table))
      return hearth_error_set(p->err, HEARTH_E_NOMEM, "out of memory planning");
    found = (uint32_t)p->candidate_count++;
    p->candidates[found] = (plan_candidate){.stack_id = stack_id, .frame = frame};
    id_table_insert(&p->candidate_table, hash, found);
  }
  plan_candidate *c = &p->candidates[found];
  c->bytes += bytes;
  c->depth = c->depth > depth ? c->depth : depth;
  c->frame = c->frame < frame ? c->frame : frame;
  return HEARTH_OK;
}

static uint64_t bytes_of(const plan_context *contexts, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    bytes += contexts[i].bytes;
  return bytes;
}

/* The callers, from the next one outwards, that all these contexts share; their number. */
static hearth_status shared_callers(refining *r, const plan_context *contexts, size_t count, uint32_t frames[CHAIN_MAX],
                                    uint32_t *ret_length) {
  planner *p = r->p;
  uint32_t nodes[CHAIN_MAX], length = 0;
  for (uint32_t node = contexts[0].node; node != HEARTH_NONE && length < CHAIN_MAX; length++) {
    nodes[length] = node;
    HEARTH_TRY(hearth_profile_get_stack(p->profile, node, &frames[length], &node, p->err));
  }
  for (size_t i = 1; i < count; i++) {
    uint32_t node = contexts[i].node, same = 0;
    for (; same < length && node != nodes[same]; same++) {
      uint32_t frame = HEARTH_NONE;
      if (node != HEARTH_NONE)
        HEARTH_TRY(hearth_profile_get_stack(p->profile, node, &frame, &node, p->err));
      if (frame != frames[same])
        length = same;
    }
    r->work -= r->work > same ? same : r->work;
  }
  *ret_length = length;
  return HEARTH_OK;
}

/* All calls that contexts share from where they are known to be of one class tell them apart equally well, and the outer
 * ones run less often. */
static hearth_status add_shared_callers(refining *r, const plan_context *contexts, size_t count, uint32_t depth) {
  uint32_t frames[CHAIN_MAX], length;
  uint64_t bytes = bytes_of(contexts, count);
  HEARTH_TRY(shared_callers(r, contexts, count, frames, &length));
  for (uint32_t i = 0; i < length; i++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(r->p->profile, frames[i], &frame, r->p->err));
    if (frame.stack_id)
      HEARTH_TRY(add_candidate(r->p, frame.stack_id, frames[i], bytes, depth + i));
  }
  return HEARTH_OK;
}

static int compare_keys(const void *a, const void *b) {
  const plan_context *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

/* Moves each context to its next caller; 0 is the key of one that has none, or is at an unknown place. */
static hearth_status step_outwards(planner *p, plan_context *context, uint32_t *ret_frame) {
  hearth_frame_info frame;
  context->key = 0;
  *ret_frame = HEARTH_NONE;
  if (context->node == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_stack(p->profile, context->node, ret_frame, &context->node, p->err));
  HEARTH_TRY(hearth_profile_get_frame(p->profile, *ret_frame, &frame, p->err));
  context->key = frame.stack_id;
  return HEARTH_OK;
}

/* Contexts that have come the same way so far, and differ. */
static hearth_status refine(refining *r, plan_context *contexts, size_t count, uint32_t depth) {
  if (depth >= DEPTH_MAX || r->work < count)
    return HEARTH_OK;
  r->work -= count;
  bool more = false;
  for (size_t i = 0; i < count; i++) {
    uint32_t frame;
    HEARTH_TRY(step_outwards(r->p, &contexts[i], &frame));
    more |= frame != HEARTH_NONE;
    if (contexts[i].key)
      HEARTH_TRY(add_candidate(r->p, contexts[i].key, frame, contexts[i].bytes, depth));
  }
  if (!more)
    return HEARTH_OK;
  qsort(contexts, count, sizeof *contexts, compare_keys);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && contexts[end].key == contexts[i].key; end++)
      ;
    if (differ(contexts + i, end - i))
      HEARTH_TRY(refine(r, contexts + i, end - i, depth + 1));
    else
      HEARTH_TRY(add_shared_callers(r, contexts + i, end - i, depth + 1));
  }
  return HEARTH_OK;
}

static int compare_by_bytes(const void *a, const void *b) {
  const plan_candidate *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                              : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static int compare_by_id(const void *a, const void *b) {
  const plan_candidate *x = a, *y = b;
  return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

hearth_status plan_find_candidates(planner *p) {
  refining r = {.p = p, .work = WORK_MAX};
  for (size_t i = 0; i < p->leaf_count; i++)
    HEARTH_TRY(refine(&r, p->contexts + p->leaves[i].first_context, p->leaves[i].context_count, 0));
  if (p->candidate_count > CANDIDATES_MAX) {
    qsort(p->candidates, p->candidate_count, sizeof *p->candidates, compare_by_bytes);
    p->candidate_count = CANDIDATES_MAX;
  }
  if (p->candidate_count)
    qsort(p->candidates, p->candidate_count, sizeof *p->candidates, compare_by_id);
  return HEARTH_OK;
}
