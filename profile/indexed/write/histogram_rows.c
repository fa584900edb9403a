/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes the HISTOGRAMS section: its size is computed first, then rows and numbers are written side by side. */
#include "array.h"
#include "hearth/raw_codec.h"
#include "writer.h"

static size_t varint_size(uint64_t number) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];
  return (size_t)(hearth_raw_put_varint(packed, number) - packed);
}

static size_t encoded_size(const hearth_histogram *histogram) {
  size_t size = varint_size(histogram->size);
  for (uint64_t i = 0; i < histogram->size; i++)
    size += varint_size(histogram->counts[i]);
  return size;
}

static hearth_histogram histogram_of(const writer *w, uint32_t context) {
  return hearth_builder_histogram(w->builder, w->contexts.order[context]);
}

hearth_status hearth_writer_encode_histograms(writer *w) {
  uint64_t bytes = 0, count = 0;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    hearth_histogram histogram = histogram_of(w, i);
    count += histogram.size > 0;
    bytes += histogram.size > 0 ? encoded_size(&histogram) : 0;
  }
  if (bytes > UINT32_MAX)
    return hearth_error_set(w->err, HEARTH_E_FULL, "the histograms exceed 4 GiB");
  w->histogram_count = (uint32_t)count;
  w->histograms.size = count * sizeof(hearth_indexed_histogram) + bytes;
  HEARTH_TRY(hearth_array_create(&w->histograms.data, w->histograms.size, 1, w->err));
  hearth_indexed_histogram *row = (hearth_indexed_histogram *)w->histograms.data;
  uint8_t *first = (uint8_t *)(row + count), *to = first;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    hearth_histogram histogram = histogram_of(w, i);
    if (histogram.size == 0)
      continue;
    *row++ = (hearth_indexed_histogram){i, (uint32_t)(to - first)};
    to = hearth_raw_put_varint(to, histogram.size);
    for (uint64_t k = 0; k < histogram.size; k++)
      to = hearth_raw_put_varint(to, histogram.counts[k]);
  }
  return HEARTH_OK;
}
