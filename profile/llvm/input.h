/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bounds-checked reading of LLVM's files. Every message names file, place, reason and remedy. */
#ifndef HEARTH_LLVM_INPUT_H
#define HEARTH_LLVM_INPUT_H

#include <stdbool.h>
#include <string.h>

#include "hearth/status.h"

typedef struct hearth_llvm_input {
  const char *name;
  const uint8_t *data;
  size_t size;
  hearth_error *err;
} hearth_llvm_input;

/* The bytes [at, end) of an input; 0 <= at <= end <= size. */
typedef struct hearth_llvm_cursor {
  const hearth_llvm_input *in;
  uint64_t at, end;
} hearth_llvm_cursor;

static inline hearth_status hearth_llvm_corrupt(const hearth_llvm_input *in, uint64_t at, const char *reason) {
  hearth_error_set(in->err, HEARTH_E_CORRUPT,
                   "%s: offset %llu: the profile is corrupt: %s; make it again with 'llvm-profdata merge'", in->name,
                   (unsigned long long)at, reason);
  return HEARTH_E_CORRUPT; /* in so many words, or the compiler warns of outputs that are not set */
}

/* The part [at, end) of the file; `what` names it. */
static inline hearth_status hearth_llvm_part(const hearth_llvm_input *in, uint64_t at, uint64_t end, const char *what,
                                             hearth_llvm_cursor *ret) {
  if (at > end || end > in->size) {
    hearth_error_set(in->err, HEARTH_E_CORRUPT,
                     "%s: the profile is corrupt or truncated: %s lies at %llu to %llu of %zu bytes; make it "
                     "again with 'llvm-profdata merge'",
                     in->name, what, (unsigned long long)at, (unsigned long long)end, in->size);
    return HEARTH_E_CORRUPT;
  }
  *ret = (hearth_llvm_cursor){in, at, end};
  return HEARTH_OK;
}

static inline uint64_t hearth_llvm_left(const hearth_llvm_cursor *c) { return c->end - c->at; }

static inline hearth_status hearth_llvm_take(hearth_llvm_cursor *c, void *into, size_t size) {
  if (hearth_llvm_left(c) < size)
    return hearth_llvm_corrupt(c->in, c->at, "a record runs past the end of its part");
  memcpy(into, c->in->data + c->at, size);
  c->at += size;
  return HEARTH_OK;
}

/* Read a u64 that counts things of at least `least` bytes each, which follow. */
static inline hearth_status hearth_llvm_take_count(hearth_llvm_cursor *c, uint64_t least, uint64_t *ret) {
  uint64_t at = c->at;
  HEARTH_TRY(hearth_llvm_take(c, ret, sizeof *ret));
  if (*ret > hearth_llvm_left(c) / least)
    return hearth_llvm_corrupt(c->in, at, "a count is greater than what follows it");
  return HEARTH_OK;
}

/* Take the next `size` bytes as a part of their own. */
static inline hearth_status hearth_llvm_split(hearth_llvm_cursor *c, uint64_t size, hearth_llvm_cursor *ret) {
  if (hearth_llvm_left(c) < size)
    return hearth_llvm_corrupt(c->in, c->at, "a record runs past the end of its part");
  *ret = (hearth_llvm_cursor){c->in, c->at, c->at + size};
  c->at += size;
  return HEARTH_OK;
}

#endif
