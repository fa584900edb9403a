/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces: a record of every operation on the heap. Change docs/formats/trace.md in the same commit.
 *
 *   | header, command line | block header, payload | block header, payload | ...
 *
 * Little-endian; blocks are independent of each other but for stack nodes, which later blocks refer to. A file may end
 * anywhere: all data before the end is valid. Freestanding: the runtime includes it. */
#ifndef HEARTH_TRACE_FORMAT_H
#define HEARTH_TRACE_FORMAT_H

#include <stdbool.h>

#include "hearth/layout.h"

#define HEARTH_TRACE_MAGIC       UINT64_C(0x8157415452544881) /* bytes 81 48 54 52 54 41 57 81 */
#define HEARTH_TRACE_VERSION     2u
#define HEARTH_TRACE_BLOCK_MAGIC UINT32_C(0x4b4c4281) /* bytes 81 42 4c 4b */
#define HEARTH_TRACE_NO_STACK    UINT32_MAX
#define HEARTH_TRACE_EVENTS_MOST 4096u /* in a block */
#define HEARTH_TRACE_NODES_MOST  65536u
#define HEARTH_TRACE_NODES_TOTAL ((uint32_t)1 << 24) /* in a file */
#define HEARTH_TRACE_BYTES_MOST  ((uint32_t)1 << 24) /* of a payload, packed or not */

/* The function that was called. The first eight numbers are those of CERN openlab's MemProf. */
typedef enum hearth_trace_kind {
  HEARTH_TRACE_MALLOC = 0, /* strdup and the like, too */
  HEARTH_TRACE_CALLOC = 1,
  HEARTH_TRACE_REALLOC = 2, /* its new block */
  HEARTH_TRACE_NEW = 3,
  HEARTH_TRACE_NEW_ARRAY = 4,
  HEARTH_TRACE_FREE = 5,
  HEARTH_TRACE_DELETE = 6,
  HEARTH_TRACE_DELETE_ARRAY = 7,
  HEARTH_TRACE_REALLOC_FREE = 8, /* its old block; the half that follows in the same thread is its new one */
  HEARTH_TRACE_ALIGNED = 9,      /* memalign, aligned_alloc, posix_memalign, valloc, pvalloc */
  HEARTH_TRACE_KINDS
} hearth_trace_kind;

static inline bool hearth_trace_frees(uint8_t kind) {
  return (kind >= HEARTH_TRACE_FREE && kind <= HEARTH_TRACE_REALLOC_FREE);
}

typedef struct hearth_trace_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* command line and padding included: the first block's offset */
  uint64_t pid;
  uint64_t start_ns;      /* of the run, monotonic clock; all other times count from here */
  uint64_t start_unix_ns; /* the same moment, UTC */
  uint32_t stack_depth;   /* most addresses of a stack */
  uint32_t command_size;  /* bytes of command line that follow: arguments, each with a NUL; then zeros up to 8 */
} hearth_trace_header;

typedef enum hearth_trace_block_kind {
  HEARTH_TRACE_BLOCK_STACKS = 1,   /* nodes, numbered on from those before */
  HEARTH_TRACE_BLOCK_EVENTS = 2,   /* of one thread, in the order of their ends */
  HEARTH_TRACE_BLOCK_MAPPINGS = 3, /* all so far: the last such block counts */
  HEARTH_TRACE_BLOCK_END = 4       /* a process ends, or is replaced by exec; may be followed by more */
} hearth_trace_block_kind;

typedef struct hearth_trace_block {
  uint32_t magic;
  uint32_t kind;        /* hearth_trace_block_kind; others are passed over */
  uint32_t stored_size; /* bytes of payload that follow */
  uint32_t count;       /* nodes, events or mappings */
  uint64_t first;       /* STACKS: number of the first node. EVENTS: thread, from 1 */
  uint64_t checksum;    /* XXH64, seed 0: the payload, then this header with checksum 0 */
} hearth_trace_block;

/* Before each column of a payload: bytes, and bytes as stored. If these are fewer, they are a frame of zstd. */
typedef struct hearth_trace_column_size {
  uint32_t size, packed;
} hearth_trace_column_size;

#define HEARTH_TRACE_COLUMNS_MOST 16u

/* Payload of HEARTH_TRACE_BLOCK_END. */
typedef struct hearth_trace_end {
  uint64_t duration_ns;
  uint64_t dropped_events; /* not recorded, so far */
  uint64_t dropped_stacks; /* events that have no stack because there was no room for more of them */
} hearth_trace_end;

/* An operation on the heap. Times count from the start of the run. */
typedef struct hearth_trace_event {
  uint64_t address;                    /* of the block */
  uint64_t size;                       /* that was asked for; of a block that is freed, too, or 0 if it is not known */
  uint64_t begin_ns, stack_ns, end_ns; /* stack_ns: when its stack was taken */
  uint32_t stack;                      /* node of its innermost frame, or HEARTH_TRACE_NO_STACK */
  uint8_t kind;                        /* hearth_trace_kind */
} hearth_trace_event;

HEARTH_CHECK_LAYOUT(sizeof(hearth_trace_header) == 48);
HEARTH_CHECK_LAYOUT(sizeof(hearth_trace_block) == 32);
HEARTH_CHECK_LAYOUT(sizeof(hearth_trace_end) == 24);

#endif
