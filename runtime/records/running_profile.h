/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The running profile, which all parts from here on share. It is defined where the program starts (linked/program_entry.c,
 * process/library_start.c), so that an archive's objects always come with their start. Written while the program has one
 * thread, before its constructors run; afterwards only through the parts' own functions. */
#ifndef HEARTH_RUNTIME_RUNNING_PROFILE_H
#define HEARTH_RUNTIME_RUNNING_PROFILE_H

#include "depot.h"
#include "mib_table.h"
#include "os.h"
#include "runtime_options.h"

/* Access counting needs counters, and code that adds to them. */
typedef enum hearth_access_state {
  HEARTH_ACCESSES_NONE, /* nothing has been instrumented so far: counters are all 0 */
  HEARTH_ACCESSES_COUNTED,
  HEARTH_ACCESSES_UNSUPPORTED /* the counters hold something else (histogram mode), or there are none */
} hearth_access_state;

/* The fast paths of malloc and free (blocks.c). */
typedef enum hearth_path {
  HEARTH_PATH_SLOW, /* there is none: nothing is recorded, contexts are verified, or the counters are those of histogram mode */
  HEARTH_PATH_RECORD,    /* all blocks are recorded, with the counters' values */
  HEARTH_PATH_UNCOUNTED, /* the same, without counters */
  HEARTH_PATH_LIVE,      /* all blocks have a context while they are live, and leave no record */
  HEARTH_PATH_SAMPLE,    /* most blocks are not recorded */
  HEARTH_PATH_TRACE      /* each operation is recorded for itself (blocks.h) */
} hearth_path;

typedef struct hearth_runtime {
  bool recording;   /* from the end of the start on */
  bool tracing;     /* recording, and each operation for itself; of the preloaded runtime only */
  uint8_t path;     /* hearth_path: of malloc and free, if nothing stands in its way */
  uint8_t accesses; /* hearth_access_state */
  bool live;        /* heap dumps are written, and not profiles: ended blocks are not recorded */
  bool counts_live; /* recording, and live bytes are counted, for their peak */
  bool tracks_peak; /* the same, and there are heap dumps of peaks */
  bool paused;      /* no sample is taken, though the program samples; atomic */
  bool ended;       /* the last profile is written, though code of libraries may still run */
  uint64_t start_ns, start_unix_ns;
  uint64_t pid;            /* of the process that records */
  uint64_t start_number;   /* random: tells processes of one number apart, on other hosts and in other containers */
  uint64_t fork_ns;        /* since the start: blocks allocated before are those of the process that forked this one */
  uint64_t next_due_ns;    /* since the start: when a periodic dump is due; UINT64_MAX: never; atomic */
  uint64_t dropped_blocks; /* not recorded: allocated by foreign code that the runtime called; atomic */
  uint64_t verified_contexts, differing_contexts; /* with verify_contexts=1; atomic */
  hearth_runtime_options options;
  hearth_depot depot;
  hearth_mib_table mibs;
} hearth_runtime;

extern hearth_runtime hearth_rt __attribute__((visibility("hidden")));

#endif
