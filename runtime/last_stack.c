#include "last_stack.h"

#include <string.h>

static bool is_same_range(hearth_stack_range a, hearth_stack_range b) {
  return a.lasting && b.lasting && a.low == b.low && a.high == b.high;
}

static bool is_same_frame(const hearth_known_frame *known) {
  return known->at->caller == known->copy.caller && known->at->return_address == known->copy.return_address;
}

static void keep_frames(hearth_last_stack *last, const hearth_frame *frame) {
  const hearth_known_frame *end = last->frames + HEARTH_DEPTH_MOST, *known = end;

  while (known > end - last->count && known[-1].at >= frame && is_same_frame(&known[-1]))
    --known;
  last->count = (size_t)(end - known);
}

/* A frame's return address and what was found behind it have to be as they were. */
static void keep_words(hearth_last_stack *last, const hearth_frame *frame) {
  const hearth_stack_word *end = last->words + HEARTH_LAST_STACK_WORDS, *known = end;

  while (known > end - last->word_count && (uintptr_t)known[-1].at >= (uintptr_t)frame &&
         *known[-1].at == known[-1].value)
    --known;
  while (last->count > 0 && last->words + last->return_words[HEARTH_DEPTH_MOST - last->count] < known)
    --last->count;
  last->word_count = (size_t)(end - known);
}

/* An unwinder that comes to a frame which is as it was goes on as it did, if all further out are, too. What lies further
 * in, or did, does not matter. */
hearth_known_stack hearth_last_stack_keep(hearth_last_stack *last, const hearth_frame *frame) {
  hearth_stack_range range = hearth_unwind_stack(frame);
  bool linked = last->word_count == 0;

  if (!is_same_range(last->range, range))
    last->count = 0;
  else if (linked)
    keep_frames(last, frame);
  else
    keep_words(last, frame);
  last->range = range;
  size_t first = HEARTH_DEPTH_MOST - last->count;
  if (last->count == 0)
    return (hearth_known_stack){NULL, NULL, NULL};
  if (linked)
    return (hearth_known_stack){.frame = last->frames[first].at};
  return (hearth_known_stack){.places = last->places + first, .end = last->places + HEARTH_DEPTH_MOST};
}

static void set_frames(hearth_last_stack *last, const hearth_frame *frame, size_t first, size_t from) {
  for (size_t i = first; i < from; ++i) {
    last->frames[i] = (hearth_known_frame){frame, *frame};
    frame = frame->caller;
  }
  last->word_count = 0;
}

/* The places of words[0..count), which go to `base` on. Words that are no return addresses say what bp was, further in than
 * where it was used: it matters for the places between. Where bp was saved in another way, which is rare, some words of
 * another kind make a place less often found. */
static void set_places(hearth_last_stack *last, const hearth_trail *trail, size_t count, size_t first, size_t from,
                       size_t base) {
  hearth_place bp = from < HEARTH_DEPTH_MOST ? last->places[from] : (hearth_place){0, 0, 0, 0};
  size_t at = from;

  while (count-- > 0) {
    const hearth_stack_word *word = &trail->own[count];
    uint8_t returns = at > first ? trail->return_words[at - 1 - first] : 0;
    if (at == first || (returns & ~HEARTH_TRAIL_BLIND) != count) {
      bp.bp_at = (uintptr_t)word->at;
      bp.bp = word->value;
      continue;
    }
    uintptr_t sp = (uintptr_t)(word->at + 1);
    if (bp.bp_at >= sp)
      bp.bp_at = 0;
    last->places[--at] = (hearth_place){returns & HEARTH_TRAIL_BLIND ? 0 : sp, word->value, bp.bp_at, bp.bp};
    last->return_words[at] = (uint16_t)(base + count);
  }
}

/* The trail's last word, if it ends at a place, is that place's return address, which is known. False: there are too many. */
static bool set_words(hearth_last_stack *last, const hearth_trail *trail, size_t first, size_t from) {
  bool joins = from < HEARTH_DEPTH_MOST;
  size_t end = joins ? last->return_words[from] + 1u : HEARTH_LAST_STACK_WORDS;

  if (trail->word_count == 0 || trail->word_count > HEARTH_TRAIL_MOST || trail->word_count > end)
    return false;
  size_t base = end - trail->word_count;
  set_places(last, trail, trail->word_count - joins, first, from, base);
  memcpy(last->words + base, trail->own, trail->word_count * sizeof *trail->own);
  last->word_count = HEARTH_LAST_STACK_WORDS - base;
  return true;
}

/* Let the trail be that of the stack's `shown` innermost frames. */
static void set_trail(const hearth_last_stack *last, size_t first, size_t shown, hearth_trail *trail) {
  if (last->word_count == 0) {
    trail->frame_count = shown;
    return;
  }
  const hearth_stack_word *end = last->words + HEARTH_LAST_STACK_WORDS;
  trail->words = end - last->word_count;
  if (shown < last->count)
    end = last->words + last->return_words[first + shown - 1] + 1;
  trail->word_count = (size_t)(end - trail->words);
}

static size_t kept_of(const hearth_last_stack *last, const hearth_trail *trail) {
  if (trail->ends_at)
    return (size_t)(last->places + HEARTH_DEPTH_MOST - trail->ends_at);
  return trail->ends_at_known ? last->count : 0;
}

bool hearth_last_stack_set(hearth_last_stack *last, const hearth_frame *frame, const uint64_t *pcs, size_t depth,
                           size_t most, hearth_trail *trail) {
  size_t kept = kept_of(last, trail), from = HEARTH_DEPTH_MOST - kept;

  if (!trail->lasts || depth > from || (kept == 0 && depth == most))
    return false;
  size_t first = from - depth;
  if (trail->frame_count == 0) {
    if (!set_words(last, trail, first, from))
      return false;
  } else if (trail->frame_count == depth) {
    set_frames(last, frame, first, from);
  } else {
    return false;
  }
  last->count = depth + kept;
  memcpy(last->pcs + first, pcs, depth * sizeof *pcs);
  if (last->folded_from < from)
    last->folded_from = from;
  set_trail(last, first, last->count < most ? last->count : most, trail);
  return true;
}

size_t hearth_last_stack_copy(hearth_last_stack *last, bool folded, size_t most, uint64_t *ret_pcs) {
  size_t first = HEARTH_DEPTH_MOST - last->count, count = last->count < most ? last->count : most;

  if (folded && count == last->count) {
    hearth_fold_extend(last->pcs, &last->folded, first, last->folded_from, HEARTH_DEPTH_MOST);
    last->folded_from = first;
    return hearth_fold_collect(last->pcs, &last->folded, first, HEARTH_DEPTH_MOST, ret_pcs);
  }
  memcpy(ret_pcs, last->pcs + first, count * sizeof *ret_pcs);
  return folded ? hearth_fold_recursion(ret_pcs, count) : count;
}
