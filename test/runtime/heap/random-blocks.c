/* Blocks of random sizes, by all functions, that two threads exchange: their bytes stay, whichever way they are placed.
 *
 * Rounds: the first argument, or 20; the second one is the first round's number.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -pthread
 * RUN: HEARTH_OPTIONS=log_path=%t.all timeout -k 5 900 %t
 * RUN: HEARTH_OPTIONS=log_path=%t.some:sample=2000 timeout -k 5 900 %t
 * RUN: HEARTH_OPTIONS=log_path=%t.pages:sample=1:accesses=pages timeout -k 5 900 %t
 * RUN: HEARTH_OPTIONS=log_path=%t.both:sample=2000:accesses=pages timeout -k 5 900 %t
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 256, STEPS = 4000, MOST_BITS = 20 };

typedef struct slot {
  unsigned char *memory;
  size_t size;
  unsigned char byte;
} slot;

static slot exchanged[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long first_round;

static uint64_t draw(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  return *random ^= *random << 17;
}

/* Small ones above all. */
static size_t draw_size(uint64_t *random) {
  uint64_t bits = draw(random) % 4 ? 8 : MOST_BITS;
  return draw(random) % ((uint64_t)1 << (1 + draw(random) % bits));
}

static void fail(const char *what, const slot *s, size_t at) {
  fprintf(stderr, "%s: byte %zu of %zu at %p\n", what, at, s->size, (void *)s->memory);
  abort();
}

static void check(const slot *s, size_t size, unsigned char byte, const char *what) {
  for (size_t i = 0; i < size; i++)
    if (s->memory[i] != byte)
      fail(what, s, i);
}

static void fill(slot *s, uint64_t *random) {
  s->byte = (unsigned char)draw(random);
  memset(s->memory, s->byte, s->size);
}

static void begin(slot *s, uint64_t *random) {
  size_t alignment = (size_t)16 << draw(random) % 9;

  s->size = draw_size(random);
  switch (draw(random) % 4) {
  case 0:
    s->memory = calloc(1, s->size);
    check(s, s->size, 0, "zeroed");
    break;
  case 1:
    s->memory = memalign(alignment, s->size);
    if ((uintptr_t)s->memory % alignment)
      fail("aligned", s, 0);
    break;
  default:
    s->memory = malloc(s->size);
  }
  if (malloc_usable_size(s->memory) < s->size)
    fail("usable size", s, 0);
  fill(s, random);
}

static void resize(slot *s, uint64_t *random) {
  size_t before = s->size;

  s->size = 1 + draw_size(random);
  s->memory = realloc(s->memory, s->size);
  check(s, before < s->size ? before : s->size, s->byte, "resized");
  fill(s, random);
}

static void step(slot *s, uint64_t *random) {
  if (!s->memory) {
    begin(s, random);
    return;
  }
  check(s, s->size, s->byte, "kept");
  if (draw(random) % 3 == 0) {
    resize(s, random);
    return;
  }
  free(s->memory);
  s->memory = NULL;
}

static void exchange(slot *s, uint64_t *random) {
  slot *other = &exchanged[draw(random) % SLOTS], before = *s;

  pthread_mutex_lock(&lock);
  *s = *other;
  *other = before;
  pthread_mutex_unlock(&lock);
}

static void *run(void *number) {
  uint64_t random = (first_round * 2 + (uintptr_t)number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  slot slots[SLOTS] = {{0}};

  for (int i = 0; i < STEPS; i++) {
    slot *s = &slots[draw(&random) % SLOTS];
    step(s, &random);
    if (draw(&random) % 4 == 0)
      exchange(s, &random);
  }
  for (int i = 0; i < SLOTS; i++)
    free(slots[i].memory);
  return NULL;
}

int main(int argc, char **argv) {
  unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;

  first_round = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  for (; rounds > 0; rounds--, first_round++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)1) != 0)
      return 1;
    run(NULL);
    if (pthread_join(thread, NULL) != 0)
      return 1;
  }
  return 0;
}
