#include "last_stack.h"

#include <string.h>

static bool is_same_range(hearth_stack_range a, hearth_stack_range b) {
  return a.lasting && b.lasting && a.low == b.low && a.high == b.high;
}

static bool is_same_frame(const hearth_known_frame *known) {
  return known->at->caller == known->copy.caller && known->at->return_address == known->copy.return_address;
}

/* An unwinder that comes to a frame which is as it was goes on as it did, if all further out are, too. What lies further
 * in, or did, does not matter. */
const hearth_frame *hearth_last_stack_keep(hearth_last_stack *last, const hearth_frame *frame) {
  const hearth_known_frame *end = last->frames + HEARTH_DEPTH_MOST, *known = end;
  hearth_stack_range range = hearth_unwind_stack(frame);

  if (is_same_range(last->range, range))
    while (known > end - last->count && known[-1].at >= frame && is_same_frame(&known[-1]))
      --known;
  last->range = range;
  last->count = (size_t)(end - known);
  return last->count ? known->at : NULL;
}

bool hearth_last_stack_set(hearth_last_stack *last, const hearth_frame *frame, const uint64_t *pcs, size_t depth,
                           size_t most, hearth_trail *trail) {
  size_t kept = trail->ends_at_known ? last->count : 0;

  if (!trail->lasts || trail->frame_count != depth || depth + kept > most || (kept == 0 && depth == most))
    return false;
  size_t from = HEARTH_DEPTH_MOST - kept, first = from - depth;
  last->count = depth + kept;
  for (size_t i = 0; i < depth; ++i) {
    last->frames[first + i] = (hearth_known_frame){frame, *frame};
    last->pcs[first + i] = pcs[i];
    frame = frame->caller;
  }
  hearth_fold_extend(last->pcs, last->tops, first, from, HEARTH_DEPTH_MOST);
  trail->frame_count = last->count;
  return true;
}

size_t hearth_last_stack_copy(const hearth_last_stack *last, bool folded, uint64_t *ret_pcs) {
  size_t first = HEARTH_DEPTH_MOST - last->count;

  if (folded)
    return hearth_fold_collect(last->pcs, last->tops, first, HEARTH_DEPTH_MOST, ret_pcs);
  memcpy(ret_pcs, last->pcs + first, last->count * sizeof *ret_pcs);
  return last->count;
}
