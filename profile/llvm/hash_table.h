/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's hash tables on disk, read from front to end instead of bucket by bucket: each byte once, whatever the file says.
 *
 *   payload, for each bucket that is not empty:  u16 count, items
 *   zeros up to a multiple of 8
 *   control block: u64 buckets, u64 entries, for each bucket the u64 offset of its count, 0 where it is empty */
#ifndef HEARTH_LLVM_HASH_TABLE_H
#define HEARTH_LLVM_HASH_TABLE_H

#include "input.h"

/* The header before an item's key, which is a u64: its hash, which is the key itself, and lengths as far as the kind of
 * table has them. */
typedef enum hearth_llvm_lengths {
  HEARTH_LLVM_KEY_AND_DATA, /* u64 length of the key, u64 length of the data */
  HEARTH_LLVM_DATA_ONLY     /* u64 length of the data */
} hearth_llvm_lengths;

typedef struct hearth_llvm_items {
  hearth_llvm_cursor payload;
  hearth_llvm_lengths lengths;
  uint64_t control; /* offset of the control block */
  uint64_t buckets, left;
  uint64_t bucket; /* that the items being read are in */
  uint32_t left_in_bucket;
} hearth_llvm_items;

/* Begin with the table whose payload begins at `payload` and whose control block stands at `control`. */
hearth_status hearth_llvm_items_begin(const hearth_llvm_input *in, uint64_t payload, uint64_t control,
                                      hearth_llvm_lengths lengths, hearth_llvm_items *ret);
/* The next item. *ret_end tells that there is none; the outputs are then unchanged. */
hearth_status hearth_llvm_items_next(hearth_llvm_items *items, bool *ret_end, uint64_t *ret_key,
                                     hearth_llvm_cursor *ret_data);

/* Number of buckets that LLVM makes for so many entries: a power of two. */
uint64_t hearth_llvm_bucket_count(uint64_t entries);

#endif
