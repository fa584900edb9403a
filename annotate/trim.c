/* Trimming: a context is needed only up to the caller from which on its class is no longer in doubt. The contexts of a
 * call, sorted by stack, are a tree written down depth first; a range of them that shares its first callers is one
 * subtree. */
#include <stdlib.h>

#include "match.h"

static int by_stack(const void *a, const void *b) {
  const hearth_context *x = a, *y = b;
  for (size_t i = 0; i < x->depth && i < y->depth; i++)
    if (x->stack[i] != y->stack[i])
      return x->stack[i] < y->stack[i] ? -1 : 1;
  return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static bool same_class(const hearth_context *items, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (items[i].hotness != items[0].hotness)
      return false;
  return true;
}

/* Equal stacks are one context to the compiler, though the profile may hold several: inlined differently in different
 * builds, or told apart by discriminators that this build does not have. Their sum decides their class. */
static size_t merge_equal(hearth_context *items, size_t count, const hearth_classifier *classifier) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept && by_stack(&items[kept - 1], &items[i]) == 0) {
      hearth_mib_merge(&items[kept - 1].mib, &items[i].mib);
      items[kept - 1].hotness = hearth_classify(classifier, &items[kept - 1].mib);
    } else {
      items[kept++] = items[i];
    }
  }
  return kept;
}

/* The subtree of contexts that share their first `depth` callers, in out[0..]. Returns how many are left of it. The
 * output never overtakes the input, so both may be one array. Calls itself only where stacks part. */
static size_t trim(hearth_context *items, size_t count, size_t depth, hearth_context *out) {
  if (same_class(items, count)) {
    hearth_context folded = items[0];
    for (size_t i = 1; i < count; i++)
      hearth_mib_merge(&folded.mib, &items[i].mib);
    folded.depth = depth;
    *out = folded;
    return 1;
  }
  /* The shortest comes first; sorted, all agree where the first and the last do. */
  while (depth < items[0].depth && depth < items[count - 1].depth &&
         items[0].stack[depth] == items[count - 1].stack[depth])
    depth++;
  size_t kept = 0, i = 0;
  if (items[0].depth == depth) /* a stack that is the beginning of the others keeps a context of its own */
    out[kept++] = items[i++];
  for (size_t end; i < count; i = end) {
    for (end = i + 1; end < count && items[end].stack[depth] == items[i].stack[depth]; end++)
      ;
    kept += trim(items + i, end - i, depth + 1, out + kept);
  }
  return kept;
}

void hearth_contexts_trim(hearth_contexts *contexts, const hearth_classifier *classifier) {
  if (contexts->count == 0)
    return;
  qsort(contexts->items, contexts->count, sizeof *contexts->items, by_stack);
  contexts->count = merge_equal(contexts->items, contexts->count, classifier);
  contexts->count = trim(contexts->items, contexts->count, 0, contexts->items);
}
