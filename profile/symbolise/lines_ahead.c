#include "symbolise/lines_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#define LEAST_BYTES 65536u /* of line tables: a thread takes as long as reading about this much */

struct hearth_lines_ahead {
  pthread_t thread;
  hearth_units *units;
  uint32_t *numbers;
  size_t count;
};

static void release(hearth_lines_ahead *a) {
  free(a->numbers);
  free(a);
}

static void *read_all(void *argument) {
  hearth_lines_ahead *a = argument;
  hearth_error err;
  for (size_t i = 0; i < a->count; ++i)
    hearth_units_read_lines(a->units, a->numbers[i], &err);
  return NULL;
}

hearth_lines_ahead *hearth_lines_ahead_begin(hearth_units *units, uint32_t *numbers, size_t count) {
  hearth_lines_ahead *a = calloc(1, sizeof *a);
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i)
    bytes += hearth_units_line_bytes(units, numbers[i]);
  if (a)
    *a = (hearth_lines_ahead){.units = units, .numbers = numbers, .count = count};
  else
    free(numbers);
  if (!a || (bytes >= LEAST_BYTES && pthread_create(&a->thread, NULL, read_all, a) == 0))
    return a;
  release(a);
  return NULL;
}

void hearth_lines_ahead_end(hearth_lines_ahead *a) {
  if (!a)
    return;
  pthread_join(a->thread, NULL);
  release(a);
}
