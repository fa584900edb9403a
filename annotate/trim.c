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

/* The subtree of contexts that share their first `depth` callers, in out[0..]. Returns how many are left of it. The
 * output never overtakes the input, so both may be one array. */
static size_t trim(hearth_context *items, size_t count, size_t depth, hearth_context *out) {
  if (same_class(items, count)) {
    hearth_context folded = items[0];
    for (size_t i = 1; i < count; i++)
      hearth_mib_merge(&folded.mib, &items[i].mib);
    folded.depth = depth;
    *out = folded;
    return 1;
  }
  size_t kept = 0;
  for (size_t i = 0, end; i < count; i = end) {
    bool ends_here =
        items[i].depth == depth; /* a stack that is the beginning of the others keeps a context of its own */
    for (end = i + 1; end < count; end++)
      if (ends_here ? items[end].depth != depth : items[end].stack[depth] != items[i].stack[depth])
        break;
    if (ends_here && !same_class(items + i, end - i)) {
      /* Equal stacks of different classes: places that only discriminators tell apart. Nothing outside separates them.
       */
      for (size_t k = i; k < end; k++)
        out[kept++] = items[k];
      continue;
    }
    kept += trim(items + i, end - i, ends_here ? depth : depth + 1, out + kept);
  }
  return kept;
}

void hearth_contexts_trim(hearth_contexts *contexts) {
  if (contexts->count == 0)
    return;
  qsort(contexts->items, contexts->count, sizeof *contexts->items, by_stack);
  contexts->count = trim(contexts->items, contexts->count, 0, contexts->items);
}
