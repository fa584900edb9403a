/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages in the protocol-buffers wire format (protobuf.dev/programming-guides/encoding), built in memory one at a
 * time. */
#ifndef HEARTH_PROTOBUF_H
#define HEARTH_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is the empty message; `size = 0` empties it again. Free `data`. */
typedef struct hearth_protobuf {
  uint8_t *data;
  size_t size, room;
  bool failed; /* out of memory: `data` is not complete */
} hearth_protobuf;

void hearth_protobuf_raw(hearth_protobuf *message, const void *data, size_t size);   /* bytes as they are */
void hearth_protobuf_varint(hearth_protobuf *message, uint64_t value);               /* element of a packed field */
void hearth_protobuf_uint(hearth_protobuf *message, unsigned field, uint64_t value); /* 0, the default, is left out */
void hearth_protobuf_bytes(hearth_protobuf *message, unsigned field, const void *data, size_t size);
/* A message or packed field inside another. */
void hearth_protobuf_nest(hearth_protobuf *message, unsigned field, const hearth_protobuf *inner);

#endif
