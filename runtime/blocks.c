#include "blocks.h"

#include "lock.h"
#include "message.h"
#include "os.h"
#include "runtime.h"
#include "thread_state.h"

#include <string.h>

static inline void watch_forks(void) {
  if (hearth_this_thread_forks())
    hearth_watch_child();
}

/* The context of an allocation, or HEARTH_NO_CONTEXT if it is not to be recorded. */
static uint32_t find_context(const hearth_frame *frame) {
  uint64_t pcs[HEARTH_DEPTH_MOST];

  if (!hearth_rt.recording)
    return HEARTH_NO_CONTEXT;
  watch_forks();
  if (hearth_this_thread.in_runtime) {
    __atomic_fetch_add(&hearth_rt.dropped_blocks, 1, __ATOMIC_RELAXED);
    return HEARTH_NO_CONTEXT;
  }
  size_t depth = hearth_unwind(frame, pcs, hearth_rt.options.stack_depth);
  return hearth_depot_insert(&hearth_rt.depot, pcs, (uint32_t)depth);
}

static hearth_moment now(void) { return (hearth_moment){hearth_os_now_ns() - hearth_rt.start_ns, hearth_os_cpu()}; }

/* Fill in the header of a block that begins its life now. */
static void begin_life(hearth_block *block, uint32_t context) {
  hearth_moment birth = {0, 0};

  if (context != HEARTH_NO_CONTEXT) {
    birth = now();
    hearth_shadow_clear(hearth_block_memory(block), block->size);
  }
  block->context = context;
  block->alloc_ns = birth.ns;
  block->cpu = (uint16_t)birth.cpu;
  block->data_type_id = 0;
}

static void record_end(const hearth_block *block) {
  watch_forks();
  if (block->context == HEARTH_NO_CONTEXT || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_access_sum accesses = hearth_shadow_sum(block + 1, block->size);
  hearth_mib one = hearth_mib_of_block(block, accesses, now());
  hearth_mib_table_record(&hearth_rt.mibs, block->context, &one);
}

static void *allocate(size_t size, size_t alignment, bool zeroed, const hearth_frame *frame) {
  bool is_zero;

  hearth_ensure_heap();
  hearth_block *block = hearth_heap_take(size, alignment, &is_zero);
  if (!block)
    return NULL;
  if (zeroed && !is_zero)
    memset(hearth_block_memory(block), 0, size);
  begin_life(block, find_context(frame));
  hearth_block_publish(block);
  return hearth_block_memory(block);
}

void *hearth_allocate(size_t size, size_t alignment, const hearth_frame *frame) {
  return allocate(size, alignment, false, frame);
}

void *hearth_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame) {
  size_t total;

  if (__builtin_mul_overflow(count, size, &total))
    return NULL;
  return allocate(total, HEARTH_ALIGNMENT, true, frame);
}

static _Noreturn void refuse(const void *pointer, hearth_pointer_kind kind, const char *function) {
  const char *reason = kind == HEARTH_POINTER_FREED ? "the block was freed before"
                       : kind == HEARTH_POINTER_BAD ? "no block begins there; it may have been freed before"
                                                    : "the block does not come from this heap";

  hearth_message("%s(%x): %s", function, (uint64_t)(uintptr_t)pointer, reason);
  hearth_os_abort();
}

void hearth_release(void *pointer, const char *function) {
  hearth_block *block;

  if (!pointer)
    return;
  hearth_pointer_kind kind = hearth_heap_claim(pointer, &block);
  if (kind == HEARTH_POINTER_FOREIGN)
    return;
  if (kind != HEARTH_POINTER_LIVE)
    refuse(pointer, kind, function);
  record_end(block);
  hearth_heap_give(block);
}

/* Can the block be resized where it is, without wasting more than half of its chunk? */
static bool fits_chunk(hearth_block *block, size_t size) {
  size_t capacity = hearth_heap_capacity(block);

  return size <= capacity && size >= capacity / 2;
}

void *hearth_resize(void *pointer, size_t size, const hearth_frame *frame) {
  hearth_block *block;

  hearth_pointer_kind kind = hearth_heap_find(pointer, &block);
  if (kind != HEARTH_POINTER_LIVE)
    refuse(pointer, kind, "realloc");
  if (fits_chunk(block, size)) {
    kind = hearth_heap_claim(pointer, &block);
    if (kind != HEARTH_POINTER_LIVE)
      refuse(pointer, kind, "realloc");
    record_end(block);
    block->size = size;
    begin_life(block, find_context(frame));
    hearth_block_publish(block);
    return pointer;
  }
  void *memory = allocate(size, HEARTH_ALIGNMENT, false, frame);
  if (!memory)
    return NULL;
  memcpy(memory, pointer, block->size < size ? block->size : size);
  hearth_release(pointer, "realloc");
  return memory;
}

size_t hearth_block_size(const void *pointer) {
  hearth_block *block;

  return hearth_heap_find(pointer, &block) == HEARTH_POINTER_LIVE ? block->size : 0;
}
