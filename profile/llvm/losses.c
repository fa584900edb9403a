/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts into words the data that LLVM's format cannot hold. */
#include <stdio.h>

#include "hearth/llvm_profile.h"
#include "mib_names.h"

bool hearth_llvm_describe_losses(const hearth_llvm_losses *losses, char *buffer, size_t size) {
  size_t used = 0;
  buffer[0] = '\0';
#define APPEND(...)                                                                                                    \
  do {                                                                                                                 \
    int n_ = snprintf(buffer + used, size - used, __VA_ARGS__);                                                        \
    used = n_ < 0 || (size_t)n_ >= size - used ? size - 1 : used + (size_t)n_;                                         \
  } while (0)
  for (int i = 0, any = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (losses->columns & UINT64_C(1) << i)
      APPEND("%s%s", any++ ? ", " : "LLVM's format has no field for ", hearth_mib_column_name(i));
  if (losses->histograms)
    APPEND("%shistograms of accesses are left out", used ? "; " : "");
  if (losses->summed)
    APPEND("%s%llu contexts differ from others only in fields that it does not hold, and are summed", used ? "; " : "",
           (unsigned long long)losses->summed);
  if (losses->partial)
    APPEND("%saccesses that are known of some runs only are left out", used ? "; " : "");
  if (losses->taken_for_cold)
    APPEND("%saccesses were not counted, so that LLVM takes %llu contexts for cold that live long", used ? "; " : "",
           (unsigned long long)losses->taken_for_cold);
  if (losses->cut)
    APPEND("%s%llu values are too great for their field and stored as its greatest", used ? "; " : "",
           (unsigned long long)losses->cut);
#undef APPEND
  return used > 0;
}
