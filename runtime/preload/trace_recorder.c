/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each thread appends events to its own buffer, under a lock that only a flush of all buffers contends for. A full
 * buffer is packed column by column, compressed, and added to the file as one block. */
#include "trace_recorder.h"

#include "blocks.h"
#include "clock.h"
#include "heap.h"
#include "mappings.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "thread_state.h"

#include "hearth/trace_format.h"

#include <string.h>

#define PAYLOAD_MOST ((size_t)HEARTH_TRACE_COLUMNS * HEARTH_TRACE_COLUMN_BYTES) /* before compression */

/* A thread's events that are not in the file yet; `stack` is the context until they are packed. The owner takes the
 * lock for each event, and a thread that flushes all buffers takes it, too. */
typedef struct hearth_trace_buffer {
  hearth_lock lock;
  bool idle;    /* its thread has ended: the next one that begins takes it */
  bool packing; /* a signal handler that finds it so leaves it alone */
  uint32_t thread;
  uint32_t count;
  struct hearth_trace_buffer *next; /* of all there are */
  hearth_packer packer;
  hearth_trace_event events[HEARTH_TRACE_EVENTS_MOST];
  uint8_t columns[HEARTH_TRACE_COLUMNS][HEARTH_TRACE_COLUMN_BYTES];
} hearth_trace_buffer;

static hearth_lock registry_lock;
static hearth_trace_buffer *buffers;
static hearth_trace_buffer
    *shared; /* for users without one: signal handlers within critical sections, threads past their end */
static uint32_t thread_count;
static uint64_t dropped; /* events; atomic */

/* -- memory -------------------------------------------------------------------------------------------------------- */

static hearth_trace_buffer *make_trace_buffer(void) {
  size_t own = (sizeof(hearth_trace_buffer) + 63) & ~(size_t)63;
  size_t size = HEARTH_WHOLE_PAGES(own + hearth_packer_memory(PAYLOAD_MOST));
  char *memory = hearth_system_map_sparse(size);

  if (!memory)
    return NULL;
  hearth_trace_buffer *buffer = (hearth_trace_buffer *)(void *)memory;
  if (!hearth_packer_create(&buffer->packer, memory + own, PAYLOAD_MOST)) {
    hearth_system_unmap(memory, size);
    return NULL;
  }
  buffer->next = buffers;
  buffers = buffer;
  return buffer;
}

static uint32_t own_number(void) {
  if (!hearth_this_thread.trace_number)
    hearth_this_thread.trace_number = __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
  return hearth_this_thread.trace_number;
}

static hearth_trace_buffer *take_trace_buffer(void) {
  uint32_t number = own_number();

  hearth_lock_take(&registry_lock);
  hearth_trace_buffer *buffer = buffers;
  while (buffer && !buffer->idle)
    buffer = buffer->next;
  if (!buffer)
    buffer = make_trace_buffer();
  if (buffer) {
    buffer->idle = false;
    buffer->thread = number;
  }
  hearth_lock_give(&registry_lock);
  hearth_this_thread.trace = buffer;
  return buffer;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

/* Give each event its node. */
static bool set_stack_nodes(hearth_trace_buffer *buffer) {
  if (!hearth_reentry_take(&hearth_trace_file_lock))
    return false;
  for (uint32_t i = 0; i < buffer->count; ++i)
    buffer->events[i].stack = hearth_trace_stacks_node(buffer->events[i].stack, &buffer->packer);
  hearth_trace_stacks_flush(&buffer->packer);
  hearth_trace_mappings_add(&buffer->packer);
  hearth_lock_give(&hearth_trace_file_lock);
  return true;
}

static void pack_events(hearth_trace_buffer *buffer) {
  hearth_trace_columns columns;
  hearth_trace_last last = {0};

  for (unsigned i = 0; i < HEARTH_TRACE_COLUMNS; ++i)
    columns.to[i] = buffer->columns[i];
  for (uint32_t i = 0; i < buffer->count; ++i)
    hearth_trace_put_event(&last, &columns, &buffer->events[i]);
  hearth_packer_begin(&buffer->packer);
  for (unsigned i = 0; i < HEARTH_TRACE_COLUMNS; ++i)
    hearth_packer_add(&buffer->packer, buffer->columns[i], (size_t)(columns.to[i] - buffer->columns[i]));
}

/* Write a buffer whose lock the caller has. False: its events are lost, which is counted, or still there, since a
 * signal handler must not wait. */
static bool flush_trace_buffer(hearth_trace_buffer *buffer) {
  hearth_trace_block block = {.kind = HEARTH_TRACE_BLOCK_EVENTS, .count = buffer->count, .first = buffer->thread};

  if (buffer->count == 0)
    return true;
  buffer->packing = true;
  HEARTH_SIGNAL_FENCE();
  bool written = set_stack_nodes(buffer);
  if (written) {
    pack_events(buffer);
    hearth_lock_take(&hearth_trace_file_lock);
    if (!hearth_trace_file_add(&block, buffer->packer.packed, buffer->packer.size))
      __atomic_fetch_add(&dropped, buffer->count, __ATOMIC_RELAXED);
    hearth_lock_give(&hearth_trace_file_lock);
    buffer->count = 0;
  }
  HEARTH_SIGNAL_FENCE();
  buffer->packing = false;
  return written;
}

static bool append_event(hearth_trace_buffer *buffer, const hearth_trace_event *event) {
  if (buffer->packing || (buffer->count == HEARTH_TRACE_EVENTS_MOST && !flush_trace_buffer(buffer)))
    return false;
  buffer->events[buffer->count] = *event;
  HEARTH_SIGNAL_FENCE(); /* a signal handler that flushes counts whole events */
  ++buffer->count;
  return true;
}

/* One buffer for all users without one: each writes the events of another thread that it finds there. */
static bool append_shared(const hearth_trace_event *event) {
  uint32_t number = own_number();

  if (!hearth_reentry_take(&shared->lock))
    return false;
  bool appended = shared->thread == number || flush_trace_buffer(shared);
  if (appended) {
    shared->thread = number;
    appended = append_event(shared, event);
  }
  hearth_lock_give(&shared->lock);
  return appended;
}

void hearth_trace_add(const hearth_trace_event *event) {
  bool appended = false;

  hearth_reentry_enter();
  hearth_trace_buffer *own = hearth_this_thread.trace;
  if (!own && !hearth_reentry_is_nested() && !hearth_this_thread.ends && !hearth_this_thread_forks())
    own = take_trace_buffer();
  if (own && hearth_reentry_take(&own->lock)) {
    appended = append_event(own, event);
    hearth_lock_give(&own->lock);
  }
  if (!appended && !append_shared(event))
    __atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
  hearth_reentry_leave();
}

/* -- operations ---------------------------------------------------------------------------------------------------- */

static uint64_t now_in_trace(void) { return hearth_clock_now_ns() - hearth_rt.start_ns; }

/* Was the block's allocation recorded in this process? */
static bool is_allocation_recorded(const hearth_block *block) {
  return block->context != HEARTH_NO_CONTEXT && block->alloc_ns >= hearth_rt.fork_ns;
}

static void *record_allocation(hearth_trace_kind kind, void *memory, uint64_t begin_ns) {
  hearth_block block;

  if (memory && hearth_heap_find(memory, &block) == HEARTH_POINTER_LIVE && is_allocation_recorded(&block))
    hearth_trace_add(&(hearth_trace_event){.address = (uintptr_t)memory,
                                           .size = block.size,
                                           .begin_ns = begin_ns,
                                           .stack_ns = block.alloc_ns,
                                           .end_ns = now_in_trace(),
                                           .stack = block.context,
                                           .kind = (uint8_t)kind});
  return memory;
}

static void *trace_allocate(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame) {
  uint64_t begin_ns = now_in_trace();

  return record_allocation(kind, hearth_allocate(size, alignment, frame), begin_ns);
}

static void *trace_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame) {
  uint64_t begin_ns = now_in_trace();

  return record_allocation(HEARTH_TRACE_CALLOC, hearth_allocate_zeroed(count, size, frame), begin_ns);
}

static void trace_release(hearth_trace_kind kind, void *pointer, const char *function, const hearth_frame *frame) {
  hearth_block block;
  hearth_trace_event event = {.address = (uintptr_t)pointer, .begin_ns = now_in_trace(), .kind = (uint8_t)kind};

  if (!pointer || hearth_heap_find(pointer, &block) != HEARTH_POINTER_LIVE || !is_allocation_recorded(&block)) {
    hearth_release(pointer, function);
    return;
  }
  event.size = block.size;
  event.stack = hearth_context_of(frame);
  event.stack_ns = now_in_trace();
  hearth_header_forget_context(block.header); /* it ends without record, which is quicker */
  hearth_release(pointer, function);
  event.end_ns = now_in_trace();
  hearth_trace_add(&event);
}

/* The old block ends when the stack is taken, and so before another thread can have its address. */
static void *trace_resize(void *pointer, size_t size, const hearth_frame *frame) {
  hearth_block old, block;
  bool recorded = hearth_heap_find(pointer, &old) == HEARTH_POINTER_LIVE && is_allocation_recorded(&old);
  uint64_t old_size = recorded ? old.size : 0, begin_ns = now_in_trace();
  void *memory = hearth_resize(pointer, size, frame);

  if (!memory || !recorded || hearth_heap_find(memory, &block) != HEARTH_POINTER_LIVE)
    return record_allocation(HEARTH_TRACE_REALLOC, memory, begin_ns);
  hearth_trace_add(&(hearth_trace_event){.address = (uintptr_t)pointer,
                                         .size = old_size,
                                         .begin_ns = begin_ns,
                                         .stack_ns = block.alloc_ns,
                                         .end_ns = block.alloc_ns,
                                         .stack = block.context,
                                         .kind = HEARTH_TRACE_REALLOC_FREE});
  return record_allocation(HEARTH_TRACE_REALLOC, memory, block.alloc_ns);
}

/* -- begin and end ------------------------------------------------------------------------------------------------- */

static bool begin_trace_file(void) {
  int error = hearth_trace_file_begin();

  if (error)
    hearth_message("cannot write the trace %s: %s", hearth_trace_file_name(), hearth_error_name(error));
  return !error;
}

static bool trace_begin(void) {
  shared = make_trace_buffer();
  if (!shared || !hearth_trace_stacks_create()) {
    hearth_message("no address space for a trace; nothing is recorded");
    return false;
  }
  return begin_trace_file();
}

static bool trace_begin_again(void) {
  for (hearth_trace_buffer *buffer = buffers; buffer; buffer = buffer->next) {
    hearth_lock_take(&buffer->lock);
    buffer->count = 0;
    hearth_lock_give(&buffer->lock);
  }
  hearth_lock_take(&hearth_trace_file_lock);
  dropped = 0;
  bool begins = begin_trace_file();
  hearth_lock_give(&hearth_trace_file_lock);
  return begins;
}

static bool add_end(void) {
  hearth_trace_block block = {.kind = HEARTH_TRACE_BLOCK_END, .count = 1};
  hearth_trace_end end = {.duration_ns = now_in_trace(),
                          .dropped_events = __atomic_load_n(&dropped, __ATOMIC_RELAXED),
                          .dropped_stacks = hearth_trace_stacks_dropped() + hearth_depot_dropped(&hearth_rt.depot)};

  if (!hearth_reentry_take(&hearth_trace_file_lock))
    return false;
  hearth_trace_mappings_add(&shared->packer);
  bool added = hearth_trace_file_add(&block, &end, sizeof end);
  hearth_trace_file_tell();
  hearth_lock_give(&hearth_trace_file_lock);
  return added;
}

/* The interrupted thread keeps the locks that it has; the event that it was adding is left out. */
static bool trace_flush(void) {
  bool written = true;

  hearth_reentry_enter();
  for (hearth_trace_buffer *buffer = buffers; buffer; buffer = buffer->next) {
    bool mine = hearth_lock_take_or_keep(&buffer->lock);
    written &= mine && !buffer->packing && flush_trace_buffer(buffer);
    hearth_lock_give_or_keep(&buffer->lock);
  }
  written &= add_end();
  hearth_reentry_leave();
  return written;
}

static void trace_end_thread(void) {
  hearth_trace_buffer *own = hearth_this_thread.trace;

  if (!own || !hearth_reentry_take(&own->lock))
    return;
  hearth_this_thread.trace = NULL;
  flush_trace_buffer(own);
  hearth_lock_give(&own->lock);
  hearth_lock_take(&registry_lock);
  own->idle = true;
  hearth_lock_give(&registry_lock);
}

/* The locks' holders are gone, but for this thread, which holds none. */
static void trace_begin_child(void) {
  hearth_trace_file_lock = registry_lock = (hearth_lock){0};
  for (hearth_trace_buffer *buffer = buffers; buffer; buffer = buffer->next) {
    buffer->lock = (hearth_lock){0};
    buffer->packing = false;
    buffer->count = 0;
    buffer->idle = buffer != hearth_this_thread.trace && buffer != shared;
  }
  dropped = 0;
  int error = hearth_trace_file_begin();
  if (error)
    hearth_message("cannot write a trace of process %u: %s", hearth_rt.pid, hearth_error_name(error));
}

static bool begin_guest(void) {
  static bool has_begun;
  bool begins = has_begun ? trace_begin_again() : trace_begin();

  has_begun = true;
  return begins;
}

static void do_nothing(void) {}

const hearth_recorder_table hearth_trace_recorder = {
    .give_up = hearth_preload_give_up,
    .begin = trace_begin,
    .allocate = trace_allocate,
    .allocate_zeroed = trace_allocate_zeroed,
    .resize = trace_resize,
    .release = trace_release,
    .flush = trace_flush,
    .end_thread = trace_end_thread,
    .begin_child = trace_begin_child,
    .tell_result = hearth_preload_tell_result,
};

const hearth_recorder_table hearth_trace_guest = {
    .is_guest = true,
    .give_up = do_nothing,
    .begin = begin_guest,
    .flush = trace_flush,
    .end_thread = trace_end_thread,
    .begin_child = trace_begin_child,
    .tell_result = do_nothing,
};
