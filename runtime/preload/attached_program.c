/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that ran already when `hearth record --pid` loaded the library into it.
 *
 * Blocks stay its allocator's: those of before, and those that are freed through a pointer to free that was kept,
 * would come to another one else. The names that the loader binds calls by lead to the functions below, which record
 * what the allocator did. A trace suits that: its reader knows blocks by address, and takes one that is handed out
 * again as freed. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "blocks.h"
#include "clock.h"
#include "entry_points.h"
#include "os.h"
#include "output.h"
#include "process.h"
#include "running_profile.h"
#include "trace_recorder.h"

#include "hearth/running_program.h"

#include <dlfcn.h>

/* The C library's; declared by none of its headers. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* The program's functions. */
static struct {
  void *(*malloc)(size_t size);
  void *(*calloc)(size_t count, size_t size);
  void *(*realloc)(void *pointer, size_t size);
  void *(*reallocarray)(void *pointer, size_t count, size_t size);
  void (*free)(void *pointer);
  void *(*memalign)(size_t alignment, size_t size);
  void *(*aligned_alloc)(size_t alignment, size_t size);
  int (*posix_memalign)(void **ret, size_t alignment, size_t size);
  void *(*valloc)(size_t size);
  void *(*pvalloc)(size_t size);
} next;

static uint64_t now(void) { return hearth_clock_now_ns() - hearth_rt.start_ns; }

/* What an allocator or the runtime allocates on its way is not the program's. */
static bool is_traced(void) { return hearth_rt.tracing && !hearth_guard_is_held(&hearth_this_thread.in_runtime); }

/* VALUE is what the program's function returns. */
#define PASS_ON(VALUE)                                                                                                 \
  __extension__({                                                                                                      \
    bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime);                                                   \
    __typeof__(VALUE) value = VALUE;                                                                                   \
    hearth_guard_leave(&hearth_this_thread.in_runtime, outer);                                                         \
    value;                                                                                                             \
  })

static void record_event(hearth_trace_event event) {
  if (event.stack != HEARTH_NO_CONTEXT)
    hearth_trace_add(&event);
}

static void *record_block(hearth_trace_kind kind, void *memory, size_t size, uint64_t begin_ns,
                          const hearth_frame *frame) {
  uint64_t stack_ns = now();

  if (memory)
    record_event((hearth_trace_event){.address = (uintptr_t)memory,
                                      .size = size,
                                      .begin_ns = begin_ns,
                                      .stack_ns = stack_ns,
                                      .stack = hearth_context_of(frame),
                                      .end_ns = now(),
                                      .kind = (uint8_t)kind});
  return memory;
}

/* A function that hands out SIZE bytes. */
#define ATTACHED(KIND, NAME, PARAMETERS, ARGUMENTS, SIZE)                                                              \
  static void *attached_##NAME PARAMETERS {                                                                            \
    if (!is_traced())                                                                                                  \
      return next.NAME ARGUMENTS;                                                                                      \
    uint64_t begin_ns = now();                                                                                         \
    return record_block(HEARTH_TRACE_##KIND, PASS_ON(next.NAME ARGUMENTS), SIZE, begin_ns, HEARTH_THIS_FRAME);         \
  }

ATTACHED(MALLOC, malloc, (size_t size), (size), size)
ATTACHED(CALLOC, calloc, (size_t count, size_t size), (count, size), count *size)
ATTACHED(ALIGNED, memalign, (size_t alignment, size_t size), (alignment, size), size)
ATTACHED(ALIGNED, aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)
ATTACHED(ALIGNED, valloc, (size_t size), (size), size)
ATTACHED(ALIGNED, pvalloc, (size_t size), (size), size)

/* `memory` is what became of the block at `old`. Its address was free from then on when it had not been given back yet. */
static void *record_resized(uintptr_t old, void *memory, size_t size, uint64_t begin_ns, const hearth_frame *frame) {
  if (old && (memory || size == 0))
    record_event((hearth_trace_event){.address = old,
                                      .begin_ns = begin_ns,
                                      .stack_ns = begin_ns,
                                      .stack = hearth_context_of(frame),
                                      .end_ns = begin_ns,
                                      .kind = HEARTH_TRACE_REALLOC_FREE});
  return record_block(HEARTH_TRACE_REALLOC, memory, size, begin_ns, frame);
}

static void *attached_realloc(void *pointer, size_t size) {
  if (!is_traced())
    return next.realloc(pointer, size);
  uint64_t begin_ns = now();
  uintptr_t old = (uintptr_t)pointer;
  return record_resized(old, PASS_ON(next.realloc(pointer, size)), size, begin_ns, HEARTH_THIS_FRAME);
}

static void *attached_reallocarray(void *pointer, size_t count, size_t size) {
  size_t total;

  if (!is_traced() || __builtin_mul_overflow(count, size, &total))
    return next.reallocarray(pointer, count, size);
  uint64_t begin_ns = now();
  uintptr_t old = (uintptr_t)pointer;
  return record_resized(old, PASS_ON(next.reallocarray(pointer, count, size)), total, begin_ns, HEARTH_THIS_FRAME);
}

static void attached_free(void *pointer) {
  if (!pointer || !is_traced()) {
    next.free(pointer);
    return;
  }
  hearth_trace_event event = {.address = (uintptr_t)pointer, .begin_ns = now(), .kind = HEARTH_TRACE_FREE};
  event.stack = hearth_context_of(HEARTH_THIS_FRAME);
  event.stack_ns = now();
  PASS_ON((next.free(pointer), 0));
  event.end_ns = now();
  record_event(event);
}

static int attached_posix_memalign(void **ret, size_t alignment, size_t size) {
  if (!is_traced())
    return next.posix_memalign(ret, alignment, size);
  uint64_t begin_ns = now();
  int error = PASS_ON(next.posix_memalign(ret, alignment, size));
  if (!error)
    record_block(HEARTH_TRACE_ALIGNED, *ret, size, begin_ns, HEARTH_THIS_FRAME);
  return error;
}

/* -- begin and end ------------------------------------------------------------------------------------------------- */

#define REPLACED(NAME) {#NAME, (void *)attached_##NAME, (void *)&next.NAME}
static const struct {
  const char *name;
  void *function;
  void *ret_next; /* a pointer to a function */
} replaced[] = {REPLACED(malloc), REPLACED(calloc),   REPLACED(realloc),       REPLACED(reallocarray),
                REPLACED(free),   REPLACED(memalign), REPLACED(aligned_alloc), REPLACED(posix_memalign),
                REPLACED(valloc), REPLACED(pvalloc)};
#define REPLACED_COUNT (sizeof replaced / sizeof replaced[0])

/* Other threads are bound to ours one by one: all must be known before. */
static bool find_program_functions(void) {
  bool found = true;

  for (size_t i = 0; i < REPLACED_COUNT; ++i) {
    void *function = dlsym(RTLD_DEFAULT, replaced[i].name);
    __builtin_memcpy(replaced[i].ret_next, &function, sizeof function);
    found = found && function;
  }
  return found;
}

/* Blocks are freed before they are handed out again: allocation begins last. */
static void bind_functions(bool to_ours) {
  for (size_t i = REPLACED_COUNT; i-- > 0;) {
    void *function;
    __builtin_memcpy(&function, replaced[i].ret_next, sizeof function);
    hearth_loader_replace(hearth_loader_find_own, replaced[i].name, to_ours ? replaced[i].function : function);
  }
}

static void end_attached(void *unused) {
  (void)unused;
  hearth_finish();
}

/* hearth_attach_result */
HEARTH_EXPORT int __hearth_attach(const char *settings) {
  static char setting[HEARTH_ATTACH_SETTINGS + sizeof HEARTH_RECORD_VARIABLE];
  hearth_text text = hearth_text_begin(setting, sizeof setting);
  char *environment[] = {setting, NULL};

  bool is_first = !hearth_recorder;

  if (hearth_rt.tracing || (hearth_recorder && !hearth_recorder->is_guest))
    return HEARTH_ATTACH_AGAIN;
  if (!find_program_functions())
    return HEARTH_ATTACH_NO_MALLOC;
  hearth_text_format(&text, HEARTH_RECORD_VARIABLE "=%s", settings);
  if (is_first) {
    hearth_recorder = &hearth_trace_guest;
    hearth_start(environment);
    __cxa_atexit(end_attached, NULL, NULL);
  } else {
    hearth_start_again(environment);
  }
  if (!hearth_rt.tracing)
    return HEARTH_ATTACH_NO_TRACE;
  bind_functions(true);
  return HEARTH_ATTACH_OK;
}

/* Pointers to the functions above may have been kept: the library stays. */
HEARTH_EXPORT int __hearth_detach(void) {
  bind_functions(false);
  hearth_finish();
  return HEARTH_ATTACH_OK;
}
