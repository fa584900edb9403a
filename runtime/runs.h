/* The heap's address range, handed out in runs of units. Words:
 *
 *   range   one reservation of address space; every block of ours lies in it, so that "is it ours?" is one comparison
 *   unit    64 KiB of the range; a table tells what each unit is used for
 *   run     neighbouring units with one use
 *
 *   | small run | large run ........ | free run .... | small run | never used ...                                  |
 *   ^ range                                                      ^ frontier                                       ^ end
 */
#ifndef HEARTH_RUNTIME_RUNS_H
#define HEARTH_RUNTIME_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_UNIT ((size_t)65536)

typedef enum hearth_run_kind {
  HEARTH_RUN_UNUSED, /* behind the frontier */
  HEARTH_RUN_FREE,
  HEARTH_RUN_SMALL, /* chunks of one size class */
  HEARTH_RUN_BARE,  /* chunks of one size, without headers (bare.h); one unit */
  HEARTH_RUN_LARGE, /* one block */
  HEARTH_RUN_INNER  /* not the first unit of a used run */
} hearth_run_kind;

/* What is known of a unit. For a used run, `length` counts in its first unit the run's units and in the others the
 * distance to the first. For a free run, first and last unit hold kind and length, the first also the links. */
typedef struct hearth_unit {
  uint8_t kind;       /* hearth_run_kind */
  uint8_t size_class; /* of a small run, or a bare one */
  uint32_t length;
  uint32_t previous, next; /* free runs of similar length; UINT32_MAX at the ends */
} hearth_unit;

/* A used run, seen from outside. */
typedef struct hearth_run {
  hearth_run_kind kind;
  uint8_t size_class;
  char *start;
  size_t size; /* bytes */
} hearth_run;

/* Reserve the range; once, before all other calls. False: there is no address space. */
bool hearth_runs_create(void);

/* A run of at least `size` bytes, usable and zero. NULL: the range is full, or there is no memory. */
char *hearth_run_take(hearth_run_kind kind, uint8_t size_class, size_t size);

/* Give a large run back, its pages to the system. `start` as from hearth_run_take. */
void hearth_run_give(char *start);

bool hearth_runs_contain(const void *address);

/* The unit of an address; NULL if it is not in our range. */
const hearth_unit *hearth_unit_of(const void *address);

/* The run with headers that `address` lies in; false if it lies in none. */
bool hearth_run_find(const void *address, hearth_run *ret_run);

/* The run of an address in our range. */
hearth_run hearth_run_of(const void *address);

/* Used runs in ascending order: begin with *unit = 0; false at the end. The caller holds hearth_runs_lock. */
bool hearth_run_next(uint32_t *unit, hearth_run *ret_run);

/* With signals blocked. */
void hearth_runs_lock(void);
void hearth_runs_unlock(void);

#endif
