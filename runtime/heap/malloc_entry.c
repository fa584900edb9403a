/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C allocation functions. All are in one object: if a linker took some of them from here and some from elsewhere,
 * one allocator would free the blocks of another. */
#include "blocks.h"
#include "os.h"
#include "running_profile.h"

#include <errno.h>
#include <string.h>

/* The same by the C library's own names, which some programs call. */
HEARTH_EXPORT void *__libc_malloc(size_t size) __attribute__((alias("malloc")));
HEARTH_EXPORT void *__libc_calloc(size_t count, size_t size) __attribute__((alias("calloc")));
HEARTH_EXPORT void *__libc_realloc(void *pointer, size_t size) __attribute__((alias("realloc")));
HEARTH_EXPORT void *__libc_reallocarray(void *pointer, size_t count, size_t size)
    __attribute__((alias("reallocarray")));
HEARTH_EXPORT void __libc_free(void *pointer) __attribute__((alias("free")));
HEARTH_EXPORT void *__libc_memalign(size_t alignment, size_t size) __attribute__((alias("memalign")));
HEARTH_EXPORT void *__libc_valloc(size_t size) __attribute__((alias("valloc")));
HEARTH_EXPORT void *__libc_pvalloc(size_t size) __attribute__((alias("pvalloc")));
void *hearth_own_malloc(size_t size) __attribute__((alias("malloc")));

static bool is_power_of_two(size_t number) { return number && (number & (number - 1)) == 0; }

/* `result`, with errno set if it is NULL. */
static void *with_error(void *result) {
  if (!result)
    errno = ENOMEM;
  return result;
}

/* The operations of blocks.h, or those of a trace. Compiled with blocks.c; not inlined, so that malloc and free stay
 * short. */

static inline bool is_tracing(void) { return __builtin_expect(hearth_rt.path == HEARTH_PATH_TRACE, false); }

__attribute__((noinline)) void *hearth_operate_allocate_slowly(hearth_trace_kind kind, size_t size, size_t alignment,
                                                               const hearth_frame *frame) {
  return is_tracing() ? hearth_recorder->allocate(kind, size, alignment, frame)
                      : hearth_allocate(size, alignment, frame);
}

__attribute__((noinline)) void hearth_operate_release_slowly(hearth_trace_kind kind, void *pointer,
                                                             const char *function, const hearth_frame *frame) {
  if (is_tracing())
    hearth_recorder->release(kind, pointer, function, frame);
  else
    hearth_release(pointer, function);
}

HEARTH_EXPORT void *malloc(size_t size) {
  return with_error(hearth_operate_allocate(HEARTH_TRACE_MALLOC, size, HEARTH_MALLOC_ALIGNMENT, HEARTH_THIS_FRAME));
}

HEARTH_EXPORT void *calloc(size_t count, size_t size) {
  return with_error(is_tracing() ? hearth_recorder->allocate_zeroed(count, size, HEARTH_THIS_FRAME)
                                 : hearth_allocate_zeroed(count, size, HEARTH_THIS_FRAME));
}

static void *resize(void *pointer, size_t size, const hearth_frame *frame) {
  if (!pointer)
    return with_error(hearth_operate_allocate(HEARTH_TRACE_REALLOC, size, HEARTH_MALLOC_ALIGNMENT, frame));
  if (size == 0) { /* as in glibc */
    hearth_operate_release(HEARTH_TRACE_REALLOC_FREE, pointer, "realloc", frame);
    return NULL;
  }
  return with_error(is_tracing() ? hearth_recorder->resize(pointer, size, frame) : hearth_resize(pointer, size, frame));
}

HEARTH_EXPORT void *realloc(void *pointer, size_t size) { return resize(pointer, size, HEARTH_THIS_FRAME); }

HEARTH_EXPORT void *reallocarray(void *pointer, size_t count, size_t size) {
  size_t total;

  if (__builtin_mul_overflow(count, size, &total))
    return with_error(NULL);
  return resize(pointer, total, HEARTH_THIS_FRAME);
}

HEARTH_EXPORT void free(void *pointer) {
  hearth_operate_release(HEARTH_TRACE_FREE, pointer, "free", HEARTH_THIS_FRAME);
}

HEARTH_EXPORT void cfree(void *pointer) {
  hearth_operate_release(HEARTH_TRACE_FREE, pointer, "cfree", HEARTH_THIS_FRAME);
}

HEARTH_EXPORT void free_sized(void *pointer, size_t size) {
  (void)size;
  hearth_operate_release(HEARTH_TRACE_FREE, pointer, "free_sized", HEARTH_THIS_FRAME);
}

HEARTH_EXPORT void free_aligned_sized(void *pointer, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  hearth_operate_release(HEARTH_TRACE_FREE, pointer, "free_aligned_sized", HEARTH_THIS_FRAME);
}

/* As in glibc, other alignments are rounded up to a power of two. */
HEARTH_EXPORT void *memalign(size_t alignment, size_t size) {
  if (alignment > SIZE_MAX / 2 + 1) {
    errno = EINVAL;
    return NULL;
  }
  if (!is_power_of_two(alignment))
    alignment = alignment ? (size_t)1 << (64 - __builtin_clzll(alignment)) : 1;
  return with_error(hearth_operate_allocate(HEARTH_TRACE_ALIGNED, size, alignment, HEARTH_THIS_FRAME));
}

HEARTH_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return NULL;
  }
  return with_error(hearth_operate_allocate(HEARTH_TRACE_ALIGNED, size, alignment, HEARTH_THIS_FRAME));
}

HEARTH_EXPORT int posix_memalign(void **ret_pointer, size_t alignment, size_t size) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0)
    return EINVAL;
  void *memory = hearth_operate_allocate(HEARTH_TRACE_ALIGNED, size, alignment, HEARTH_THIS_FRAME);
  if (!memory)
    return ENOMEM;
  *ret_pointer = memory;
  return 0;
}

HEARTH_EXPORT void *valloc(size_t size) {
  return with_error(hearth_operate_allocate(HEARTH_TRACE_ALIGNED, size, HEARTH_PAGE_BYTES, HEARTH_THIS_FRAME));
}

HEARTH_EXPORT void *pvalloc(size_t size) {
  if (size > SIZE_MAX - HEARTH_PAGE_BYTES)
    return with_error(NULL);
  size = HEARTH_WHOLE_PAGES(size);
  return with_error(hearth_operate_allocate(HEARTH_TRACE_ALIGNED, size, HEARTH_PAGE_BYTES, HEARTH_THIS_FRAME));
}

HEARTH_EXPORT size_t malloc_usable_size(void *pointer) { return hearth_block_size(pointer); }
