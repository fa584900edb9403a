/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block that ends is recorded while the registers are locked: a thread that stops all others finds each block either
 * live or recorded. The memory of an allocator's blocks is most often part of a larger block of malloc's, and so are
 * its counters: the accesses to a block are the growth of the counters from its begin to its end. */

#include "blocks.h"
#include "clock.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "scopes.h"
#include "thread_state.h"

#include "hearth/allocator.h"
#include "hearth/expect.h"
#include "hearth/raw.h"

#define MOST_ALLOCATORS 64

typedef struct entry {
  uint64_t address, size, alloc_ns, type;
  uint64_t accesses; /* to its granules, before it was handed out */
  uint64_t live;     /* 1; set last */
  uint32_t context, cpu;
  uint32_t next; /* in the chain of its bucket, or of those without use: entry + 1; 0 ends it */
} entry;

/* Followed by the buckets (entry + 1; 0: empty) and the entries. */
typedef struct blocks {
  size_t size; /* of the mapping */
  uint64_t heap_pc;
  uint32_t bucket_count; /* a power of two */
  uint32_t entry_most;
  uint32_t entry_count; /* that were ever used since all were cleared */
  uint32_t unused;      /* entry + 1 */
  uint32_t *buckets;
  entry *entries;
} blocks;

static hearth_lock register_lock;          /* of all that follows */
static blocks *registers[MOST_ALLOCATORS]; /* atomic */
static uint32_t register_count;            /* atomic */

/* -- registers ------------------------------------------------------------------------------------------------------- */

static blocks *create_blocks(const char *name) {
  uint32_t most = hearth_rt.options.allocator_blocks, buckets = 64;
  uint32_t number = hearth_context_name(name);

  while (buckets < most)
    buckets *= 2;
  size_t bucket_size = HEARTH_WHOLE_PAGES(buckets * sizeof(uint32_t));
  size_t size = HEARTH_PAGE_BYTES + bucket_size + HEARTH_WHOLE_PAGES((size_t)most * sizeof(entry));
  char *memory = number == HEARTH_NO_NAME ? NULL : hearth_system_map_sparse(size);
  if (!memory)
    return NULL;
  blocks *made = (blocks *)memory;
  *made = (blocks){.size = size,
                   .heap_pc = HEARTH_RAW_HEAP_PC | number,
                   .bucket_count = buckets,
                   .entry_most = most,
                   .buckets = (uint32_t *)(void *)(memory + HEARTH_PAGE_BYTES),
                   .entries = (entry *)(void *)(memory + HEARTH_PAGE_BYTES + bucket_size)};
  return made;
}

/* NULL: there is no room. */
static blocks *add_register(const char *name) {
  uint32_t count = register_count;
  blocks *made = count < MOST_ALLOCATORS ? create_blocks(name) : NULL;

  if (!made) {
    hearth_message("no room for the blocks of the allocator %s: they are not recorded", name);
    return NULL;
  }
  __atomic_store_n(&registers[count], made, __ATOMIC_RELEASE);
  __atomic_store_n(&register_count, count + 1, __ATOMIC_RELEASE);
  return made;
}

static void create_register(hearth_allocator *allocator) {
  blocks *made = hearth_rt.recording ? add_register(allocator->name) : NULL;

  __atomic_store_n(&allocator->blocks, made, __ATOMIC_RELEASE);
  __atomic_store_n(&allocator->state, made ? HEARTH_ALLOCATOR_ON : HEARTH_ALLOCATOR_OFF, __ATOMIC_RELEASE);
}

/* An allocator's register; NULL: it has none, or this signal handler must not wait for it. In a critical section. */
static blocks *register_of(hearth_allocator *allocator) {
  if (__atomic_load_n(&allocator->state, __ATOMIC_ACQUIRE) == 0) {
    if (!hearth_reentry_take(&register_lock))
      return NULL;
    if (allocator->state == 0)
      create_register(allocator);
    hearth_lock_give(&register_lock);
  }
  return __atomic_load_n(&allocator->blocks, __ATOMIC_ACQUIRE);
}

/* -- entries, with the lock --------------------------------------------------------------------------------- */

static uint32_t *register_bucket_of(blocks *from, uint64_t address) {
  return &from->buckets[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (from->bucket_count - 1)];
}

/* The link to the entry of an address; the link is 0 if there is no entry. */
static uint32_t *find_registered(blocks *from, uint64_t address) {
  uint32_t *link = register_bucket_of(from, address);

  while (*link && from->entries[*link - 1].address != address)
    link = &from->entries[*link - 1].next;
  return link;
}

static hearth_access_sum accesses_of(const entry *of) {
  hearth_access_sum sum = hearth_shadow_sum((const void *)(uintptr_t)of->address, of->size);

  sum.accesses = sum.accesses > of->accesses ? sum.accesses - of->accesses : 0;
  return sum;
}

static hearth_block block_of_entry(const entry *of) {
  return (hearth_block){
      .size = of->size, .alloc_ns = of->alloc_ns, .context = of->context, .cpu = of->cpu, .data_type_id = of->type};
}

static void drop_registered(void) { __atomic_fetch_add(&hearth_rt.dropped_blocks, 1, __ATOMIC_RELAXED); }

/* End the block of an entry, and take it out of its chain. */
static void end_registered(blocks *from, uint32_t *link, hearth_moment now) {
  uint32_t number = *link;
  entry *of = &from->entries[number - 1];
  hearth_block block = block_of_entry(of);

  if (of->context < hearth_rt.mibs.count && of->alloc_ns >= hearth_rt.fork_ns) {
    hearth_mib one = hearth_mib_of_block(&block, accesses_of(of), now);
    if (!hearth_mib_table_record(&hearth_rt.mibs, &block, &one))
      drop_registered();
  }
  of->live = 0;
  *link = of->next;
  of->next = from->unused;
  from->unused = number;
}

/* An entry that is not in use, as entry + 1; 0: there is no room. */
static uint32_t take_register_entry(blocks *from) {
  uint32_t number = from->unused;

  if (number) {
    hearth_expect(number <= from->entry_count && !from->entries[number - 1].live);
    from->unused = from->entries[number - 1].next;
    return number;
  }
  return from->entry_count < from->entry_most ? ++from->entry_count : 0;
}

static void begin_registered(blocks *in, uint64_t address, size_t size, uint64_t type, uint32_t context,
                             hearth_moment now) {
  uint32_t *link = find_registered(in, address);

  if (*link)
    end_registered(in, link, now);
  uint32_t number = take_register_entry(in);
  if (!number) {
    drop_registered();
    return;
  }
  entry *to = &in->entries[number - 1];
  *to = (entry){.address = address,
                .size = size,
                .alloc_ns = now.ns,
                .type = type,
                .context = context,
                .cpu = now.cpu,
                .next = *register_bucket_of(in, address)};
  to->accesses = hearth_shadow_sum((const void *)(uintptr_t)address, size).accesses;
  *register_bucket_of(in, address) = number;
  HEARTH_SIGNAL_FENCE();
  to->live = 1;
}

/* Then all entries are as new. */
static void clear_register(blocks *in, hearth_moment now) {
  for (uint32_t i = 0; i < in->entry_count; ++i)
    if (in->entries[i].live)
      end_registered(in, find_registered(in, in->entries[i].address), now);
  in->entry_count = in->unused = 0;
}

/* -- calls ----------------------------------------------------------------------------------------------------------- */

/* A call in progress. */
typedef struct call {
  hearth_thread_cache *own, *cache;
  blocks *blocks;
} call;

static hearth_moment now_for_register(void) {
  return (hearth_moment){hearth_clock_now_ns() - hearth_rt.start_ns, hearth_os_cpu()};
}

/* False: nothing can be done. Then all is as before; else finish_register_call() has to follow. */
static bool begin_register_call(hearth_allocator *allocator, call *ret) {
  if (!hearth_threads_known)
    return false;
  hearth_reentry_enter();
  ret->own = hearth_thread_cache_own();
  ret->blocks = register_of(allocator);
  if (!ret->blocks)
    hearth_reentry_leave();
  return ret->blocks != NULL;
}

/* False: this signal handler must not wait for the register. */
static bool lock_register(call *of) {
  of->cache = hearth_thread_cache_take(of->own);
  if (hearth_reentry_take(&register_lock))
    return true;
  drop_registered();
  return false;
}

static void finish_register_call(const call *of, bool locked) {
  if (locked)
    hearth_lock_give(&register_lock);
  hearth_thread_cache_give(of->cache);
  hearth_reentry_leave();
}

static uint64_t type_of_name(const char *name) {
  uint32_t number = name ? hearth_context_name(name) : HEARTH_NO_NAME;

  return number == HEARTH_NO_NAME ? 0 : HEARTH_RAW_NAMED_TYPE | number;
}

HEARTH_EXPORT void __hearth_allocator_allocated(hearth_allocator *allocator, const void *address, size_t size,
                                                const char *type) {
  call call;

  if (!begin_register_call(allocator, &call))
    return;
  uint32_t context = hearth_block_context(size, HEARTH_THIS_FRAME, call.blocks->heap_pc, call.own);
  uint64_t type_id = type_of_name(type);
  bool locked = lock_register(&call);
  if (locked && context != HEARTH_NO_CONTEXT)
    begin_registered(call.blocks, (uintptr_t)address, size, type_id, context, now_for_register());
  finish_register_call(&call, locked);
}

HEARTH_EXPORT void __hearth_allocator_freed(hearth_allocator *allocator, const void *address) {
  call call;

  if (!begin_register_call(allocator, &call))
    return;
  hearth_hooks.watch_child();
  bool locked = lock_register(&call);
  uint32_t *link = locked ? find_registered(call.blocks, (uintptr_t)address) : NULL;
  if (link && *link)
    end_registered(call.blocks, link, now_for_register());
  finish_register_call(&call, locked);
}

HEARTH_EXPORT void __hearth_allocator_cleared(hearth_allocator *allocator) {
  call call;

  if (!begin_register_call(allocator, &call))
    return;
  hearth_hooks.watch_child();
  bool locked = lock_register(&call);
  if (locked)
    clear_register(call.blocks, now_for_register());
  finish_register_call(&call, locked);
}

HEARTH_EXPORT void __hearth_allocator_set_type(hearth_allocator *allocator, const void *address, const char *type) {
  call call;

  if (!allocator) {
    if (hearth_rt.recording)
      hearth_block_set_type(address, type_of_name(type));
    return;
  }
  if (!begin_register_call(allocator, &call))
    return;
  uint64_t type_id = type_of_name(type);
  bool locked = lock_register(&call);
  uint32_t *link = locked ? find_registered(call.blocks, (uintptr_t)address) : NULL;
  if (link && *link)
    call.blocks->entries[*link - 1].type = type_id;
  finish_register_call(&call, locked);
}

/* -- all of them ----------------------------------------------------------------------------------------------------- */

void hearth_allocators_each(hearth_allocators_visit *visit, void *closure) {
  uint32_t count = __atomic_load_n(&register_count, __ATOMIC_ACQUIRE);

  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < registers[i]->entry_count; ++k) {
      const entry *of = &registers[i]->entries[k];
      hearth_block block = block_of_entry(of);
      if (of->live)
        visit(&block, of->address, accesses_of(of), closure);
    }
}

bool hearth_allocators_lock(void) { return hearth_lock_take_or_keep(&register_lock); }

void hearth_allocators_unlock(void) { hearth_lock_give_or_keep(&register_lock); }

uint64_t hearth_allocators_memory(void) {
  uint32_t count = __atomic_load_n(&register_count, __ATOMIC_ACQUIRE);
  uint64_t size = 0;

  for (uint32_t i = 0; i < count; ++i)
    size += registers[i]->entry_count * (sizeof(entry) + sizeof(uint32_t));
  return size;
}
