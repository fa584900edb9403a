/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dlsym(RTLD_NEXT), at the first call of each function; and the probe, which calls the public names with NULL. */
#define _GNU_SOURCE
#include "next.h"

#include "fatal.h"
#include "guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void first_free(void *block);
static void *first_realloc(void *block, size_t bytes);
static size_t first_usable(void *block);

struct hearth_next hearth_next = {first_free, first_realloc, first_usable};
_Thread_local unsigned *hearth_probe_seen __attribute__((tls_model("initial-exec")));
static _Thread_local hearth_guard looking_up __attribute__((tls_model("initial-exec")));

void *hearth_next_lookup(const char *name) {
  if (hearth_guard_is_held(&looking_up))
    return NULL;
  int saved_errno = errno;
  bool outer = hearth_guard_enter(&looking_up);
  void *symbol = dlsym(RTLD_NEXT, name);
  hearth_guard_leave(&looking_up, outer);
  errno = saved_errno;
  return symbol;
}

void *hearth_next_optional(_Atomic(void *) *slot, const char *name) {
  static char absent;
  void *next = atomic_load_explicit(slot, memory_order_relaxed);
  if (!next) {
    next = hearth_next_lookup(name);
    if (!next && hearth_guard_is_held(&looking_up))
      return NULL;
    if (!next)
      next = &absent;
    atomic_store_explicit(slot, next, memory_order_relaxed);
  }
  return next == &absent ? NULL : next;
}

struct file_query {
  uintptr_t address;
  bool is_cxx;
};

static bool begins(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

/* It does not use dladdr, which goes through all symbols of the file. */
static int look_at_file(struct dl_phdr_info *file, size_t bytes, void *argument) {
  struct file_query *query = argument;
  (void)bytes;
  for (unsigned i = 0; i < file->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || query->address - file->dlpi_addr - segment->p_vaddr >= segment->p_memsz)
      continue;
    const char *slash = strrchr(file->dlpi_name, '/'), *name = slash ? slash + 1 : file->dlpi_name;
    query->is_cxx = begins(name, "libstdc++.so") || begins(name, "libc++.so");
    return 1;
  }
  return 0;
}

bool hearth_next_is_absent_or_cxx(const char *name) {
  if (hearth_guard_is_held(&looking_up))
    return false;
  struct file_query query = {.address = (uintptr_t)hearth_next_lookup(name)};
  if (query.address)
    dl_iterate_phdr(look_at_file, &query);
  return !query.address || query.is_cxx;
}

static _Noreturn void die_without(const char *name) { hearth_hotcold_fatal("no other allocator defines ", name); }

void *hearth_next_function(_Atomic(void *) *slot, const char *name) {
  void *next = hearth_next_optional(slot, name);
  if (!next && !hearth_guard_is_held(&looking_up))
    die_without(name);
  return next;
}

/* A fully static program has no next definition to look up: libc's is the only one, and comes before ours, which is weak.
 * Linked with --wrap=free --wrap=realloc, all code that calls these calls __wrap_free and __wrap_realloc, which are ours
 * (entry.c), and the linker gives those that would have been called the names below. In other programs that are linked
 * so, these may be ours again. */
extern __attribute__((weak)) void __real_free(void *block);
extern __attribute__((weak)) void *__real_realloc(void *block, size_t bytes);
/* A static glibc defines it. Its malloc_usable_size is weak, too, and ours comes before it. */
extern __attribute__((weak)) size_t __malloc_usable_size(void *block);

static void *next_or_die(const char *name, void *real, void *own) {
  void *symbol = real && real != own ? real : hearth_next_lookup(name);
  if (!symbol)
    die_without(name);
  return symbol;
}

/* Several threads may look up at once: they find the same. Blocks that dlsym itself frees while it looks up are leaked,
 * and its reallocations are refused: the function that could serve it is the one being looked for. */
static void first_free(void *block) {
  if (hearth_guard_is_held(&looking_up))
    return;
  atomic_store_explicit(&hearth_next.free,
                        (void (*)(void *))next_or_die("free", (void *)__real_free, (void *)hearth_own_free),
                        memory_order_relaxed);
  hearth_next_free(block);
}

static void *first_realloc(void *block, size_t bytes) {
  if (hearth_guard_is_held(&looking_up)) {
    errno = ENOMEM;
    return NULL;
  }
  atomic_store_explicit(
      &hearth_next.realloc,
      (void *(*)(void *, size_t))next_or_die("realloc", (void *)__real_realloc, (void *)hearth_own_realloc),
      memory_order_relaxed);
  return hearth_next_realloc(block, bytes);
}

static size_t first_usable(void *block) {
  if (hearth_guard_is_held(&looking_up))
    return 0;
  atomic_store_explicit(&hearth_next.malloc_usable_size,
                        (size_t (*)(void *))next_or_die("malloc_usable_size", (void *)__malloc_usable_size, NULL),
                        memory_order_relaxed);
  return hearth_next_usable(block);
}

bool hearth_next_is_interposed(void) {
  int saved_errno = errno;
  unsigned seen = 0;
  hearth_probe_seen = &seen;
  free(NULL);
  malloc_usable_size(NULL);
  void *block = realloc(NULL, 1), *array = reallocarray(NULL, 1, 1);
  hearth_probe_seen = NULL;
  free(block);
  free(array);
  errno = saved_errno;
  return seen == HEARTH_PROBE_ALL;
}
