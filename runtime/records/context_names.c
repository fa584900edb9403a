/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names are kept in the same way as stacks in the depot: rows and bytes are taken by atomic additions, and a row
 * becomes visible when it is put in front of its bucket's chain. */
#include "context_names.h"

#include "os.h"

#include <string.h>

#define MOST_NAMES   65536u
#define MOST_BYTES   (4u << 20)
#define BUCKET_COUNT 16384u

typedef struct row {
  uint64_t hash;
  uint32_t first; /* byte */
  uint32_t size;  /* set last */
  uint32_t next;  /* row + 1; 0 ends the chain */
} row;

/* One mapping; pages are taken as they are used. */
static struct tables {
  uint32_t buckets[BUCKET_COUNT]; /* row + 1; 0: empty */
  row rows[MOST_NAMES];
  char bytes[MOST_BYTES];
} *tables;

static uint32_t row_count, byte_count; /* taken so far; some may stay without use */

bool hearth_context_names_create(void) {
  size_t size = hearth_os_whole_pages(sizeof *tables);

  tables = hearth_os_map(size);
  if (tables)
    hearth_os_mark_sparse(tables, size);
  return tables != NULL;
}

/* Among the rows from `from` on, up to `end`; both are row + 1. */
static uint32_t search(uint32_t from, uint32_t end, uint64_t hash, const char *name, uint32_t size) {
  for (; from != end; from = tables->rows[from - 1].next) {
    const row *found = &tables->rows[from - 1];
    if (found->hash == hash && found->size == size && memcmp(tables->bytes + found->first, name, size) == 0)
      return from;
  }
  return 0;
}

/* Advance `counter` by `step` unless it would pass `most`. */
static bool take_room(uint32_t *counter, uint32_t step, uint32_t most, uint32_t *ret_before) {
  uint32_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);

  do
    if (step > most - before)
      return false;
  while (!__atomic_compare_exchange_n(counter, &before, before + step, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  *ret_before = before;
  return true;
}

static uint32_t add(uint64_t hash, const char *name, uint32_t size) {
  uint32_t number, first;

  if (!take_room(&byte_count, size, MOST_BYTES, &first) || !take_room(&row_count, 1, MOST_NAMES, &number))
    return 0;
  memcpy(tables->bytes + first, name, size);
  tables->rows[number].hash = hash;
  tables->rows[number].first = first;
  __atomic_store_n(&tables->rows[number].size, size, __ATOMIC_RELEASE);
  return number + 1;
}

/* FNV-1a; names are short, and looked up once for each place that uses them, as a rule. */
static uint64_t hash_name(const char *name, uint32_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);

  for (uint32_t i = 0; i < size; ++i)
    hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 32;
}

static uint32_t intern(const char *name, uint32_t size) {
  uint64_t hash = hash_name(name, size);
  uint32_t *bucket = &tables->buckets[hash % BUCKET_COUNT];
  uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
  uint32_t found = search(head, 0, hash, name, size), added;

  if (found || !(added = add(hash, name, size)))
    return found;
  for (uint32_t searched = head;;) {
    tables->rows[added - 1].next = head;
    if (__atomic_compare_exchange_n(bucket, &head, added, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
      return added;
    /* Others have put names in front; if one is this, our row stays without use. */
    found = search(head, searched, hash, name, size);
    if (found)
      return found;
    searched = head;
  }
}

static uint32_t kept_size(const char *name) {
  uint32_t size = 0;

  while (size < HEARTH_NAME_MOST && name[size])
    ++size;
  return size;
}

uint32_t hearth_context_name(const char *name) {
  uint32_t found = intern(name, kept_size(name));

  return found ? found - 1 : HEARTH_NO_NAME;
}

uint32_t hearth_context_name_limit(void) { return __atomic_load_n(&row_count, __ATOMIC_ACQUIRE); }

const char *hearth_context_name_text(uint32_t number, uint32_t *ret_size) {
  *ret_size = __atomic_load_n(&tables->rows[number].size, __ATOMIC_ACQUIRE);
  return tables->bytes + tables->rows[number].first;
}

uint64_t hearth_context_names_memory(void) {
  return row_count ? sizeof tables->buckets + (uint64_t)row_count * sizeof *tables->rows + byte_count : 0;
}
