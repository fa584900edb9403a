/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Raw profile, Hearth layout version 2: the runtime writes it. Change docs/formats/raw.md in the same commit.
 *
 * A raw file is read by the same version only. Little-endian; offsets are from the start of the file; sections are
 * 8-byte aligned. Four sections, as in the serialization RFC: header, mappings, call stacks, MIBs.
 *
 *   | header | mapping, path, padding | ... | stack node ... padding | MIB record ... padding |
 *
 * Call stacks are one forest of parent pointers: a node is one return address minus 1 (so that it lies inside the
 * call) and the node of its caller; parents precede children; a MIB names its leaf node. Nodes and MIBs are packed:
 * raw_codec.h. */
#ifndef HEARTH_RAW_H
#define HEARTH_RAW_H

#include "hearth/mib.h"

#define HEARTH_RAW_MAGIC UINT64_C(0x8157415248524881) /* bytes 81 48 52 48 52 41 57 81; reversed on other byte order */
#define HEARTH_RAW_VERSION      2u
#define HEARTH_RAW_BUILD_ID_MAX 32u
#define HEARTH_RAW_COMMAND_MAX  1023u
#define HEARTH_RAW_NO_PARENT    UINT32_MAX
#define HEARTH_RAW_POINTS       256u        /* of a history: equal parts of the run */
#define HEARTH_RAW_LEFT_OUT     UINT64_C(0) /* pc of a root that is no call: below it are calls left out by folding */

#define HEARTH_RAW_FLAG_ACCESSES   1u /* loads and stores were counted; else all access fields are 0 and mean nothing */
#define HEARTH_RAW_FLAG_CONTINUES  2u /* not the run's first file: its parts before this are in others */
#define HEARTH_RAW_FLAG_HISTOGRAMS 4u /* each MIB is followed by its histogram: its size, and so many numbers */
#define HEARTH_RAW_FLAG_NAMES      8u /* behind the mappings: how many names, and each name's size and bytes */

#define HEARTH_RAW_FLAG_ESTIMATED                                                                                      \
  4096u /* with FLAG_ACCESSES: accesses were not counted, but estimated from looks at pages */
#define HEARTH_RAW_FLAG_RUN   8192u  /* behind the mappings: peak of live bytes; size and bytes of the command line */
#define HEARTH_RAW_FLAG_CLOCK 16384u /* behind the run: a number of ns by which times may be early */
#define HEARTH_RAW_FLAG_HISTORY                                                                                        \
  32768u /* behind that: when the peak was; levels of all; of how many records, and theirs */
#define HEARTH_RAW_FLAG_GLOBALS   65536u /* behind the MIBs: how many global variables, and each of them */
#define HEARTH_RAW_FLAG_RESIDENCY 128u /* each MIB of a heap dump is followed by three numbers: hearth_raw_residency */
#define HEARTH_RAW_OCCASION_SHIFT 4    /* bits 4 to 6: enum hearth_raw_occasion */
#define HEARTH_RAW_OCCASION_MASK  (7u << HEARTH_RAW_OCCASION_SHIFT)

/* The file is a heap dump, not a profile: its records count live blocks, one for each stack and type. The value says
 * why the dump was made. */
enum hearth_raw_occasion {
  HEARTH_RAW_NO_DUMP = 0, /* a profile */
  HEARTH_RAW_END = 1,     /* of the run */
  HEARTH_RAW_PERIOD = 2,
  HEARTH_RAW_REQUEST = 3,
  HEARTH_RAW_PEAK = 4
};

/* Bytes of a record's blocks that are in memory, swapped out, and either of them but not written to since the dump
 * before. */
enum hearth_raw_residency { HEARTH_RAW_RESIDENT, HEARTH_RAW_SWAPPED, HEARTH_RAW_UNWRITTEN, HEARTH_RAW_RESIDENCIES };

#define HEARTH_RAW_PROFILER "hearth:profiler" /* of a heap dump: the heap that the profiler's own memory is shown as */

/* Stands for a name in the place of an address or a hash; the lower 32 bits are the name's number. */
#define HEARTH_RAW_NAMED      (UINT64_C(1) << 63)
#define HEARTH_RAW_SCOPE_PC   (HEARTH_RAW_NAMED)                     /* pc of a node: a scope */
#define HEARTH_RAW_HEAP_PC    (HEARTH_RAW_NAMED | UINT64_C(1) << 32) /* pc of a leaf: a heap of the program's own */
#define HEARTH_RAW_NAMED_TYPE (HEARTH_RAW_NAMED)                     /* DataTypeId */

/* Is this one of them? No address of user code is. */
#define HEARTH_RAW_IS_NAMED(number, base) (((number) & ~UINT64_C(0xffffffff)) == (base))

typedef struct hearth_raw_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* sizeof(hearth_raw_header) */
  uint64_t total_size;  /* of the file */
  uint64_t map_offset;  /* mapping section */
  uint64_t map_count;
  uint64_t stack_offset; /* call stack section */
  uint64_t stack_count;
  uint64_t mib_offset; /* MIB section */
  uint64_t mib_count;
  uint64_t checksum;      /* XXH64, seed 0: all bytes behind the header, then the header with this 0 */
  uint32_t mib_columns;   /* HEARTH_MIB_COLUMNS, or fewer: further ones are 0 */
  uint32_t flags;         /* HEARTH_RAW_FLAG_* */
  uint64_t duration_ns;   /* from the run's start, or the last part, to the dump, monotonic */
  uint64_t start_unix_ns; /* start of the run, UTC */
  uint64_t pid;
  uint64_t dropped_blocks; /* allocations that no record could be kept of */
  uint64_t dropped_stacks; /* of the run so far: stacks that found no room; their blocks are under the empty stack */
  uint64_t sample_bytes;   /* a block is recorded for so many bytes allocated, and sums are estimates; 0: all blocks */
} hearth_raw_header;

typedef struct hearth_raw_mapping {
  uint64_t start, end;  /* addresses, half open, of one executable mapping */
  uint64_t file_offset; /* of `start` in the file */
  uint32_t build_id_size;
  uint32_t path_size; /* bytes of path that follow, no NUL; padded with zeros to 8 */
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
} hearth_raw_mapping;

/* A node and a record as they are before packing. */
typedef struct hearth_raw_stack_node {
  uint64_t pc;     /* address inside the call instruction */
  uint32_t parent; /* index of the caller's node, less than the own; HEARTH_RAW_NO_PARENT at the root */
} hearth_raw_stack_node;

typedef struct hearth_raw_mib {
  uint32_t stack; /* leaf node; HEARTH_RAW_NO_PARENT: no stack known */
  hearth_mib mib;
} hearth_raw_mib;

HEARTH_CHECK_LAYOUT(sizeof(hearth_raw_header) == 136);
HEARTH_CHECK_LAYOUT(sizeof(hearth_raw_mapping) == 64);

#endif
