/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The accesses to each member of a type: those of the 8-byte words that it begins in, up to the next member. Members that
 * share a word have its accesses together. */
#include <inttypes.h>
#include <string.h>

#include "findings.h"
#include "print.h"

enum { WORD = 8 };

typedef struct text {
  char *to;
  size_t size, length;
} text;

static void say(text *t, const char *separator, const char *name, double share) {
  if (t->length >= t->size)
    return;
  int length = share < 0
                   ? snprintf(t->to + t->length, t->size - t->length, "%s%s", separator, name)
                   : snprintf(t->to + t->length, t->size - t->length, "%s%s %.0f%%", separator, name, 100 * share);
  t->length += length > 0 ? (size_t)length : 0;
}

static uint64_t sum_words(const hearth_place_sum *p, uint64_t begin, uint64_t end) {
  uint64_t sum = 0;
  for (uint64_t i = begin / WORD; i * WORD < end && i < p->count_count; i++)
    sum = hearth_merge_SUM(sum, p->counts[i]);
  return sum;
}

void hearth_advice_describe_fields(const hearth_place_sum *p, const hearth_type_member *members, size_t count,
                                   char *ret, size_t size) {
  text t = {.to = ret, .size = size};
  uint64_t all = sum_words(p, 0, p->mib.MaxSize);
  const char *separator = "; never accessed: ";
  *ret = '\0';
  for (size_t i = 0; i < count; i++) {
    uint64_t end = i + 1 < count ? members[i + 1].offset : p->mib.MaxSize;
    uint64_t sum = sum_words(p, members[i].offset, end);
    if (sum > 0)
      say(&t, t.length ? ", " : "", members[i].name, hearth_ratio((double)sum, (double)all));
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t end = i + 1 < count ? members[i + 1].offset : p->mib.MaxSize;
    if (sum_words(p, members[i].offset, end) > 0)
      continue;
    say(&t, separator, members[i].name, -1);
    separator = ", ";
  }
}
