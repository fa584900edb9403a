// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* A new handler may throw, and C cannot catch. C programs link without the C++ library: there is no handler then. */
#include "new_handler.h"

__asm__(".weak __gxx_personality_v0\n"
        ".weak __cxa_begin_catch\n"
        ".weak __cxa_end_catch\n");

bool hearth_new_handler_returns(void (*handler)(void)) {
  try {
    handler();
    return true;
  } catch (...) {
    return false;
  }
}
