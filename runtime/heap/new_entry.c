/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new and operator delete in all their forms, under their mangled names. */
#include "blocks.h"
#include "entry_points.h"
#include "heap.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"

typedef struct new_request {
  hearth_trace_kind kind;
  size_t size, alignment;
  const hearth_frame *frame;
} new_request;

static void *allocate_again(const void *request) {
  const new_request *of = request;

  return hearth_operate_allocate(of->kind, of->size, of->alignment, of->frame);
}

static void refuse_new(size_t size) {
  hearth_message("operator new: no memory for %u bytes, and std::__throw_bad_alloc() is not linked (a static program "
                 "needs -Wl,-u,_ZSt17__throw_bad_allocv)",
                 (uint64_t)size);
  hearth_os_abort();
}

static const hearth_new_heap new_heap = {allocate_again, refuse_new};

static bool is_alignment(size_t alignment) { return (alignment & (alignment - 1)) == 0; }

static void *must_new(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame) {
  if (!is_alignment(alignment))
    hearth_new_refuse(&new_heap, size);
  void *memory = hearth_operate_allocate(kind, size, alignment, frame);
  return memory ? memory : hearth_new_or_throw(&new_heap, &(new_request){kind, size, alignment, frame}, size);
}

/* The same, but NULL in place of an exception, the handler's too. */
static void *may_new(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame) {
  if (!is_alignment(alignment))
    return NULL;
  void *memory = hearth_operate_allocate(kind, size, alignment, frame);
  return memory ? memory : hearth_new_or_null(&new_heap, &(new_request){kind, size, alignment, frame});
}

#define NEW_PLAIN(symbol, kind)                                                                                        \
  HEARTH_EXPORT void *symbol(size_t size) { return must_new(kind, size, HEARTH_MALLOC_ALIGNMENT, HEARTH_THIS_FRAME); }

#define NEW_ALIGNED(symbol, kind)                                                                                      \
  HEARTH_EXPORT void *symbol(size_t size, size_t alignment) {                                                          \
    return must_new(kind, size, alignment, HEARTH_THIS_FRAME);                                                         \
  }

#define NEW_NOTHROW(symbol, kind)                                                                                      \
  HEARTH_EXPORT void *symbol(size_t size, const void *nothrow) {                                                       \
    (void)nothrow;                                                                                                     \
    return may_new(kind, size, HEARTH_MALLOC_ALIGNMENT, HEARTH_THIS_FRAME);                                            \
  }

#define NEW_ALIGNED_NOTHROW(symbol, kind)                                                                              \
  HEARTH_EXPORT void *symbol(size_t size, size_t alignment, const void *nothrow) {                                     \
    (void)nothrow;                                                                                                     \
    return may_new(kind, size, alignment, HEARTH_THIS_FRAME);                                                          \
  }

/* Size, alignment and the nothrow tag do not matter: the block knows its chunk. They are passed in registers, so that
 * one definition serves all signatures. */
#define DELETE_ANY(symbol, kind)                                                                                       \
  HEARTH_EXPORT void symbol(void *pointer) {                                                                           \
    hearth_operate_release(kind, pointer, "operator delete", HEARTH_THIS_FRAME);                                       \
  }

#define HEARTH_NEW_NAME(name, form, kind) NEW_##form(name, HEARTH_TRACE_##kind)
#define HEARTH_DELETE_NAME(name, kind)    DELETE_ANY(name, HEARTH_TRACE_##kind)
#include "allocation_names.def"
