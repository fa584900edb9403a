/* The running profile: what all parts share. Written while the program has one thread, before its constructors run;
 * afterwards only through the parts' own functions. */
#ifndef HEARTH_RUNTIME_RUNTIME_H
#define HEARTH_RUNTIME_RUNTIME_H

#include "depot.h"
#include "mib_table.h"
#include "options.h"

#define HEARTH_EXPORT __attribute__((visibility("default")))

/* 1 in the objects of libhearth_preload.so, which programs are recorded with as they are. */
#ifndef HEARTH_PRELOADED
#define HEARTH_PRELOADED 0
#endif

#define HEARTH_RECORD_VARIABLE "HEARTH_RECORD" /* options that `hearth record` gives, as in HEARTH_OPTIONS */

/* Access counting needs counters, and code that adds to them. */
typedef enum hearth_access_state {
  HEARTH_ACCESSES_NONE, /* nothing has been instrumented so far: counters are all 0 */
  HEARTH_ACCESSES_COUNTED,
  HEARTH_ACCESSES_UNSUPPORTED /* the counters hold something else (histogram mode), or there are none */
} hearth_access_state;

/* The short ways of malloc and free (blocks.c). */
typedef enum hearth_way {
  HEARTH_WAY_NONE,   /* nothing is recorded, or there are no counters, or those of histogram mode */
  HEARTH_WAY_RECORD, /* all blocks are recorded, with what the counters say */
  HEARTH_WAY_LIVE,   /* the same, while they are live */
  HEARTH_WAY_SAMPLE  /* most blocks are not */
} hearth_way;

typedef struct hearth_runtime {
  bool recording;   /* from the end of the start on */
  bool tracing;     /* recording, and each operation for itself; of the preloaded runtime only */
  uint8_t way;      /* hearth_way: of malloc and free, if nothing stands in it */
  uint8_t accesses; /* hearth_access_state */
  bool live;        /* heap dumps are written, and not profiles: what ends is not recorded */
  bool tracks_peak; /* recording, and ... live bytes are counted for it */
  bool ended;       /* the last profile is written, though code of libraries may still run */
  uint64_t start_ns, start_unix_ns;
  uint64_t pid;            /* of the process that records */
  uint64_t fork_ns;        /* since the start: blocks allocated before are those of the process that forked this one */
  uint64_t next_due_ns;    /* since the start: when a periodic dump or snapshot is due; UINT64_MAX: never; atomic */
  uint64_t dropped_blocks; /* not recorded: allocated by foreign code that the runtime called; atomic */
  hearth_options options;
  hearth_depot depot;
  hearth_mib_table mibs;
} hearth_runtime;

extern hearth_runtime hearth_rt __attribute__((visibility("hidden")));

/* Before all constructors of the program, and after its destructors. */
void hearth_start(char **environment);
void hearth_finish(void);

/* Instead of both, where the program's malloc is not the runtime's: instrumented code gets its counters, no more. */
void hearth_start_without_blocks(void);

/* In a forked child, forget what its parent recorded, before anything is recorded; other libraries' fork handlers may
 * allocate before the runtime's own. Does nothing at other times. */
void hearth_watch_child(void);

/* Is this the process that records, and not a child that shares its memory (vfork) or was made behind the C library's
 * back? */
bool hearth_is_recording(void);

/* The value of a variable in an environment; NULL: there is none. */
const char *hearth_environment_find(char *const *environment, const char *name);

/* Reserve the heap unless it is reserved; the first call must not race with others. Early. */
void hearth_ensure_heap(void);

#endif
