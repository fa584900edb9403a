/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For each function of the module that the profile has: if some call of the profile is not in its place, both sequences
 * of calls are aligned (alignment.c), guesses are decided, and the pairs become moved calls. Then renamed
 * files, function by function. Places are looked up by binary search: first the function, then the call. */
#include "salvage.h"

#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

#include "array.h"
#include "hearth/ids.h"
#include "hearth/ir_facts.h"

typedef struct salvaging {
  hearth_salvage *salvage;
  hearth_profile *profile;
  hearth_locator *locator;
  const hearth_call_sites *sites;
  bool llvm_ids;
  uint32_t *callees; /* by row of frames: row of the function that is called there, or NONE; NULL before it is needed */
  uint64_t *placements; /* by row of frames: as old calls have them; NULL before it is needed */
  hearth_spacing spacing;
  const hearth_placer *placer;
  hearth_old_call *old; /* of one function */
  hearth_new_call *new;
  size_t n_old, old_room, n_new, new_room;
  hearth_error *err;
} salvaging;

/* -------------------------------------------------- the profile -------------------------------------------------- */

/* The callees of each frame, as far as stacks show; callers are lower than callees. */
static hearth_status read_callees(salvaging *s) {
  uint32_t frames = hearth_profile_frame_count(s->profile), nodes = hearth_profile_stack_count(s->profile);
  uint32_t *frame_of = malloc(((size_t)nodes + 1) * sizeof *frame_of);
  hearth_status status = HEARTH_OK;
  s->callees = malloc(((size_t)frames + 1) * sizeof *s->callees);
  if (!frame_of || !s->callees)
    status = hearth_error_nomem(s->err);
  for (uint32_t i = 0; status == HEARTH_OK && i < frames; i++)
    s->callees[i] = HEARTH_NONE;
  for (uint32_t node = 0; status == HEARTH_OK && node < nodes; node++) {
    uint32_t caller;
    hearth_frame_info frame;
    status = hearth_profile_get_stack(s->profile, node, &frame_of[node], &caller, s->err);
    if (status != HEARTH_OK || caller == HEARTH_NONE || s->callees[frame_of[caller]] != HEARTH_NONE)
      continue;
    status = hearth_profile_get_frame(s->profile, frame_of[node], &frame, s->err);
    if (status == HEARTH_OK)
      s->callees[frame_of[caller]] = frame.function;
  }
  free(frame_of);
  return status;
}

static hearth_status place_context(salvaging *s, uint32_t row, uint64_t *of_node) {
  uint32_t node;
  hearth_mib mib;
  HEARTH_TRY(hearth_profile_get_context(s->profile, row, &node, &mib, s->err));
  of_node[node] |= hearth_placement_bit(hearth_place_context(s->placer, row, &mib).placement);
  return HEARTH_OK;
}

/* Read the placements of contexts through each frame; callees have higher rows than callers. */
static hearth_status read_placements(salvaging *s) {
  uint32_t contexts = hearth_profile_context_count(s->profile), nodes = hearth_profile_stack_count(s->profile);
  uint64_t *of_node = calloc((size_t)nodes + 1, sizeof *of_node);
  hearth_status status = HEARTH_OK;
  s->placements = calloc((size_t)hearth_profile_frame_count(s->profile) + 1, sizeof *s->placements);
  if (!of_node || !s->placements)
    status = hearth_error_nomem(s->err);
  for (uint32_t i = 0; status == HEARTH_OK && i < contexts; i++)
    status = place_context(s, i, of_node);
  for (uint32_t node = nodes; status == HEARTH_OK && node-- > 0;) {
    uint32_t frame, caller;
    status = hearth_profile_get_stack(s->profile, node, &frame, &caller, s->err);
    if (status != HEARTH_OK)
      continue;
    s->placements[frame] |= of_node[node];
    if (caller != HEARTH_NONE)
      of_node[caller] |= of_node[node];
  }
  free(of_node);
  return status;
}

static int salvage_by_place(const void *a, const void *b) {
  const hearth_old_call *x = a, *y = b;
  return hearth_compare_places(x->line, x->column, y->line, y->column);
}

static hearth_status add_old_call(salvaging *s, uint32_t row, const hearth_frame_info *frame) {
  if (!hearth_array_grow(&s->old, &s->old_room, s->n_old, sizeof *s->old))
    return hearth_error_nomem(s->err);
  s->old[s->n_old] = (hearth_old_call){.line = frame->line,
                                       .column = frame->column,
                                       .placements = s->placements[row],
                                       .allocates = frame->context_count > 0};
  if (s->callees[row] != HEARTH_NONE)
    HEARTH_TRY(hearth_profile_get_function(s->profile, s->callees[row], &s->old[s->n_old].callee, s->err));
  s->n_old++;
  return HEARTH_OK;
}

/* The function's calls in the profile, one for each place. */
static hearth_status read_old_calls(salvaging *s, const hearth_function_info *function) {
  s->n_old = 0;
  for (uint32_t row = function->first_frame, end = row + function->frame_count; row < end; row++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(s->profile, row, &frame, s->err));
    if (frame.stack_id)
      HEARTH_TRY(add_old_call(s, row, &frame));
  }
  if (s->n_old)
    qsort(s->old, s->n_old, sizeof *s->old, salvage_by_place);
  size_t kept = 0;
  for (size_t i = 0; i < s->n_old; i++) {
    if (!kept || salvage_by_place(&s->old[kept - 1], &s->old[i]) != 0) {
      s->old[kept++] = s->old[i];
      continue;
    }
    s->old[kept - 1].allocates |= s->old[i].allocates;
    s->old[kept - 1].placements |= s->old[i].placements;
    if (!s->old[kept - 1].callee.name)
      s->old[kept - 1].callee = s->old[i].callee;
  }
  s->n_old = kept;
  return HEARTH_OK;
}

/* Are all calls of the profile where they were? */
static hearth_status is_unchanged(salvaging *s, const hearth_function_info *function, bool *ret) {
  *ret = true;
  for (uint32_t i = 0; i < function->frame_count && *ret; i++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(s->profile, function->first_frame + i, &frame, s->err));
    *ret = !frame.stack_id || hearth_call_sites_has(s->sites, function->id, frame.line, frame.column);
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- the module -------------------------------------------------- */

static bool salvage_same_place(const hearth_call_site *a, const hearth_call_site *b) {
  return a->function == b->function && a->line == b->line && a->column == b->column;
}

static hearth_status read_new_calls(salvaging *s, uint64_t function) {
  const hearth_call_sites *sites = s->sites;
  size_t end, i = hearth_call_sites_from(sites, function, UINT32_C(0x80000000), 0); /* the lowest line */
  for (s->n_new = 0; i < sites->count && sites->items[i].function == function; i = end) {
    for (end = i + 1; end < sites->count && salvage_same_place(&sites->items[i], &sites->items[end]); end++)
      ;
    if (!hearth_array_grow(&s->new, &s->new_room, s->n_new, sizeof *s->new))
      return hearth_error_nomem(s->err);
    s->new[s->n_new++] = (hearth_new_call){sites->items[i].line, sites->items[i].column, i, end};
  }
  return HEARTH_OK;
}

/* Does the call go to this function? Declarations are known by their names only. */
static bool calls(const salvaging *s, const hearth_call_site *site, const hearth_function_info *callee) {
  uint64_t id;
  size_t length;
  if (site->inlined)
    return site->inlined == callee->id;
  LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(site->call));
  if (!function)
    return false;
  if (hearth_locate_function(s->locator, function, &id) && id == callee->id)
    return true;
  const char *name = LLVMGetValueName2(function, &length);
  if (s->llvm_ids)
    return hearth_llvm_function_id(name, length) == callee->id;
  return hearth_is_name_of(callee->name, name, length);
}

static void find_indirect(salvaging *s) {
  size_t first = s->n_new ? s->new[0].first : 0, end = s->n_new ? s->new[s->n_new - 1].end : 0;
  for (size_t i = 0; i < s->n_old; i++) {
    s->old[i].indirect = s->old[i].callee.name != NULL;
    for (size_t k = first; k < end && s->old[i].indirect; k++)
      s->old[i].indirect = !calls(s, &s->sites->items[k], &s->old[i].callee);
  }
}

static bool is_like(const salvaging *s, const hearth_old_call *old, const hearth_call_site *site) {
  if (old->allocates && !site->inlined && hearth_alloc_function_of(site->call))
    return true;
  if (!old->callee.name)
    return false;
  return calls(s, site, &old->callee) ||
         (old->indirect && !site->inlined && !LLVMIsAFunction(LLVMGetCalledValue(site->call)));
}

/* Says whether the call may allocate in its callee, which the module does not see. */
static bool may_allocate(const hearth_call_site *site) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(site->call));
  return !site->inlined && (!callee || LLVMIsDeclaration(callee));
}

/* The profile lacks frames of functions that end in a tail call: a callee there may allocate, or call the function that
 * the profile has, unless other calls of the function go to that one. */
static bool may_be_in_place(const hearth_old_call *old, const hearth_new_call *now) {
  return (old->allocates || old->indirect) && old->line == now->line && old->column == now->column;
}

/* Says whether some call there has the old one's callee. */
static uint32_t salvage_is_alike(size_t i, size_t k, void *data) {
  const salvaging *s = data;
  for (size_t at = s->new[k].first; at < s->new[k].end; at++)
    if (is_like(s, &s->old[i], &s->sites->items[at]))
      return 1;
  return 0;
}

/* Lines move with every change further up, columns only where the call itself is changed or indented: one call in
 * its old column counts for more than two that moved into others'. That it is in its old line, too, decides between
 * equals. Where nothing says that it is not the call, a place counts as well, but less than anything that does say
 * so. */
static uint32_t salvage_likeness(size_t i, size_t k, void *data) {
  const salvaging *s = data;
  const hearth_old_call *old = &s->old[i];
  const hearth_new_call *now = &s->new[k];
  bool perhaps = false;
  for (size_t at = s->new[k].first; at < s->new[k].end; at++)
    perhaps |= old->allocates && may_allocate(&s->sites->items[at]);
  if (!salvage_is_alike(i, k, data))
    return (perhaps && old->column == now->column) || may_be_in_place(old, now);
  if (old->column != now->column)
    return UINT32_C(1) << 14;
  return (UINT32_C(3) << 14) + (old->line == now->line);
}

/* -------------------------------------------------- both -------------------------------------------------- */

static hearth_status add_moved(salvaging *s, const hearth_old_call *old, const hearth_new_call *now) {
  hearth_moved_calls *moved = &s->salvage->moved;
  if (!hearth_array_grow(&moved->calls, &moved->calls_room, moved->n_calls, sizeof *moved->calls))
    return hearth_error_nomem(s->err);
  moved->calls[moved->n_calls++] = (hearth_moved_call){now->line, now->column, old->line, old->column};
  return HEARTH_OK;
}

static hearth_status add_pairs(salvaging *s, uint64_t id, uint64_t old_id, const size_t *pairs) {
  hearth_moved_calls *moved = &s->salvage->moved;
  size_t first = moved->n_calls;
  if (!hearth_array_grow(&moved->functions, &moved->functions_room, moved->n_functions, sizeof *moved->functions))
    return hearth_error_nomem(s->err);
  for (size_t i = 0; i < s->n_old; i++)
    if (pairs[i] != HEARTH_UNALIGNED)
      HEARTH_TRY(add_moved(s, &s->old[i], &s->new[pairs[i]]));
  moved->functions[moved->n_functions++] = (hearth_moved_function){id, old_id, first, moved->n_calls - first};
  return HEARTH_OK;
}

static hearth_status add_doubtful(salvaging *s, LLVMValueRef f, size_t call) {
  hearth_salvage *salvage = s->salvage;
  uint32_t line = hearth_ir_subprogram_line(LLVMGetSubprogram(f)) + s->sites->items[s->new[call].first].line;
  if (!hearth_array_grow(&salvage->doubtful, &salvage->doubtful_room, salvage->n_doubtful, sizeof *salvage->doubtful))
    return hearth_error_nomem(s->err);
  salvage->doubtful[salvage->n_doubtful++] = (hearth_doubtful_function){f, line};
  return HEARTH_OK;
}

/* Is each call of the profile paired with one in its place? */
static bool is_in_places(const salvaging *s, const size_t *pairs) {
  bool same = true;
  for (size_t i = 0; i < s->n_old && same; i++) {
    const hearth_new_call *now = pairs[i] == HEARTH_UNALIGNED ? NULL : &s->new[pairs[i]];
    same = now && now->line == s->old[i].line && now->column == s->old[i].column;
  }
  return same;
}

/* By how many lines the code behind the function moved against it; 0, too, if that is not known. */
static bool knows_end(const salvaging *s, LLVMValueRef f, const hearth_function_info *function, uint32_t *ret) {
  *ret = 0;
  return hearth_spacing_behind(&s->spacing, function, hearth_ir_subprogram_line(LLVMGetSubprogram(f)), ret);
}

/* `changed`: some call of the profile is not in its place. If all are, and it is not known that lines were inserted,
 * other calls are such as never ran. */
static hearth_status pair_calls(salvaging *s, LLVMValueRef f, uint64_t id, const hearth_function_info *function,
                                bool changed, size_t *pairs) {
  hearth_doubts doubts = {
      .n = s->n_old, .m = s->n_new, .old = s->old, .now = s->new, .is_alike = salvage_is_alike, .data = s};
  size_t doubtful = s->n_new;
  if (!hearth_align(s->n_old, s->n_new, salvage_likeness, s, pairs))
    return HEARTH_OK;
  doubts.knows_end = knows_end(s, f, function, &doubts.end_by);
  if ((doubts.end_by || !is_in_places(s, pairs)) && !hearth_doubts_decide(&doubts, pairs, &doubtful))
    return hearth_error_nomem(s->err);
  if (doubtful < s->n_new)
    HEARTH_TRY(add_doubtful(s, f, doubtful));
  return changed || doubtful < s->n_new ? add_pairs(s, id, function->id, pairs) : HEARTH_OK;
}

static hearth_status align(salvaging *s, LLVMValueRef f, uint64_t id, const hearth_function_info *function,
                           bool changed) {
  size_t *pairs = malloc((s->n_old + 1) * sizeof *pairs);
  hearth_status status = pairs ? pair_calls(s, f, id, function, changed, pairs) : hearth_error_nomem(s->err);
  free(pairs);
  return status;
}

/* Read the calls of a function: of the profile's, and of the module's, whose id is `id`. */
static hearth_status read_calls(salvaging *s, const hearth_function_info *function, uint64_t id) {
  if (!s->callees)
    HEARTH_TRY(read_callees(s));
  if (!s->placements)
    HEARTH_TRY(read_placements(s));
  HEARTH_TRY(read_old_calls(s, function));
  HEARTH_TRY(read_new_calls(s, id));
  find_indirect(s);
  return HEARTH_OK;
}

static hearth_status salvage_function(salvaging *s, LLVMValueRef f) {
  uint64_t id;
  uint32_t row;
  hearth_function_info function;
  bool unchanged;
  uint32_t end_by;
  if (LLVMIsDeclaration(f) || !hearth_locate_function(s->locator, f, &id))
    return HEARTH_OK;
  hearth_status status = hearth_profile_find_function(s->profile, id, &row, s->err);
  if (status != HEARTH_OK)
    return status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
  HEARTH_TRY(hearth_profile_get_function(s->profile, row, &function, s->err));
  HEARTH_TRY(is_unchanged(s, &function, &unchanged));
  knows_end(s, f, &function, &end_by);
  if (unchanged && !end_by)
    return HEARTH_OK;
  HEARTH_TRY(read_calls(s, &function, id));
  return align(s, f, id, &function, !unchanged);
}

/* -------------------------------------------------- renamed files ------------------------------------------------ */

/* A call of the module in the place of a call of the profile: one with the callee that the profile says, or else one
 * that may have it. */
static bool is_in_place(const salvaging *s, const hearth_old_call *old, bool for_sure) {
  for (size_t k = 0; k < s->n_new; k++)
    for (size_t at = s->new[k].first; at < s->new[k].end; at++) {
      const hearth_call_site *now = &s->sites->items[at];
      if (old->line == now->line && old->column == now->column &&
          (is_like(s, old, now) || (!for_sure && old->allocates && may_allocate(now))))
        return true;
    }
  return false;
}

/* Is each call of the profile where it was? Libraries allocate too, as printf its buffer; but one call has to be known. */
static bool is_as_it_was(const salvaging *s) {
  bool same = true, is_sure = false;
  for (size_t i = 0; i < s->n_old && same; i++) {
    is_sure |= is_in_place(s, &s->old[i], true);
    same = is_in_place(s, &s->old[i], false);
  }
  return same && is_sure;
}

/* Does the module's function call an allocation function? */
static bool makes_allocations(const salvaging *s) {
  for (size_t k = 0; k < s->n_new; k++)
    for (size_t at = s->new[k].first; at < s->new[k].end; at++)
      if (hearth_alloc_function_of(s->sites->items[at].call))
        return true;
  return false;
}

/* The file that the module's was, by all functions that are as they were: they have to agree. HEARTH_NONE if it is
 * none. One name in common means little, as programs have a main, and plug-ins an entry: nobody is to be told of it
 * unless that function allocates. */
static hearth_status find_old_path(salvaging *s, const hearth_namesakes *namesakes, uint32_t *ret) {
  uint32_t path = HEARTH_NONE, row = HEARTH_NONE, shared = 0;
  bool allocates = false, agree = true;
  for (size_t i = 0; i < namesakes->count; i++) {
    const hearth_namesake *namesake = &namesakes->items[i];
    hearth_function_info function;
    if (!namesake->count || hearth_is_local(namesake->function))
      continue;
    HEARTH_TRY(hearth_profile_get_function(s->profile, namesake->row, &function, s->err));
    HEARTH_TRY(read_calls(s, &function, namesake->id));
    row = namesake->row;
    shared++;
    allocates |= makes_allocations(s);
    if (namesake->count > 1 || !is_as_it_was(s))
      continue;
    agree &= path == HEARTH_NONE || path == function.path;
    path = function.path;
  }
  s->salvage->namesake = shared > 1 || allocates ? row : HEARTH_NONE;
  *ret = agree ? path : HEARTH_NONE;
  return HEARTH_OK;
}

static hearth_status take_for(salvaging *s, const hearth_namesake *namesake, const char *old_path) {
  uint32_t row;
  hearth_function_info function;
  uint64_t old_id = hearth_function_id(namesake->name, namesake->name_length, old_path);
  hearth_status status = hearth_profile_find_function(s->profile, old_id, &row, s->err);
  if (status != HEARTH_OK)
    return status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
  HEARTH_TRY(hearth_profile_get_function(s->profile, row, &function, s->err));
  HEARTH_TRY(read_calls(s, &function, namesake->id));
  return align(s, namesake->function, namesake->id, &function, true);
}

static hearth_status salvage_file(salvaging *s, const hearth_namesakes *namesakes) {
  uint32_t path;
  char old_path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(find_old_path(s, namesakes, &path));
  if (path == HEARTH_NONE)
    return HEARTH_OK;
  s->salvage->namesake = HEARTH_NONE;
  HEARTH_TRY(hearth_profile_get_path(s->profile, path, old_path, sizeof old_path, s->err));
  for (size_t i = 0; i < namesakes->count; i++)
    HEARTH_TRY(take_for(s, &namesakes->items[i], old_path));
  return HEARTH_OK;
}

static hearth_status salvage_renamed(salvaging *s, LLVMModuleRef module) {
  hearth_namesakes namesakes = {0};
  hearth_status status = hearth_namesakes_find(&namesakes, module, s->profile, s->locator, s->err);
  if (status == HEARTH_OK)
    status = salvage_file(s, &namesakes);
  hearth_namesakes_free(&namesakes);
  return status;
}

static hearth_status salvage_module(salvaging *s, LLVMModuleRef module) {
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_get_summary(s->profile, &summary, s->err));
  s->llvm_ids = summary.id_scheme == HEARTH_IDS_LLVM;
  HEARTH_TRY(hearth_spacing_find(&s->spacing, module, s->profile, s->locator, s->err));
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    HEARTH_TRY(salvage_function(s, f));
  HEARTH_TRY(salvage_renamed(s, module));
  hearth_moved_calls *moved = &s->salvage->moved;
  if (moved->n_functions)
    qsort(moved->functions, moved->n_functions, sizeof *moved->functions, hearth_compare_u64);
  return HEARTH_OK;
}

hearth_status hearth_salvage_create(LLVMModuleRef module, hearth_profile *profile, const hearth_placer *placer,
                                    hearth_locator *locator, const hearth_call_sites *sites, hearth_salvage **ret,
                                    hearth_error *err) {
  salvaging s = {.profile = profile, .placer = placer, .locator = locator, .sites = sites, .err = err};
  if ((s.salvage = calloc(1, sizeof *s.salvage)))
    s.salvage->namesake = HEARTH_NONE;
  hearth_status status = s.salvage ? salvage_module(&s, module) : hearth_error_nomem(err);
  hearth_spacing_free(&s.spacing);
  free(s.callees);
  free(s.placements);
  free(s.old);
  free(s.new);
  if (status == HEARTH_OK)
    *ret = s.salvage;
  else
    hearth_salvage_destroy(s.salvage);
  return status;
}

void hearth_salvage_destroy(hearth_salvage *salvage) {
  if (!salvage)
    return;
  hearth_moved_calls_free(&salvage->moved);
  free(salvage->doubtful);
  free(salvage);
}
