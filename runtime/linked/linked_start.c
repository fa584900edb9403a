/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The start of libhearth_rt.so. */
#define _GNU_SOURCE /* RTLD_DEFAULT, dladdr1 */

#include "entry_points.h"
#include "heap.h"
#include "output.h"
#include "process.h"
#include "running_profile.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

static bool gives_own_blocks(void) {
  void *block = malloc(1);
  hearth_block unused;
  bool ours = hearth_heap_find(block, &unused) != HEARTH_POINTER_FOREIGN;
  free(block);
  return ours;
}

/* Another malloc is not called: those of sanitizers crash before their own start. The address says nothing only where
 * the program has taken malloc's address and is not position-independent: it is then an entry of the program's own. */
static bool is_malloc_ours(void) {
  static const char here;
  const ElfW(Sym) *symbol = NULL;
  Dl_info found, own;

  if (!dladdr1(dlsym(RTLD_DEFAULT, "malloc"), &found, (void **)&symbol, RTLD_DL_SYMENT) || !dladdr(&here, &own))
    return false;
  if (symbol && symbol->st_shndx == SHN_UNDEF)
    return gives_own_blocks();
  return found.dli_fbase == own.dli_fbase;
}

/* Does another of Hearth's runtimes, in the program or preloaded, define this function? It comes first then. */
static bool is_of_other(const char *function) {
  static const char here;
  Dl_info found, own;

  return dladdr(dlsym(RTLD_DEFAULT, function), &found) && dladdr(&here, &own) && found.dli_fbase != own.dli_fbase;
}

static void tell_reason(void) {
  const char *sanitizer = hearth_sanitizer_find();
  if (is_of_other("__memprof_profile_dump"))
    hearth_message("'hearth record' records allocations; run an instrumented program by itself to count accesses, too");
  else if (sanitizer)
    hearth_message("nothing is recorded: malloc is that of %s", sanitizer);
  else
    hearth_message(
        "nothing is recorded: another malloc comes before that of libhearth_rt.so; link the program with 'hearth "
        "flags instrument --link', or preload the library (LD_PRELOAD=$(hearth flags instrument --preload))");
}

/* Is the program's malloc the runtime's? Then it was linked with the library, or the library is preloaded. Else an
 * instrumented plug-in has brought it, or another allocator comes before it: then this has told so, and has made the
 * counters that instrumented code adds to. */
bool hearth_library_begins(char **environment) {
  (void)environment;
  if (is_malloc_ours())
    return true;
  if (is_of_other("__hearth_exact_init")) /* instrumented code calls that one */
    return false;
  hearth_start_without_blocks();
  tell_reason();
  return false;
}

void hearth_library_has_begun(char **environment) { (void)environment; }
