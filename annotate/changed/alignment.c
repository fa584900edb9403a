/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dynamic programming over a table of n x m sums: from the end to the start for one alignment; a second time from the
 * start, with one row kept, to list for each item all partners that it has in some alignment of the greatest sum. */
#include "salvage.h"

#include <stdlib.h>
#include <string.h>

#include "hearth/expect.h"

/* [i * (m + 1) + k]: the greatest sum of the rest from i and k on; NULL if it cannot be had. */
static uint32_t *sums_behind(size_t n, size_t m, hearth_likeness likeness, void *data) {
  size_t width = m + 1;
  if (m && n > HEARTH_ALIGNMENT_LIMIT / m)
    return NULL;
  uint32_t *best = calloc((n + 1) * width, sizeof *best);
  for (size_t i = n; best && i-- > 0;)
    for (size_t k = m; k-- > 0;) {
      uint32_t *here = &best[i * width + k], alike = likeness(i, k, data);
      *here = here[width] > here[1] ? here[width] : here[1];
      if (alike && alike + here[width + 1] > *here)
        *here = alike + here[width + 1];
    }
  return best;
}

bool hearth_align(size_t n, size_t m, hearth_likeness likeness, void *data, size_t *ret) {
  size_t width = m + 1;
  uint32_t *best = sums_behind(n, m, likeness, data);
  if (!best)
    return false;
  for (size_t i = 0, k = 0; i < n;) {
    const uint32_t *here = &best[i * width + k];
    uint32_t alike = k < m ? likeness(i, k, data) : 0;
    ret[i] = HEARTH_UNALIGNED;
    if (alike && *here == alike + here[width + 1])
      ret[i++] = k++;
    else if (k < m && *here == here[1])
      k++;
    else
      i++;
  }
  free(best);
  return true;
}

/* The possible partners of an item, over all alignments with the greatest sum. */
typedef struct partners {
  size_t first, last; /* items of the other sequence that it is in some of them; first > last: in none */
  bool may_be_none;   /* in some of them it is unaligned */
} partners;

static void add_choice(partners *of, size_t item) {
  of->first = item < of->first ? item : of->first;
  of->last = of->first > of->last || item > of->last ? item : of->last;
}

static void clear_choices(partners *of, size_t n) {
  for (size_t i = 0; i < n; i++)
    of[i] = (partners){SIZE_MAX, 0, false};
}

/* The choices of all n items, and of all m; false as in hearth_align.
 * The sum of the items before i and k grows as `before` goes down the rows: it holds row i, then row i + 1. */
static bool align_choices(size_t n, size_t m, hearth_likeness likeness, void *data, partners *ret_of_n,
                          partners *ret_of_m) {
  size_t width = m + 1;
  uint32_t *behind = sums_behind(n, m, likeness, data), *before = calloc(2 * width, sizeof *before);
  bool done = behind && before;
  clear_choices(ret_of_n, done ? n : 0);
  clear_choices(ret_of_m, done ? m : 0);
  for (size_t i = 0; done && i <= n; i++) {
    uint32_t *here = before + (i & 1) * width, *next = before + (~i & 1) * width;
    const uint32_t *rest = behind + i * width;
    next[0] = 0;
    for (size_t k = 0; k <= m; k++) {
      if (i < n && here[k] + rest[width + k] == behind[0])
        ret_of_n[i].may_be_none = true;
      if (k < m && here[k] + rest[k + 1] == behind[0])
        ret_of_m[k].may_be_none = true;
      if (i == n || k == m)
        continue;
      uint32_t alike = likeness(i, k, data);
      if (alike && here[k] + alike + rest[width + k + 1] == behind[0]) {
        add_choice(&ret_of_n[i], k);
        add_choice(&ret_of_m[k], i);
      }
      next[k + 1] = here[k + 1] > next[k] ? here[k + 1] : next[k];
      if (alike && here[k] + alike > next[k + 1])
        next[k + 1] = here[k] + alike;
    }
  }
  free(before);
  free(behind);
  return done;
}

/* ------------------------------------------------ doubts ------------------------------------------------ */

/* Marks pairs that are guesses: pairs that another alignment of the same sum lacks, calls of a line that lost a
 * call, and calls of one callee whose columns changed differently. Then decides each stretch of marked pairs: by
 * lines, if the sure calls on both sides moved alike; as it is, if all its calls have one class; else the pairs are
 * removed. */

typedef struct deciding {
  const hearth_doubts *d;
  size_t *pairs;
  partners *of_old, *of_new;
  bool *doubtful; /* n */
} deciding;

/* The line says nothing here: it moves with every change further up, and may then be where another call was. */
static uint32_t likeness(size_t i, size_t k, void *data) {
  const hearth_doubts *d = data;
  if (!d->is_alike(i, k, d->data))
    return 0;
  return d->old[i].column == d->now[k].column ? 3 : 1;
}

static bool is_pair(const deciding *s, size_t i) { return s->pairs[i] != HEARTH_UNALIGNED; }

static uint32_t moved_by(const deciding *s, size_t i) { return s->d->now[s->pairs[i]].line - s->d->old[i].line; }

static uint32_t shifted_by(const deciding *s, size_t i) { return s->d->now[s->pairs[i]].column - s->d->old[i].column; }

/* -------------------------------------------------- calls in doubt ----------------------------------------------- */

/* Pairs that other alignments, as good as this one, lack. */
static void doubt_choices(deciding *s) {
  for (size_t i = 0; i < s->d->n; i++) {
    const partners *of = &s->of_old[i];
    if (of->first <= of->last)
      s->doubtful[i] = of->may_be_none || of->first != of->last;
  }
}

/* Calls that allocate are taken for calls of one function. */
static bool have_one_callee(const hearth_old_call *a, const hearth_old_call *b) {
  bool is_known = a->callee.name && !a->allocates, is_other_known = b->callee.name && !b->allocates;
  return is_known == is_other_known && (!is_known || a->callee.id == b->callee.id);
}

static bool shares_line(const deciding *s, size_t i, size_t other) {
  return s->d->old[i].line == s->d->old[other].line && have_one_callee(&s->d->old[i], &s->d->old[other]);
}

/* Where a line lost one of its calls, later calls took its place, and columns say nothing. */
static void doubt_lines_that_lost(deciding *s) {
  for (size_t i = 0; i < s->d->n; i++)
    for (size_t other = i; other-- > 0 && s->d->old[other].line == s->d->old[i].line;)
      if (shares_line(s, i, other) && is_pair(s, i) != is_pair(s, other))
        s->doubtful[is_pair(s, i) ? i : other] = true;
}

/* Neither of two calls in one line, i and the next, is sure if their columns changed differently: they may have
 * changed places. Another call that was inserted between them explains it, if the first is where it was. */
static bool is_torn(const deciding *s, size_t i) {
  size_t next = i + 1;
  if (next >= s->d->n || !is_pair(s, i) || !is_pair(s, next) || !shares_line(s, i, next) ||
      s->d->now[s->pairs[i]].line != s->d->now[s->pairs[next]].line || shifted_by(s, i) == shifted_by(s, next))
    return false;
  return shifted_by(s, i) != 0 || s->pairs[next] == s->pairs[i] + 1;
}

/* Is the column no evidence of the pair? */
static bool is_shifted(const deciding *s, size_t i) {
  return is_pair(s, i) && (shifted_by(s, i) != 0 || is_torn(s, i) || (i > 0 && is_torn(s, i - 1)));
}

/* Calls that were indented are all shifted alike. One of them may have been edited, but if several were shifted by
 * different columns they may have changed places. [first, end) are of one function, with no other's call between. */
static void doubt_shifted(deciding *s, size_t first, size_t end) {
  size_t one = end;
  bool differ = false;
  for (size_t i = first; i < end; i++) {
    if (!is_shifted(s, i))
      continue;
    differ |= one < end && shifted_by(s, i) != shifted_by(s, one);
    one = one < end ? one : i;
  }
  for (size_t i = first; differ && i < end; i++)
    s->doubtful[i] |= is_shifted(s, i);
}

static void doubt_same_callees(deciding *s) {
  size_t end;
  for (size_t first = 0; first < s->d->n; first = end) {
    for (end = first + 1; end < s->d->n && have_one_callee(&s->d->old[end], &s->d->old[first]); end++)
      ;
    doubt_shifted(s, first, end);
  }
}

/* -------------------------------------------------- what lines decide -------------------------------------------- */

/* The call in the source, within places [low, high), that is old call `i` if its line moved by `by`. */
static size_t find_moved(const deciding *s, size_t i, uint32_t by, size_t low, size_t high) {
  for (size_t k = low; k < high; k++)
    if (s->d->now[k].line == s->d->old[i].line + by && s->d->now[k].column == s->d->old[i].column &&
        s->d->is_alike(i, k, s->d->data))
      return k;
  return HEARTH_UNALIGNED;
}

/* Says whether its callee tells which call it is. */
static bool is_sure(const deciding *s, size_t i) {
  return is_pair(s, i) && !s->doubtful[i] && s->of_old[i].first <= s->of_old[i].last;
}

/* Calls [first, end) are in doubt. If the sure ones next to them moved by as many lines, nothing was inserted
 * between these; then so did the calls in doubt, if there are such calls. */
static void decide_by_lines(deciding *s, size_t first, size_t end) {
  const hearth_doubts *d = s->d;
  size_t above = first, below = end;
  while (above > 0 && !is_sure(s, above - 1))
    above--;
  while (below < d->n && !is_sure(s, below))
    below++;
  uint32_t by = above ? moved_by(s, above - 1) : 0, by_below = below < d->n ? moved_by(s, below) : d->end_by;
  size_t low = above ? s->pairs[above - 1] + 1 : 0, high = below < d->n ? s->pairs[below] : d->m;
  if ((below == d->n && !d->knows_end) || by != by_below)
    return;
  for (size_t i = first; i < end; i++)
    if (find_moved(s, i, by, low, high) == HEARTH_UNALIGNED)
      return;
  for (size_t i = first; i < end; i++) {
    s->pairs[i] = find_moved(s, i, by, low, high);
    s->doubtful[i] = false;
  }
}

/* -------------------------------------------------- lost calls --------------------------------------------------- */

static bool alignment_is_one(uint64_t placements) { return (placements & (placements - 1)) == 0; }

/* Is it the same for placement which of the calls is which? */
static bool is_all_one(const deciding *s, size_t first, size_t end) {
  uint64_t placements = 0;
  bool some_new = false;
  for (size_t i = first; i < end; i++) {
    placements |= s->d->old[i].placements;
    for (size_t k = s->of_old[i].first; k <= s->of_old[i].last && k < s->d->m; k++)
      some_new |= s->of_new[k].may_be_none;
  }
  placements &= ~hearth_placement_bit(HEARTH_CLASS_UNKNOWN);
  if (!(placements & ~hearth_placement_bit(HEARTH_CLASS_NOTCOLD)))
    return true;
  return alignment_is_one(placements) && !some_new;
}

static void decide_stretch(deciding *s, size_t first, size_t end, size_t *ret_first) {
  decide_by_lines(s, first, end);
  if (!s->doubtful[first] || is_all_one(s, first, end))
    return;
  for (size_t i = first; i < end; i++) {
    size_t k = is_pair(s, i) ? s->pairs[i] : s->of_old[i].first;
    *ret_first = k < *ret_first ? k : *ret_first;
    s->pairs[i] = HEARTH_UNALIGNED;
  }
}

static void decide(deciding *s, size_t *ret_first) {
  size_t end;
  doubt_choices(s);
  doubt_lines_that_lost(s);
  doubt_same_callees(s);
  for (size_t i = 0; i < s->d->n; i = end) {
    for (end = i + 1; s->doubtful[i] && end < s->d->n && s->doubtful[end]; end++)
      ;
    if (s->doubtful[i])
      decide_stretch(s, i, end, ret_first);
  }
}

/* Pairs ascend, as calls that change places are not followed. */
static bool pairs_ascend(const hearth_doubts *doubts, const size_t *pairs) {
  size_t least = 0;
  for (size_t i = 0; i < doubts->n; i++) {
    if (pairs[i] == HEARTH_UNALIGNED)
      continue;
    if (pairs[i] < least || pairs[i] >= doubts->m)
      return false;
    least = pairs[i] + 1;
  }
  return true;
}

bool hearth_doubts_decide(const hearth_doubts *doubts, size_t *pairs, size_t *ret_first) {
  deciding s = {.d = doubts, .pairs = pairs};
  s.of_old = calloc(doubts->n + 1, sizeof *s.of_old);
  s.of_new = calloc(doubts->m + 1, sizeof *s.of_new);
  s.doubtful = calloc(doubts->n + 1, sizeof *s.doubtful);
  *ret_first = doubts->m;
  bool done = s.of_old && s.of_new && s.doubtful &&
              align_choices(doubts->n, doubts->m, likeness, (void *)doubts, s.of_old, s.of_new);
  hearth_expect(pairs_ascend(doubts, pairs));
  if (done)
    decide(&s, ret_first);
  hearth_expect(pairs_ascend(doubts, pairs));
  free(s.of_old);
  free(s.of_new);
  free(s.doubtful);
  return done;
}
