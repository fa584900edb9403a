/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of files, by the last separator. Windows' separator counts: profiles may name files of such builds. */
#include "path_name.h"

const char *hearth_base_name(const char *path) {
  const char *base = path;
  for (const char *p = path; *p; p++)
    if (*p == '/' || *p == '\\')
      base = p + 1;
  return base;
}
