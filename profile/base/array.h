/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays: growing ones, zeroed ones, sorted ones. Functions that make one larger get the address of a pointer, which
 * may be of any type: it is copied by bytes. */
#ifndef HEARTH_ARRAY_H
#define HEARTH_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/status.h"

/* Room for `more` more elements in the array that the pointer at `array` points to, and which holds `count`. False: out
 * of memory; array and capacity are unchanged. */
static inline bool hearth_array_reserve(void *array, size_t *capacity, size_t count, size_t more, size_t element) {
  void *moved;
  if (more <= *capacity - count)
    return true;
  size_t bigger = *capacity ? *capacity + *capacity / 2 : 16; /* few: there may be thousands of owners of such arrays */
  if (more > PTRDIFF_MAX / element - count)                   /* no object is larger */
    return false;
  if (bigger < count + more)
    bigger = count + more;
  memcpy(&moved, array, sizeof moved);
  moved = realloc(moved, bigger * element);
  if (!moved)
    return false;
  memcpy(array, &moved, sizeof moved);
  *capacity = bigger;
  return true;
}

/* The same for one more element. */
static inline bool hearth_array_grow(void *array, size_t *capacity, size_t count, size_t element) {
  return count < *capacity || hearth_array_reserve(array, capacity, count, 1, element);
}

/* E_NOMEM unless an allocation succeeded. */
static inline hearth_status hearth_check_memory(bool succeeded, hearth_error *err) {
  return succeeded ? HEARTH_OK : hearth_error_nomem(err);
}

/* Room for `more` more elements that are numbered with 32 bits. E_NOMEM; E_FULL if the numbers do not suffice. */
static inline hearth_status hearth_rows_reserve(void *array, size_t *capacity, size_t count, size_t more,
                                                size_t element, hearth_error *err) {
  if (more >= UINT32_MAX || count >= UINT32_MAX - more)
    return hearth_error_set(err, HEARTH_E_FULL, "the profile has more rows than its format can number");
  return hearth_check_memory(hearth_array_reserve(array, capacity, count, more, element), err);
}

/* At least `end` elements; new ones are zero. E_NOMEM, E_FULL. */
static inline hearth_status hearth_rows_extend(void *array, size_t *capacity, size_t *count, size_t end, size_t element,
                                               hearth_error *err) {
  char *rows;
  if (end <= *count)
    return HEARTH_OK;
  HEARTH_TRY(hearth_rows_reserve(array, capacity, *count, end - *count, element, err));
  memcpy(&rows, array, sizeof rows);
  memset(rows + *count * element, 0, (end - *count) * element);
  *count = end;
  return HEARTH_OK;
}

/* A new array of `count` elements and one more, all zero: even of none it is not NULL. E_NOMEM; the pointer at
 * `array` is NULL then. */
static inline hearth_status hearth_array_create(void *array, size_t count, size_t element, hearth_error *err) {
  void *made = calloc(count + 1, element);
  memcpy(array, &made, sizeof made);
  return hearth_check_memory(made != NULL, err);
}

static inline void hearth_free_all(void *const *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(rows[i]);
}

/* Free all of these. */
#define HEARTH_FREE(...) hearth_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

/* ------------------------------------------------ sorted ------------------------------------------------ */

/* Of rows that begin with a number, and ascend by it: how many have one of at most `most`? */
static inline size_t hearth_count_up_to(uint64_t most, const void *rows, size_t count, size_t row_size) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    uint64_t number;
    memcpy(&number, (const char *)rows + middle * row_size, sizeof number);
    if (number <= most)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* For qsort, bsearch and hearth_lower_bound: of numbers, and of structs that begin with them. */
static inline int hearth_compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Sort numbers and keep one of each, in place. Returns how many are left. */
static inline size_t hearth_sort_distinct_u64(uint64_t *numbers, size_t count) {
  size_t kept = 0;
  if (count)
    qsort(numbers, count, sizeof *numbers, hearth_compare_u64);
  for (size_t i = 0; i < count; i++)
    if (!kept || numbers[kept - 1] != numbers[i])
      numbers[kept++] = numbers[i];
  return kept;
}

/* Binary search in a sorted array, where the C library's bsearch does not serve: it finds none of the items between
 * which a key lies. Inline, so that the comparison is, too. */

/* The number of items before `key`: the place of the first item that is not less than it, `count` if all are. The items
 * ascend by `compare`, which gets the key first, as bsearch's does. The upper bound is found by a `compare` that never
 * returns 0: equal items then count as less. */
static inline size_t hearth_lower_bound(const void *key, const void *items, size_t count, size_t size,
                                        int (*compare)(const void *, const void *)) {
  const char *first = items;
  size_t before = 0;
  while (count > 0) {
    size_t half = count / 2;
    if (compare(key, first + (before + half) * size) > 0) {
      before += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return before;
}

#endif
