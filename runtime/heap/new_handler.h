/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HEARTH_RUNTIME_NEW_HANDLER_H
#define HEARTH_RUNTIME_NEW_HANDLER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Call a new handler. False: it threw an exception, which is caught. */
bool hearth_new_handler_returns(void (*handler)(void));

#ifdef __cplusplus
}
#endif

#endif
