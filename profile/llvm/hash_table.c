/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's on-disk hash tables, read from the first item to the last: each has to be in the bucket that its key asks
 * for, so that a reader that looks keys up finds the same items. */
#include "hash_table.h"

#include "hearth/llvm_container.h"

enum { LEAST_ITEM = 3 * sizeof(uint64_t) };

hearth_status hearth_llvm_items_begin(const hearth_llvm_input *in, uint64_t payload, uint64_t control,
                                      hearth_llvm_lengths lengths, hearth_llvm_items *ret) {
  hearth_llvm_cursor c;
  hearth_llvm_table table;
  *ret = (hearth_llvm_items){.lengths = lengths, .control = control};
  HEARTH_TRY(hearth_llvm_part(in, payload, control, "a hash table", &ret->payload));
  HEARTH_TRY(hearth_llvm_part(in, control, in->size, "a hash table's control block", &c));
  HEARTH_TRY(hearth_llvm_take(&c, &table, sizeof table));
  if (table.buckets == 0 || (table.buckets & (table.buckets - 1)) != 0 ||
      table.buckets > hearth_llvm_left(&c) / sizeof(uint64_t))
    return hearth_llvm_corrupt(in, control, "impossible number of buckets");
  if (table.entries > (control - payload) / LEAST_ITEM)
    return hearth_llvm_corrupt(in, control, "a hash table has more entries than it has room for");
  ret->buckets = table.buckets;
  ret->left = table.entries;
  return HEARTH_OK;
}

/* A reader that looks a key up comes through the control block: an item that it does not lead to does not exist. */
static hearth_status check_bucket(const hearth_llvm_items *items, uint64_t begin, uint64_t bucket) {
  const hearth_llvm_input *in = items->payload.in;
  uint64_t at = items->control + sizeof(hearth_llvm_table) + bucket * sizeof(uint64_t), offset;
  memcpy(&offset, in->data + at, sizeof offset);
  return offset == begin ? HEARTH_OK : hearth_llvm_corrupt(in, at, "a bucket does not lead to its items");
}

static hearth_status finish(const hearth_llvm_items *items) {
  if (items->left_in_bucket > 0 || hearth_llvm_left(&items->payload) >= sizeof(uint64_t))
    return hearth_llvm_corrupt(items->payload.in, items->payload.at, "a hash table has more items than it counts");
  return HEARTH_OK;
}

hearth_status hearth_llvm_items_next(hearth_llvm_items *items, bool *ret_end, uint64_t *ret_key,
                                     hearth_llvm_cursor *ret_data) {
  hearth_llvm_cursor *c = &items->payload;
  *ret_end = items->left == 0;
  if (*ret_end)
    return finish(items);

  uint64_t begin = c->at, hash, key, key_length = sizeof key, data_length;
  bool first = items->left_in_bucket == 0;
  if (first) {
    uint16_t count;
    HEARTH_TRY(hearth_llvm_take(c, &count, sizeof count));
    if (count == 0)
      return hearth_llvm_corrupt(c->in, begin, "a bucket without items");
    items->left_in_bucket = count;
  }
  uint64_t at = c->at;
  HEARTH_TRY(hearth_llvm_take(c, &hash, sizeof hash));
  if (items->lengths == HEARTH_LLVM_KEY_AND_DATA)
    HEARTH_TRY(hearth_llvm_take(c, &key_length, sizeof key_length));
  HEARTH_TRY(hearth_llvm_take(c, &data_length, sizeof data_length));
  HEARTH_TRY(hearth_llvm_take(c, &key, sizeof key));
  if (key_length != sizeof key || key != hash)
    return hearth_llvm_corrupt(c->in, at, "a hash table's item has an impossible key");
  uint64_t bucket = hash & (items->buckets - 1);
  if (first)
    HEARTH_TRY(check_bucket(items, begin, bucket));
  else if (bucket != items->bucket)
    return hearth_llvm_corrupt(c->in, at, "an item is in the wrong bucket");
  items->bucket = bucket;
  items->left_in_bucket--;
  items->left--;
  *ret_key = key;
  return hearth_llvm_split(c, data_length, ret_data);
}

uint64_t hearth_llvm_bucket_count(uint64_t entries) {
  uint64_t wanted = entries * 4 / 3, buckets = 1;
  if (entries <= 2)
    return 1;
  while (buckets <= wanted)
    buckets *= 2;
  return buckets;
}
