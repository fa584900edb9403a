#include "alignment.h"

#include <stdlib.h>

bool hearth_align(size_t n, size_t m, hearth_likeness likeness, void *data, size_t *ret) {
  size_t width = m + 1;
  if (m && n > HEARTH_ALIGNMENT_LIMIT / m)
    return false;
  uint32_t *best = calloc((n + 1) * width, sizeof *best); /* [i * width + k]: of what is left from i and k on */
  if (!best)
    return false;
  for (size_t i = n; i-- > 0;)
    for (size_t k = m; k-- > 0;) {
      uint32_t *here = &best[i * width + k], alike = likeness(i, k, data);
      *here = here[width] > here[1] ? here[width] : here[1];
      if (alike && alike + here[width + 1] > *here)
        *here = alike + here[width + 1];
    }
  for (size_t i = 0, k = 0; i < n;) {
    const uint32_t *here = &best[i * width + k];
    uint32_t alike = k < m ? likeness(i, k, data) : 0;
    ret[i] = HEARTH_UNALIGNED;
    if (alike && *here == alike + here[width + 1])
      ret[i++] = k++;
    else if (k < m && *here == here[1])
      k++;
    else
      i++;
  }
  free(best);
  return true;
}
