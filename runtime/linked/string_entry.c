/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* strdup and strndup, because the C library's have no frames of their own: where frame pointers are all there is, their
 * callers would be missing from call stacks. */
#include "blocks.h"
#include "heap.h"
#include "running_profile.h"

#include "hearth/rt.h"

#include <errno.h>
#include <string.h>

/* A string of `length` characters; `read` bytes of `string` were looked at. */
static char *duplicate(const char *string, size_t length, size_t read, const hearth_frame *frame) {
  char *copy = hearth_allocate(length + 1, HEARTH_MALLOC_ALIGNMENT, frame);

  if (!copy) {
    errno = ENOMEM;
    return NULL;
  }
  if (hearth_rt.accesses == HEARTH_ACCESSES_COUNTED) { /* in an uninstrumented program, nothing is counted */
    __memprof_record_access_range(string, read);
    __memprof_record_access_range(copy, length + 1);
  }
  memcpy(copy, string, length);
  copy[length] = '\0';
  return copy;
}

static char *duplicate_all(const char *string, const hearth_frame *frame) {
  size_t length = strlen(string);

  return duplicate(string, length, length + 1, frame);
}

static char *duplicate_most(const char *string, size_t most, const hearth_frame *frame) {
  size_t length = 0;

  while (length < most && string[length])
    ++length;
  return duplicate(string, length, length < most ? length + 1 : length, frame);
}

HEARTH_EXPORT char *strdup(const char *string) { return duplicate_all(string, HEARTH_THIS_FRAME); }

HEARTH_EXPORT char *__strdup(const char *string) { return duplicate_all(string, HEARTH_THIS_FRAME); }

HEARTH_EXPORT char *strndup(const char *string, size_t most) { return duplicate_most(string, most, HEARTH_THIS_FRAME); }

HEARTH_EXPORT char *__strndup(const char *string, size_t most) {
  return duplicate_most(string, most, HEARTH_THIS_FRAME);
}
