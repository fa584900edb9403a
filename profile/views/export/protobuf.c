/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fields are appended to one buffer: tag, and number or length and bytes. */
#include "protobuf.h"

#include "array.h"
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2, VARINT_MAX = 10 };

static bool reserve(hearth_protobuf *m, size_t size) {
  m->failed = m->failed || !hearth_array_reserve(&m->data, &m->room, m->size, size, 1);
  return !m->failed;
}

void hearth_protobuf_raw(hearth_protobuf *m, const void *data, size_t size) {
  if (size == 0 || !reserve(m, size))
    return;
  memcpy(m->data + m->size, data, size);
  m->size += size;
}

void hearth_protobuf_varint(hearth_protobuf *m, uint64_t value) {
  if (!reserve(m, VARINT_MAX))
    return;
  for (; value >= 0x80; value >>= 7)
    m->data[m->size++] = (uint8_t)(value | 0x80);
  m->data[m->size++] = (uint8_t)value;
}

void hearth_protobuf_uint(hearth_protobuf *m, unsigned field, uint64_t value) {
  if (value == 0)
    return;
  hearth_protobuf_varint(m, field << 3 | WIRE_VARINT);
  hearth_protobuf_varint(m, value);
}

void hearth_protobuf_bytes(hearth_protobuf *m, unsigned field, const void *data, size_t size) {
  hearth_protobuf_varint(m, field << 3 | WIRE_LENGTH);
  hearth_protobuf_varint(m, size);
  hearth_protobuf_raw(m, data, size);
}

void hearth_protobuf_nest(hearth_protobuf *m, unsigned field, const hearth_protobuf *inner) {
  m->failed |= inner->failed;
  hearth_protobuf_bytes(m, field, inner->data, inner->size);
}
