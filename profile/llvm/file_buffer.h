/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A growing buffer for LLVM's files. An allocation that fails is remembered: it is asked for once, at the end. */
#ifndef HEARTH_FILE_BUFFER_H
#define HEARTH_FILE_BUFFER_H

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/llvm_profile.h"

typedef struct hearth_llvm_buffer {
  uint8_t *data;
  size_t size, room;
  bool failed;
} hearth_llvm_buffer;

static inline void hearth_llvm_put(hearth_llvm_buffer *out, const void *data, size_t size) {
  if (out->failed || !hearth_array_reserve(&out->data, &out->room, out->size, size, 1)) {
    out->failed = true;
    return;
  }
  if (size > 0)
    memcpy(out->data + out->size, data, size);
  out->size += size;
}

static inline void hearth_llvm_put_u64(hearth_llvm_buffer *out, uint64_t value) {
  hearth_llvm_put(out, &value, sizeof value);
}

static inline void hearth_llvm_put_u32(hearth_llvm_buffer *out, uint32_t value) {
  hearth_llvm_put(out, &value, sizeof value);
}

/* Zeros up to a multiple of 8. */
static inline void hearth_llvm_align(hearth_llvm_buffer *out) {
  static const uint8_t zeros[8];
  hearth_llvm_put(out, zeros, -out->size & 7);
}

/* Overwrite the bytes at offset `at`. */
static inline void hearth_llvm_patch_u64(hearth_llvm_buffer *out, size_t at, uint64_t value) {
  if (!out->failed)
    memcpy(out->data + at, &value, sizeof value);
}

/* Write a MemProf section of version 3 or 4; offsets in it count from the buffer's begin. */
hearth_status hearth_llvm_put_section(hearth_llvm_buffer *out, hearth_profile *profile, uint32_t version,
                                      hearth_llvm_losses *ret_losses, hearth_error *err);

#endif
