#include "runs.h"

#include "lock.h"
#include "os.h"

#define RANGE_MOST   ((size_t)1 << 40)
#define RANGE_LEAST  ((size_t)1 << 35) /* valgrind and small address spaces still give this much */
#define COMMIT_UNITS 64u               /* grow by 4 MiB: few system calls, little waste */
#define BINS         32
#define NO_UNIT      UINT32_MAX

static struct {
  hearth_lock lock;
  char *range;
  hearth_unit *units;
  uint32_t count;      /* units of the range */
  uint32_t frontier;   /* units ever used */
  uint32_t committed;  /* units that are readable and writable */
  uint32_t bins[BINS]; /* free runs: bin b holds lengths [2^b, 2^(b+1)) */
} runs;

static char *unit_address(uint32_t unit) { return runs.range + (size_t)unit * HEARTH_UNIT; }

static unsigned bin_of(uint32_t length) { return 31u - (unsigned)__builtin_clz(length); }

bool hearth_runs_create(void) {
  for (size_t size = RANGE_MOST; size >= RANGE_LEAST; size /= 2) {
    /* One unit more, to align the range to units. */
    char *space = hearth_os_reserve(size + HEARTH_UNIT);
    if (!space)
      continue;
    uint32_t count = (uint32_t)(size / HEARTH_UNIT);
    size_t table = count * sizeof(hearth_unit);
    runs.units = hearth_os_map(table);
    if (!runs.units) {
      hearth_os_unmap(space, size + HEARTH_UNIT);
      continue;
    }
    hearth_os_mark_sparse(runs.units, table);
    for (unsigned bin = 0; bin < BINS; ++bin)
      runs.bins[bin] = NO_UNIT;
    runs.range = (char *)(((uintptr_t)space + HEARTH_UNIT - 1) & ~(HEARTH_UNIT - 1));
    runs.count = count;
    return true;
  }
  return false;
}

static void unlink_free(uint32_t first) {
  hearth_unit *unit = &runs.units[first];

  if (unit->previous == NO_UNIT)
    runs.bins[bin_of(unit->length)] = unit->next;
  else
    runs.units[unit->previous].next = unit->next;
  if (unit->next != NO_UNIT)
    runs.units[unit->next].previous = unit->previous;
}

static void link_free(uint32_t first, uint32_t length) {
  uint32_t *bin = &runs.bins[bin_of(length)];

  runs.units[first] = (hearth_unit){.kind = HEARTH_RUN_FREE, .length = length, .previous = NO_UNIT, .next = *bin};
  if (length > 1)
    runs.units[first + length - 1] = (hearth_unit){.kind = HEARTH_RUN_FREE, .length = length};
  if (*bin != NO_UNIT)
    runs.units[*bin].previous = first;
  *bin = first;
}

/* A free run of at least `length` units, unlinked, what is too much of it linked again. */
static uint32_t take_free(uint32_t length) {
  for (unsigned bin = bin_of(length); bin < BINS; ++bin)
    for (uint32_t first = runs.bins[bin]; first != NO_UNIT; first = runs.units[first].next) {
      uint32_t found = runs.units[first].length;
      if (found < length)
        continue; /* in the first bin only */
      unlink_free(first);
      if (found > length)
        link_free(first + length, found - length);
      return first;
    }
  return NO_UNIT;
}

static uint32_t take_new(uint32_t length) {
  if (length > runs.count - runs.frontier)
    return NO_UNIT;
  uint32_t end = runs.frontier + length;
  if (end > runs.committed) {
    uint32_t target = (end + COMMIT_UNITS - 1) / COMMIT_UNITS * COMMIT_UNITS; /* the range is a multiple of it */
    if (!hearth_os_commit(unit_address(runs.committed), (target - runs.committed) * HEARTH_UNIT))
      return NO_UNIT;
    runs.committed = target;
  }
  uint32_t first = runs.frontier;
  runs.frontier = end;
  return first;
}

/* With signals blocked: every malloc may need a run in the end, that of a signal handler too. */
static uint64_t lock_runs(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_lock_take(&runs.lock);
  return signals;
}

static void unlock_runs(uint64_t signals) {
  hearth_lock_give(&runs.lock);
  hearth_os_restore_signals(signals);
}

char *hearth_run_take(hearth_run_kind kind, uint8_t size_class, size_t size) {
  if (size > runs.count * HEARTH_UNIT)
    return NULL;
  uint32_t length = (uint32_t)((size + HEARTH_UNIT - 1) / HEARTH_UNIT);
  uint64_t signals = lock_runs();
  uint32_t first = take_free(length);
  if (first == NO_UNIT)
    first = take_new(length);
  if (first != NO_UNIT) {
    for (uint32_t i = 1; i < length; ++i)
      runs.units[first + i] = (hearth_unit){.kind = HEARTH_RUN_INNER, .length = i};
    runs.units[first] = (hearth_unit){.kind = (uint8_t)kind, .size_class = size_class, .length = length};
  }
  unlock_runs(signals);
  return first == NO_UNIT ? NULL : unit_address(first);
}

void hearth_run_give(char *start) {
  uint32_t first = (uint32_t)((size_t)(start - runs.range) / HEARTH_UNIT);
  uint32_t length = runs.units[first].length;

  /* Before it can be taken again, and outside the lock: this is the slow part. */
  hearth_os_discard(start, length * HEARTH_UNIT);
  uint64_t signals = lock_runs();
  if (first + length < runs.frontier && runs.units[first + length].kind == HEARTH_RUN_FREE) {
    uint32_t behind = first + length;
    length += runs.units[behind].length;
    unlink_free(behind);
  }
  if (first > 0 && runs.units[first - 1].kind == HEARTH_RUN_FREE) {
    uint32_t before = first - runs.units[first - 1].length;
    length += runs.units[before].length;
    unlink_free(before);
    first = before;
  }
  link_free(first, length);
  unlock_runs(signals);
}

inline bool hearth_runs_contain(const void *address) {
  return (uintptr_t)address - (uintptr_t)runs.range < runs.count * HEARTH_UNIT; /* no unit before there is a range */
}

inline const hearth_unit *hearth_unit_of(const void *address) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)runs.range;

  return offset < runs.count * HEARTH_UNIT ? &runs.units[offset / HEARTH_UNIT] : NULL;
}

static inline hearth_run describe(uint32_t first) {
  const hearth_unit *unit = &runs.units[first];

  return (hearth_run){unit->kind, unit->size_class, unit_address(first), unit->length * HEARTH_UNIT};
}

inline hearth_run hearth_run_of(const void *address) {
  uint32_t first = (uint32_t)(((uintptr_t)address - (uintptr_t)runs.range) / HEARTH_UNIT);
  if (runs.units[first].kind == HEARTH_RUN_INNER)
    first -= runs.units[first].length;
  return describe(first);
}

inline bool hearth_run_find(const void *address, hearth_run *ret_run) {
  if (!hearth_runs_contain(address))
    return false;
  *ret_run = hearth_run_of(address);
  return ret_run->kind == HEARTH_RUN_SMALL || ret_run->kind == HEARTH_RUN_LARGE;
}

bool hearth_run_next(uint32_t *unit, hearth_run *ret_run) {
  while (*unit < runs.frontier) {
    *ret_run = describe(*unit);
    *unit += runs.units[*unit].length;
    if (ret_run->kind != HEARTH_RUN_FREE)
      return true;
  }
  return false;
}

void hearth_runs_lock(void) { hearth_lock_take(&runs.lock); }

void hearth_runs_unlock(void) { hearth_lock_give(&runs.lock); }
