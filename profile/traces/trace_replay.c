/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operations are worked out first, in memory of the system's: while they are performed, nothing else allocates. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "trace_replay.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"
#include "live_blocks.h"

#define ALIGNMENT_MOST 4096u /* is not recorded: an address says no more than that its alignment is at most so much */

/* The operation on the pointer in a slot. */
typedef struct operation {
  uint64_t size;
  uint32_t slot;
  uint16_t alignment;
  uint8_t kind; /* HEARTH_TRACE_REALLOC with the old block still in its slot stands for both halves */
} operation;

typedef struct script {
  operation *operations;
  void **pointers;      /* by slot */
  uint32_t *free_slots; /* those that were in use */
  uint64_t count, room;
  uint64_t done, total; /* events */
  uint32_t slot_count, free_count;
  hearth_live_blocks live;
  uint64_t live_bytes, peak_bytes;
} script;

static void *map(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static uint16_t alignment_of(uint64_t address) {
  uint64_t alignment = address & -address;
  return (uint16_t)(alignment < ALIGNMENT_MOST ? alignment : ALIGNMENT_MOST);
}

static uint32_t take_slot(script *s) { return s->free_count ? s->free_slots[--s->free_count] : s->slot_count++; }

static void add(script *s, uint8_t kind, uint32_t slot, uint64_t size, uint64_t address) {
  s->operations[s->count++] = (operation){size, slot, alignment_of(address), kind};
}

static void end_block(script *s, const hearth_live_block *block, uint8_t kind) {
  add(s, kind, (uint32_t)block->number, 0, block->address);
  s->free_slots[s->free_count++] = (uint32_t)block->number;
  s->live_bytes -= block->size;
}

static bool begin_block(script *s, const hearth_trace_event *event) {
  hearth_live_block replaced, block = {.address = event->address, .size = event->size, .number = take_slot(s)};
  if (!hearth_live_blocks_add(&s->live, &block, &replaced))
    return false;
  if (replaced.address) /* its end was lost */
    end_block(s, &replaced, HEARTH_TRACE_FREE);
  add(s, event->kind, (uint32_t)block.number, event->size, event->address);
  s->live_bytes += event->size;
  s->peak_bytes = s->live_bytes > s->peak_bytes ? s->live_bytes : s->peak_bytes;
  return true;
}

/* The halves of a realloc stay two operations where another thread's event lies between them. */
static hearth_status add_event(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  script *s = data;
  hearth_live_block block;
  (void)thread;
  hearth_tool_progress_events(++s->done, s->total);
  operation *last = s->count ? &s->operations[s->count - 1] : NULL;
  if (hearth_trace_frees(event->kind)) {
    if (hearth_live_blocks_remove(&s->live, event->address, &block))
      end_block(s, &block, event->kind);
    return HEARTH_OK;
  }
  bool joins = event->kind == HEARTH_TRACE_REALLOC && last && last->kind == HEARTH_TRACE_REALLOC_FREE;
  if (joins)
    --s->count; /* its slot was freed last, and is taken again */
  return begin_block(s, event) ? HEARTH_OK : hearth_error_nomem(err);
}

static size_t aligned_size(const operation *o) { return (o->size + o->alignment - 1) / o->alignment * o->alignment; }

static void *allocate(const operation *o, void *old) {
  switch (o->kind) {
  case HEARTH_TRACE_CALLOC:
    return calloc(1, o->size);
  case HEARTH_TRACE_REALLOC:
    return realloc(old, o->size);
  case HEARTH_TRACE_ALIGNED:
    return aligned_alloc(o->alignment, aligned_size(o));
  default:
    return malloc(o->size);
  }
}

/* False: the allocator has no more memory. */
static bool perform(const script *s, bool touch) {
  for (uint64_t i = 0; i < s->count; ++i) {
    const operation *o = &s->operations[i];
    void **pointer = &s->pointers[o->slot];
    if (hearth_trace_frees(o->kind)) {
      free(*pointer);
      *pointer = NULL;
      continue;
    }
    *pointer = allocate(o, *pointer);
    if (!*pointer && o->size > 0)
      return false;
    if (touch && *pointer)
      memset(*pointer, 0x5a, o->size);
  }
  return true;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A line of /proc/self/status, in bytes; 0: there is none. The C library's streams would allocate between. */
static uint64_t status_bytes(const char *name) {
  char line[128];
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/self/status", "re");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0)
      sscanf(line + strlen(name), ": %llu", &kib);
  if (file)
    fclose(file);
  return (uint64_t)kib * 1024;
}

/* The peak begins anew from the memory that is resident now; without the right to reset it, it includes the time
 * before. */
static void reset_peak(void) {
  FILE *file = fopen("/proc/self/clear_refs", "we");
  if (!file)
    return;
  fputs("5", file);
  fclose(file);
}

static bool run_once(script *s, bool touch, uint64_t resident_before, struct hearth_replay_round *ret) {
  reset_peak();
  uint64_t begin_ns = now_ns();
  bool done = perform(s, touch);
  uint64_t end_ns = now_ns(), peak = status_bytes("VmHWM");
  for (uint32_t i = 0; i < s->slot_count; ++i) {
    free(s->pointers[i]);
    s->pointers[i] = NULL;
  }
  *ret = (struct hearth_replay_round){.time_ns = end_ns - begin_ns,
                                      .peak_resident_bytes = peak > resident_before ? peak - resident_before : 0};
  return done;
}

static hearth_status run(script *s, bool touch, uint32_t repeats, hearth_replay_result *ret, hearth_error *err) {
  malloc_trim(0); /* memory left free by reading must not serve the trace's blocks */
  uint64_t before = status_bytes("VmRSS");
  bool done = true;
  ret->operations = s->count;
  ret->peak_live_bytes = s->peak_bytes;
  for (uint32_t i = 0; done && i < repeats; i++)
    done = run_once(s, touch, before, &ret->rounds[i]);
  return done ? HEARTH_OK : hearth_error_set(err, HEARTH_E_NOMEM, "the allocator has no memory for the trace's blocks");
}

static hearth_status prepare(hearth_trace *trace, script *s, hearth_error *err) {
  hearth_status status = hearth_trace_visit(trace, add_event, s, err);
  hearth_tool_progress("%s", "");
  hearth_live_blocks_free(&s->live);
  return status;
}

hearth_status hearth_trace_replay(hearth_trace *trace, bool touch, uint32_t repeats, hearth_replay_result *ret,
                                  hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_get_info(trace, &info);
  size_t room = 2 * info.events + 1; /* a block whose end was lost takes an operation more */
  script s = {.operations = map(room * sizeof *s.operations),
              .pointers = map(room * sizeof *s.pointers),
              .free_slots = map(room * sizeof *s.free_slots),
              .total = info.events};
  hearth_status status = s.operations && s.pointers && s.free_slots ? prepare(trace, &s, err) : hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = run(&s, touch, repeats, ret, err);
  if (s.operations)
    munmap(s.operations, room * sizeof *s.operations);
  if (s.pointers)
    munmap(s.pointers, room * sizeof *s.pointers);
  if (s.free_slots)
    munmap(s.free_slots, room * sizeof *s.free_slots);
  return status;
}
