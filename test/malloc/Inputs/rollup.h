/* Of all memory of this process, by the page tables: statm's number is a sum of counters for each processor, up to 256 KiB off on two
 * of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KiB; `field` as in /proc/self/smaps_rollup: "Rss:", "Locked:". */
static long rollup_kib(const char *field) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib = -1;
  while (file && kib < 0 && fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field)))
      sscanf(line + strlen(field), " %ld kB", &kib);
  if (kib < 0)
    abort();
  fclose(file);
  return kib;
}
