/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The dynamic loader while the program runs: when a library is closed, what is loaded in its place is told apart from
 * it. */
#include "loader_names.h"
#include "mappings.h"
#include "process.h"
#include "thread_cache.h"
#include "unwind_rules.h"

static int (*next_dlclose)(void *library);

/* Destructors of the library may allocate: what is mapped is looked at again behind them. */
static int close_library(void *library) {
  hearth_mappings_update();
  int result = next_dlclose(library);
  if (hearth_mappings_close()) {
    hearth_unwind_rules_forget_closed();
    hearth_threads_forget_stacks();
  }
  return result;
}

void hearth_loader_begin(void) {
  next_dlclose = (int (*)(void *))hearth_loader_replace("dlclose", (void *)close_library);
}
