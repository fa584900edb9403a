/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files by build id from the debuginfod servers that DEBUGINFOD_URLS names, as other debuggers and profilers use them. */
#ifndef HEARTH_DEBUG_SERVER_H
#define HEARTH_DEBUG_SERVER_H

#include "bytes.h"
#include "hearth/status.h"

typedef enum hearth_served { HEARTH_SERVED_BINARY, HEARTH_SERVED_DEBUG_FILE } hearth_served;

/* Ask for a file. The variables, the folder of downloads and the time limit are libdebuginfod's (debuginfod-find(1)).
 *   ret_path  of the download, which the caller frees; NULL: DEBUGINFOD_URLS is unset or empty, or no server has the file
 * Errors: E_IO (no server answers, or the library is not there; says so), E_NOMEM. */
hearth_status hearth_debug_server_ask(hearth_bytes id, hearth_served kind, char **ret_path, hearth_error *err);

#endif
