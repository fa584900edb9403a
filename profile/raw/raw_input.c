/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages and room that the readers of all layouts share. */
#include "raw_dump.h"

#include <stdio.h>
#include <stdlib.h>

static const char *remedy(hearth_status status) {
  switch (status) {
  case HEARTH_E_TRUNCATED:
    return "was the program killed while writing, or the copy cut short? run it again";
  case HEARTH_E_VERSION:
    return "use the runtime and the hearth command of one release, or clang 16 to 22 for LLVM's layout";
  case HEARTH_E_NOMEM:
    return "free memory or index fewer profiles at once";
  default:
    return "run the program again to get an intact profile";
  }
}

hearth_status hearth_raw_fail(const hearth_raw_input *in, size_t at, hearth_status status, hearth_error *err,
                              const char *reason) {
  return hearth_error_set(err, status, "%s: offset %zu: %s (%s)", in->name, in->begin + at, reason, remedy(status));
}

hearth_status hearth_raw_check_version(const hearth_raw_input *in, uint32_t version, hearth_error *err) {
  char reason[96];
  if (version == HEARTH_RAW_VERSION)
    return HEARTH_OK;
  snprintf(reason, sizeof reason, "raw profile version %u, this command reads version %u", (unsigned)version,
           HEARTH_RAW_VERSION);
  return hearth_raw_fail(in, offsetof(hearth_raw_header, version), HEARTH_E_VERSION, err, reason);
}

hearth_status hearth_raw_reserve_histogram(const hearth_raw_input *in, hearth_raw_dump *dump, uint64_t size,
                                           hearth_error *err) {
  if (size == 0)
    return HEARTH_OK;
  dump->counts = malloc(size * sizeof *dump->counts);
  return dump->counts ? HEARTH_OK : hearth_raw_fail(in, 0, HEARTH_E_NOMEM, err, "out of memory");
}
