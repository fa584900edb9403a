/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looking at blocks: at all of them while they stand still, and at one while other threads go on. */
#include "heap.h"
#include "os.h"
#include "watched.h"

/* The header of a chunk that other threads may be changing; NULL: there is none. */
static hearth_header *peek_header(hearth_header *first, size_t room) {
  uint64_t word = hearth_header_load(first), distance = word >> HEARTH_STATE_BITS;

  if ((word & HEARTH_STATE_MASK) != HEARTH_BLOCK_REDIRECT)
    return first;
  return distance <= room - sizeof *first && distance % sizeof *first == 0 ? (hearth_header *)((char *)first + distance)
                                                                           : NULL;
}

/* What of the chunk's block lies in the page, if anything does. */
static bool see_chunk(const char *page, hearth_header *first, const hearth_span *span, hearth_seen_block *ret) {
  size_t room = chunk_room_of(span);
  hearth_header *header = peek_header(first, room);
  uint64_t word = header ? hearth_header_load(header) : HEARTH_BLOCK_RAW;
  hearth_block_state state = (hearth_block_state)(word & HEARTH_STATE_MASK);
  if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING && state != HEARTH_BLOCK_FREE)
    return false;
  uint64_t slack = word >> HEARTH_STATE_BITS & HEARTH_SLACK_FAR;
  const char *memory = (const char *)(header + 1), *end = (const char *)first + room;
  uint64_t bytes =
      slack == HEARTH_SLACK_FAR ? __atomic_load_n(header - 1, __ATOMIC_RELAXED) : (uint64_t)(end - memory) - slack;
  if (bytes < (uint64_t)(end - memory))
    end = memory + bytes + (bytes == 0);
  ret->end = end < page + HEARTH_PAGE_BYTES ? end : page + HEARTH_PAGE_BYTES;
  ret->begin = memory < page ? page : memory < ret->end ? memory : ret->end;
  ret->alloc_ns = hearth_header_time(word);
  ret->context = hearth_header_context(word);
  ret->is_live = state == HEARTH_BLOCK_LIVE;
  return true;
}

/* From the header of one chunk to the next. */
static size_t chunk_step_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_LARGE ? span->size : hearth_class_facts[span->size_class].size;
}

/* Is there a whole chunk? */
static bool is_chunk(const hearth_span *span, const char *first) {
  return (size_t)(first - span->start) + chunk_room_of(span) <= span->size;
}

/* Of the span that its class takes fresh chunks from, the first that was never handed out; of others NULL. The class is locked. */
static const char *first_fresh(const hearth_span *span) {
  if (span->kind != HEARTH_SPAN_SMALL)
    return NULL;
  const struct hearth_size_class *class = &hearth_size_classes[span->size_class];
  return span->start + span_end(span->size_class) == class->fresh_end ? class->fresh : NULL;
}

/* Was the chunk ever handed out? Those behind it are not read: that would cost page faults. */
static bool is_chunk_used(const hearth_span *span, const char *first) {
  const char *fresh = first_fresh(span);

  return is_chunk(span, first) && (!fresh || first < fresh);
}

/* As hearth_span_peek, of a span in which chunks can be found. */
static bool peek_span(const char *address, hearth_span *ret) {
  return hearth_span_peek(address, ret) && (ret->kind != HEARTH_SPAN_SMALL || ret->size_class < CHUNK_CLASSES);
}

/* The first header of the chunk that the address lies in; of the span's first chunk for the word before that. */
static char *first_header(const hearth_span *span, const char *address) {
  size_t step = chunk_step_of(span), offset = (size_t)(address - span->start);

  return span->start + CHUNK_FIRST + (offset > CHUNK_FIRST ? (offset - CHUNK_FIRST) / step * step : 0);
}

bool hearth_heap_see_byte(const char *byte, hearth_seen_block *ret) {
  const char *page = byte - (uintptr_t)byte % HEARTH_PAGE_BYTES;
  hearth_span span;

  if (!peek_span(byte, &span))
    return false;
  char *first = first_header(&span, byte);
  return is_chunk(&span, first) && see_chunk(page, (hearth_header *)first, &span, ret) && ret->begin <= byte &&
         byte < ret->end;
}

typedef struct watched_visit {
  void (*visit)(const hearth_block *block, void *closure);
  void *closure;
} watched_visit;

static void visit_watched(hearth_header *header, void *closure) {
  const watched_visit *inner = closure;
  hearth_block_state state = hearth_header_state(header);
  hearth_block block = hearth_header_read(header, 0);

  if (state == HEARTH_BLOCK_LIVE || state == HEARTH_BLOCK_ENDING)
    inner->visit(&block, inner->closure);
}

void hearth_heap_each(void (*visit)(const hearth_block *block, void *closure), void *closure) {
  hearth_span span;

  for (uint32_t slice = 0; hearth_span_next(&slice, &span);)
    for (char *first = span.start + CHUNK_FIRST; is_chunk_used(&span, first); first += chunk_step_of(&span)) {
      hearth_header *header = chunk_follow((hearth_header *)first);
      hearth_block_state state = hearth_header_state(header);
      if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING)
        continue;
      hearth_block block = hearth_header_read(header, chunk_capacity_of(&span));
      /* A program that writes past its blocks must not make the runtime read past the heap. */
      if (block.size <= (size_t)(first + chunk_room_of(&span) - (char *)hearth_header_memory(header)))
        visit(&block, closure);
    }
  hearth_watched_each(visit_watched, &(watched_visit){visit, closure});
}

static void count_span(hearth_heap_usage *usage, const hearth_span *span) {
  size_t size = chunk_step_of(span);
  *(span->kind == HEARTH_SPAN_LARGE ? &usage->large_span_bytes : &usage->small_span_bytes) += span->size;
  for (char *first = span->start + CHUNK_FIRST; is_chunk_used(span, first); first += size)
    if (hearth_header_state(chunk_follow((hearth_header *)first)) == HEARTH_BLOCK_LIVE) {
      usage->chunk_bytes += size;
      ++usage->blocks;
      usage->large_blocks += span->kind == HEARTH_SPAN_LARGE;
    }
}

hearth_heap_usage hearth_heap_get_usage(void) {
  hearth_heap_usage usage = {0};
  hearth_span span;

  for (uint32_t slice = 0; hearth_span_next(&slice, &span);)
    count_span(&usage, &span);
  return usage;
}
