/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* HEARTH_MALLOC, the allocator's environment variable: key=value pairs separated by ':'. docs/options.md explains
 * each. */
#ifndef HEARTH_MALLOC_OPTIONS_H
#define HEARTH_MALLOC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
  HEARTH_MALLOC_PATH_BYTES = 512, /* with the terminating zero */
  HEARTH_COLD_INTERVAL_MAX = 86400,
  HEARTH_LAYOUT_IDS = 31,
};

/* The treatment of the memory of cold blocks. */
typedef enum hearth_cold_mode {
  HEARTH_COLD_KEEP,    /* nothing */
  HEARTH_COLD_PAGEOUT, /* sent to swap space from time to time */
  HEARTH_COLD_FILE,    /* kept in a file, whose pages are written and dropped from time to time */
  HEARTH_COLD_AUTO,    /* one of these two, whichever there is room for */
} hearth_cold_mode;

typedef struct hearth_malloc_options {
  bool has_cold; /* else cold blocks lie as those without a hint */
  bool has_layout;
  uint8_t layout
      [HEARTH_LAYOUT_IDS]; /* pool of each id of a plan: 0 is the main one; without has_layout, each has its own */
  hearth_cold_mode cold_mode;
  unsigned interval_s;   /* 0 to HEARTH_COLD_INTERVAL_MAX; 0: never */
  unsigned cost_percent; /* 1 to 100: the share of the time that absent memory may cost; 0: no bound */
  bool is_secure;        /* misuse is made to show (engine.h) */
  bool warns_of_sites;   /* that no decision site is in the program */
  char directory[HEARTH_MALLOC_PATH_BYTES];
  char statistics[HEARTH_MALLOC_PATH_BYTES]; /* a file; empty: none */
} hearth_malloc_options;

/* Defaults changed by `text`, which may be NULL. A key or value that is not understood is skipped, and the first of
 * them named in one warning on standard error. Does not allocate. */
__attribute__((visibility("hidden"))) hearth_malloc_options hearth_malloc_options_parse(const char *text);

#endif
