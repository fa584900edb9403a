/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing the profile, and heap dumps. */
#ifndef HEARTH_RUNTIME_DUMP_H
#define HEARTH_RUNTIME_DUMP_H

#include "depot.h"
#include "history.h"
#include "mib_table.h"
#include "output.h"

#include "hearth/raw.h"

/* The profile at one moment. All threads that allocate or free wait for its end: then it can be written from where the
 * records are, without memory of its own for more than those that differ. */

typedef struct hearth_snapshot {
  hearth_mib_view mibs;
  hearth_history_view history; /* without entries: there is none, or this is not the whole run */
  hearth_depot *depot;         /* lists the contexts with blocks, ascending */
  uint32_t count;              /* of them */
  bool accesses_counted;
  bool accesses_estimated; /* and not counted, though the flag above is set */
  bool continues;          /* records of the same run are in other files, its parts */
  bool has_globals;        /* it is of the whole run, and there are some */
  uint64_t duration_ns, start_unix_ns, pid;
  uint64_t dropped_blocks, dropped_stacks;
  uint64_t sample_bytes; /* 0: all blocks are recorded */
  /* For a heap dump, whose records take the place of `mibs`: */
  const struct hearth_live_census *live; /* NULL: it is none */
  uint32_t occasion;                     /* enum hearth_raw_occasion */
  bool has_residency;
} hearth_snapshot;

/* Let the threads go on. */
void hearth_snapshot_end(hearth_snapshot *snapshot);

static inline uint32_t hearth_snapshot_context(const hearth_snapshot *snapshot, uint32_t i) {
  return *hearth_depot_list(snapshot->depot, i);
}

/* The record of a context, with the share of its ended blocks in the peak, which the view's own record lacks. */
hearth_mib hearth_snapshot_mib(const hearth_snapshot *snapshot, uint32_t context);

static inline bool hearth_snapshot_has_histograms(const hearth_snapshot *snapshot) {
  return snapshot->mibs.histograms.by_context != NULL;
}

/* As hearth_histograms_get, in histogram mode. */
static inline const uint64_t *hearth_snapshot_histogram(const hearth_snapshot *snapshot, uint32_t context,
                                                        uint32_t *ret_size) {
  return hearth_mib_view_histogram(&snapshot->mibs, context, ret_size);
}

/* The profile's file. Callers have the lock of dumps. */

/* Write a snapshot to the profile's file, which the first one gives its name, and end it; a message names the error.
 * Returns whether it was written. */
bool hearth_profile_file_write(hearth_snapshot *snapshot);

/* Write a snapshot to the file of that name. Returns 0 or an error number. */
int hearth_profile_file_write_as(const hearth_snapshot *snapshot, const char *file, bool replace);

/* The name of this process's file, before a number is added because there is one: option log_path with its patterns
 * replaced, and with the process id, unless that is one of them or the option says which process goes without. */
void hearth_profile_file_name(hearth_text *name);

/* The same of files beside it, which are replaced and removed: no other process has that name, on any host. */
void hearth_profile_file_name_beside(hearth_text *name);

/* The same name for other processes, with words like "PID" for the parts that differ. */
void hearth_profile_file_name_others(hearth_text *name);

/* Is that a device, as /dev/null, which all processes write to? */
bool hearth_profile_file_is_device(void);

void hearth_profile_file_make_directories(const char *file);

/* The name of the file that was written last; lives until the next one. */
const char *hearth_profile_file_written(void);

/* A forked child's profile has a name of its own. */
void hearth_profile_file_forget(void);

/* Patterns in names of files, as LLVM_PROFILE_FILE has them: %e program, %p process, %m build, %h host, %u number of
 * the start, %% a percent sign. */

/* The text that replaces each. */
typedef struct hearth_pattern_words {
  char program[208], process[24], build[72], host[72], start[24];
} hearth_pattern_words;

/* Add the pattern with its words in place. Other letters do not change. */
void hearth_pattern_add(hearth_text *text, const char *pattern, const hearth_pattern_words *words);

/* Does it have that letter? */
bool hearth_pattern_has(const char *pattern, char letter);

/* Add a name literally. */
void hearth_pattern_add_literal(hearth_text *text, const char *name);

/* Those of this process. */
hearth_pattern_words hearth_pattern_words_of_process(void);

/* Write a snapshot and the mappings in one of the layouts; docs/formats/raw.md. Returns 0 or an error number (other
 * than those of the output, which the output keeps). */
int hearth_dump_hearth(hearth_file_output *output, const hearth_snapshot *snapshot);
int hearth_dump_llvm(hearth_file_output *output, const hearth_snapshot *snapshot);

/* The same in the layout that the options ask for. */
int hearth_dump_write(hearth_file_output *output, const hearth_snapshot *snapshot);

/* Is this the process that records, and not a child that shares its memory (vfork) or was made behind the C library's
 * back? */
bool hearth_is_recording(void);

/* Write the complete profile so far to its file, live blocks included; a message names the error. With the option
 * parts, what came since the last part, to a file of its own, without live blocks. Returns whether it was written. A
 * child of vfork, which runs in its parent's memory, writes none. Also in signal handlers. */
bool hearth_dump(void);

/* The same when the program ends, or may end, unless that is switched off. A forked child that recorded nothing writes
 * none. */
void hearth_dump_at_end(void);

/* Write the dumps that are due now, in ns since the start; one thread does them. Outside of
 * critical sections. */
void hearth_dump_due(uint64_t now_ns);

/* Let the intervals begin now. */
void hearth_dump_schedule(uint64_t now_ns);

/* Of the profile that was written last. */
typedef struct hearth_dump_totals {
  uint64_t blocks, live_blocks;
  bool is_whole; /* no records of the run are in other files */
} hearth_dump_totals;
hearth_dump_totals hearth_dump_last_totals(void);

/* Take no sample, or take one again: of a profile that is sampled; else a message, and false. Also in signal handlers. */
bool hearth_dump_pause(bool paused);

/* A forked child's profile has a name of its own. */
void hearth_dump_forget_file(void);

/* Keep dumps out while the process forks; with signals blocked. */
void hearth_dump_lock(void);
void hearth_dump_unlock(void);

/* Heap dumps: the live blocks at one moment, each dump in a file of its own. In live mode they take the place of
 * profiles. */

/* Write one to the next file: NAME.1, NAME.2 ...; those of peaks replace NAME.peak. A message names the error. The
 * caller has the lock of dumps, and has blocked signals. Returns whether it was written. */
bool hearth_live_dump(enum hearth_raw_occasion occasion);

/* Call this at the start of the run: with option residency, it starts to watch pages for the first dump. */
void hearth_live_begin(void);

/* A forked child's dumps have names of their own. */
void hearth_live_forget_files(void);

/* Where bytes of the heap are: in memory, swapped out, or nowhere since nobody wrote to them; and whether they were
 * written to lately. Source: /proc/self/pagemap and clear_refs (Linux, Documentation/admin-guide/mm/pagemap.rst,
 * soft-dirty.rst). */

/* Bytes of blocks: those of a block that shares its page with others count by themselves. */
typedef struct hearth_residency {
  uint64_t resident;
  uint64_t swapped;
  uint64_t unwritten; /* in memory or swapped, and not written to since the dump before; 0 if that is not known */
} hearth_residency;

/* The live blocks at one moment, by context and type. Use it while threads are stopped; it maps memory, and gives it
 * back. */

/* Blocks of one context and type. */
typedef struct hearth_live_row {
  uint32_t next; /* row + 1 of the same context and another type; 0: none */
  hearth_mib mib;
  hearth_residency residency;
} hearth_live_row;

typedef struct hearth_live_census {
  uint32_t *first; /* by context: row + 1; 0: nothing is live */
  uint32_t context_count;
  hearth_live_row *rows;
  uint32_t row_count, row_room;
  bool incomplete; /* there was no memory for all rows */
} hearth_live_census;

#endif
