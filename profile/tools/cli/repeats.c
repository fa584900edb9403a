/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kind is a hash of the text behind the input's name, digits left out (FNV-1a). */
#include "repeats.h"

#include <ctype.h>
#include <string.h>

static uint64_t kind_of(const char *text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const char *behind = strstr(text, ": ");
  for (const char *c = behind ? behind : text; *c; c++)
    if (!isdigit((unsigned char)*c))
      hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  return hash;
}

bool hearth_repeats_tell(hearth_repeats *r, const char *text) {
  uint64_t hash = kind_of(text);
  unsigned i = 0;
  while (i < r->kind_count && r->kinds[i].hash != hash)
    i++;
  if (i == HEARTH_REPEATS_KINDS)
    return true;
  if (i == r->kind_count)
    r->kinds[r->kind_count++].hash = hash;
  bool told = ++r->kinds[i].count <= HEARTH_REPEATS_TOLD;
  r->untold += !told;
  return told;
}
