/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Performs the operations of a trace with this process's allocator (LD_PRELOAD tries another one), in the order of their times,
 * and prints the time that this takes, and the most and mean memory in use. On one thread; alignments follow the addresses.
 *
 *   replay [--touch] [--repeat=N] FILE
 *
 * --touch writes to every allocated byte, as the program may have done. The operations are worked out first, in pages of a
 * file, by another process: what reading leaves in its heap would serve the blocks of the trace. While they are performed, nothing else
 * allocates. */
#define _GNU_SOURCE /* memfd_create */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hearth/trace.h"
#include "print.h"

enum { ROUNDS_MOST = 1000 };

typedef struct replay_result {
  uint64_t operations;
  uint64_t peak_live_bytes; /* that were asked for */
  struct replay_round {
    uint64_t time_ns;
    uint64_t peak_resident_bytes, mean_resident_bytes; /* of the process, beyond its memory before the first one */
  } rounds[ROUNDS_MOST];
} replay_result;

#define ALIGNMENT_MOST 4096u /* is not recorded: an address says no more than that its alignment is at most so much */

/* The operation on the pointer in a slot. */
typedef struct operation {
  uint64_t size;
  uint32_t slot;
  uint16_t alignment;
  uint8_t kind; /* HEARTH_TRACE_REALLOC with the old block still in its slot stands for both halves */
} operation;

/* The operations, as one process hands them to the other. */
typedef struct script {
  uint64_t count, peak_bytes;
  uint32_t slot_count;
  operation operations[];
} script;

typedef struct writer {
  script *script;
  uint32_t *free_slots; /* those that were in use */
  uint32_t free_count;
  hearth_live_blocks live;
  uint64_t live_bytes;
} writer;

static void *map(size_t size, int flags, int file) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void *map_private(size_t size) { return map(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1); }

static uint16_t alignment_of(uint64_t address) {
  uint64_t alignment = address & -address;
  return (uint16_t)(alignment < ALIGNMENT_MOST ? alignment : ALIGNMENT_MOST);
}

static uint32_t take_slot(writer *w) {
  return w->free_count ? w->free_slots[--w->free_count] : w->script->slot_count++;
}

static void add(script *s, uint8_t kind, uint32_t slot, uint64_t size, uint64_t address) {
  s->operations[s->count++] = (operation){size, slot, alignment_of(address), kind};
}

static void end_block(writer *w, const hearth_live_block *block, uint8_t kind) {
  add(w->script, kind, (uint32_t)block->number, 0, block->address);
  w->free_slots[w->free_count++] = (uint32_t)block->number;
  w->live_bytes -= block->size;
}

static bool begin_block(writer *w, const hearth_trace_event *event) {
  script *s = w->script;
  hearth_live_block replaced, block = {.address = event->address, .size = event->size, .number = take_slot(w)};
  if (!hearth_live_blocks_add(&w->live, &block, &replaced))
    return false;
  if (replaced.address) /* its end was lost */
    end_block(w, &replaced, HEARTH_TRACE_FREE);
  add(s, event->kind, (uint32_t)block.number, event->size, event->address);
  w->live_bytes += event->size;
  s->peak_bytes = w->live_bytes > s->peak_bytes ? w->live_bytes : s->peak_bytes;
  return true;
}

/* The halves of a realloc stay two operations where another thread's event lies between them. */
static hearth_status add_event(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  writer *w = data;
  script *s = w->script;
  hearth_live_block block;
  (void)thread;
  operation *last = s->count ? &s->operations[s->count - 1] : NULL;
  if (hearth_trace_frees(event->kind)) {
    if (hearth_live_blocks_remove(&w->live, event->address, &block))
      end_block(w, &block, event->kind);
    return HEARTH_OK;
  }
  bool joins = event->kind == HEARTH_TRACE_REALLOC && last && last->kind == HEARTH_TRACE_REALLOC_FREE;
  if (joins)
    --s->count; /* its slot was freed last, and is taken again */
  return begin_block(w, event) ? HEARTH_OK : hearth_error_nomem(err);
}

static hearth_status prepare(hearth_trace *trace, int file, hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_get_info(trace, &info);
  size_t room = 2 * info.events + 1; /* a block whose end was lost takes an operation more */
  size_t bytes = sizeof(script) + room * sizeof(operation), slot_bytes = room * sizeof(uint32_t);
  writer w = {.script = ftruncate(file, (off_t)bytes) ? NULL : map(bytes, MAP_SHARED, file),
              .free_slots = map_private(slot_bytes)};
  hearth_status status =
      w.script && w.free_slots ? hearth_trace_visit(trace, add_event, &w, err) : hearth_error_nomem(err);
  hearth_live_blocks_free(&w.live);
  if (status == HEARTH_OK && ftruncate(file, (off_t)(sizeof(script) + w.script->count * sizeof(operation))))
    status = hearth_error_nomem(err);
  if (w.script)
    munmap(w.script, bytes);
  if (w.free_slots)
    munmap(w.free_slots, slot_bytes);
  return status;
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

enum { SAMPLES = 1000 };

/* Resident memory of the process now. */
static uint64_t resident_bytes(int statm) {
  char text[128];
  unsigned long long pages = 0;
  ssize_t got = pread(statm, text, sizeof text - 1, 0);
  text[got > 0 ? got : 0] = 0;
  sscanf(text, "%*u %llu", &pages);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* False: the allocator has no more memory. */
static bool perform(const script *s, void **pointers, bool touch, int statm, uint64_t *ret_mean_bytes) {
  uint64_t sum = 0, samples = 0, step = s->count / SAMPLES + 1;
  for (uint64_t i = 0; i < s->count; ++i) {
    const operation *o = &s->operations[i];
    void **pointer = &pointers[o->slot];
    if (i % step == 0) {
      sum += resident_bytes(statm);
      samples++;
    }
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
  *ret_mean_bytes = samples ? sum / samples : 0;
  return true;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The most that was resident, a line of /proc/self/status; 0: there is none. The C library's streams would allocate. */
static uint64_t peak_resident_bytes(void) {
  char text[4096];
  unsigned long long kib = 0;
  int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t got = read(file, text, sizeof text - 1);
  text[got > 0 ? got : 0] = 0;
  const char *line = strstr(text, "\nVmHWM:");
  if (line)
    sscanf(line + 1, "VmHWM: %llu", &kib);
  close(file);
  return (uint64_t)kib * 1024;
}

/* The peak begins anew from the memory that is resident now; without the right to reset it, it includes the time
 * before. */
static void reset_peak(void) {
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (write(file, "5", 1) != 1)
    errno = 0;
  close(file);
}

static uint64_t beyond(uint64_t bytes, uint64_t before) { return bytes > before ? bytes - before : 0; }

static bool run_once(const script *s, void **pointers, bool touch, int statm, uint64_t before,
                     struct replay_round *ret) {
  uint64_t mean = 0;
  reset_peak();
  uint64_t begin_ns = now_ns();
  bool done = perform(s, pointers, touch, statm, &mean);
  uint64_t end_ns = now_ns(), peak = peak_resident_bytes();
  for (uint32_t i = 0; i < s->slot_count; ++i) {
    free(pointers[i]);
    pointers[i] = NULL;
  }
  *ret = (struct replay_round){.time_ns = end_ns - begin_ns,
                               .peak_resident_bytes = beyond(peak, before),
                               .mean_resident_bytes = beyond(mean, before)};
  return done;
}

/* False: the allocator has no memory for the blocks. */
static bool run(int file, bool touch, uint32_t repeats, replay_result *ret) {
  struct stat about;
  size_t bytes = fstat(file, &about) ? 0 : (size_t)about.st_size;
  script *s = map(bytes, MAP_SHARED | MAP_POPULATE, file); /* its pages count as resident from the start */
  if (!s)
    return false;
  size_t pointer_bytes = (s->slot_count + 1) * sizeof(void *);
  void **pointers = map_private(pointer_bytes);
  int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  bool done = pointers;
  ret->operations = s->count;
  ret->peak_live_bytes = s->peak_bytes;
  if (pointers)
    memset(pointers, 0, pointer_bytes);
  uint64_t before = resident_bytes(statm);
  for (uint32_t i = 0; done && i < repeats; i++)
    done = run_once(s, pointers, touch, statm, before, &ret->rounds[i]);
  close(statm);
  munmap(s, bytes);
  if (pointers)
    munmap(pointers, pointer_bytes);
  return done;
}

static void print(const replay_result *result, uint32_t repeats) {
  printf("operations     %" PRIu64 "\n", result->operations);
  printf("peak live      %s (%" PRIu64 " bytes)\n", hearth_amount_bytes(result->peak_live_bytes).c,
         result->peak_live_bytes);
  for (uint32_t i = 0; i < repeats; i++) {
    uint64_t ns = result->rounds[i].time_ns, bytes = result->rounds[i].peak_resident_bytes;
    printf("time           %.3f ms, %.1f ns an operation\n", (double)ns / 1e6,
           result->operations ? (double)ns / (double)result->operations : 0);
    printf("peak resident  %s (%" PRIu64 " bytes) more than before\n", hearth_amount_bytes(bytes).c, bytes);
    bytes = result->rounds[i].mean_resident_bytes;
    printf("mean resident  %s (%" PRIu64 " bytes)\n", hearth_amount_bytes(bytes).c, bytes);
  }
}

/* In a child, whose exit code this is. */
static int prepare_file(const char *path, int file) {
  hearth_trace *trace;
  hearth_error err;
  if (hearth_trace_open(path, &trace, &err) == HEARTH_OK && prepare(trace, file, &err) == HEARTH_OK)
    return 0;
  fprintf(stderr, "replay: %s\n", err.message);
  return 1;
}

int main(int argc, char **argv) {
  static replay_result result; /* too large for the stack */
  bool touch = false;
  unsigned repeats = 1;
  int file = memfd_create("replay", MFD_CLOEXEC), code = 0, i = 1;
  for (; i + 1 < argc; i++)
    if (strcmp(argv[i], "--touch") == 0)
      touch = true;
    else if (sscanf(argv[i], "--repeat=%u", &repeats) != 1)
      repeats = 0;
  if (argc < 2 || repeats == 0 || repeats > ROUNDS_MOST) {
    fputs("usage: replay [--touch] [--repeat=N] FILE\n", stderr);
    return 2;
  }
  pid_t child = file < 0 ? -1 : fork();
  if (child == 0)
    _exit(prepare_file(argv[i], file));
  if (child < 0 || waitpid(child, &code, 0) != child || code != 0)
    return 1;
  if (!run(file, touch, repeats, &result)) {
    fputs("replay: the allocator has no memory for the trace's blocks\n", stderr);
    return 1;
  }
  print(&result, repeats);
  return fflush(stdout) == 0 ? 0 : 1;
}
