/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The usual adapter has this file: it does not stand before malloc and operator new, which it would make slower. */
#include "hinted_calls.h"

#include "fatal.h"

#include <string.h>

struct hearth_known_set *_Atomic hearth_known_calls;

void hearth_library_calls_open(const char *path) {
  if (*path && strcmp(path, "off") != 0)
    hearth_hotcold_warn("library-calls= is ignored: it needs libhearth_hotcold_calls ('hearth flags use PROFILE "
                        "--library-calls', or preload the shared object)",
                        "");
}

bool hearth_library_calls_find(struct hearth_caller caller, uint8_t *ret_hint) {
  (void)caller;
  (void)ret_hint;
  return false;
}
