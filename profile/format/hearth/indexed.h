/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Indexed profile, version 2. Change docs/formats/indexed.md in the same commit; every released version stays readable.
 *
 * Little-endian; offsets are from the start of the file; sections are 8-byte aligned and mapped as they are. All tables
 * are in a canonical order, so that equal contents are equal bytes whatever was merged in whatever order:
 *
 *   strings    by content;             paths      by (parent, name), parents first
 *   functions  by id;                  frames     by (function, line, column, discriminator, flags)
 *   stacks     those that modules share, then module by module; depth first: a node's parent has a lower number
 *   contexts   by (leaf frame, stack node): those of one frame, and of one function, are neighbours
 *
 *   function id --> function --> its frames --> contexts of a frame --> stack node --> parent ... */
#ifndef HEARTH_INDEXED_H
#define HEARTH_INDEXED_H

#include "hearth/mib.h"

#define HEARTH_INDEXED_MAGIC   UINT64_C(0x8158494852484581) /* bytes 81 45 48 52 48 49 58 81 */
#define HEARTH_INDEXED_VERSION 2u
#define HEARTH_BLOCK_SIZE      4096u      /* granule of the checksums */
#define HEARTH_NONE            UINT32_MAX /* no parent, no path, ... */
/* Line offset of a frame whose line is unknown. Offsets are modulo 2^32 and may well be -1 (a member's initialiser
 * above its constructor), but not this one. */
#define HEARTH_LINE_UNKNOWN UINT32_C(0x80000000)

/* How function ids were made. */
enum hearth_id_scheme {
  HEARTH_IDS_HEARTH = 1, /* XXH3-64 of linkage name, NUL, base name of the declaring file */
  HEARTH_IDS_LLVM = 2    /* MD5-64 of the linkage name (profiles imported from LLVM) */
};

enum hearth_section_id { /* unknown ones are skipped; once released, a number is never reused */
                         HEARTH_SECTION_SCHEMA = 1,
                         HEARTH_SECTION_STRINGS = 2,
                         HEARTH_SECTION_PATHS = 3,
                         HEARTH_SECTION_FUNCTIONS = 4,
                         HEARTH_SECTION_FRAMES = 5,
                         HEARTH_SECTION_STACKS = 6,
                         HEARTH_SECTION_CONTEXTS = 7,
                         HEARTH_SECTION_SUMMARY = 8,
                         HEARTH_SECTION_BINARIES = 9,
                         HEARTH_SECTION_CHECKSUMS = 10, /* the last one in the file; covers all blocks before it */
                         /* The following are in a file only if there is anything in them: */
                         HEARTH_SECTION_HISTOGRAMS = 11,
                         HEARTH_SECTION_TYPES = 12,
                         HEARTH_SECTION_VARIANCES = 13,
                         HEARTH_SECTION_RUN_FACTS = 14,
                         HEARTH_SECTION_PLAN = 15,
                         HEARTH_SECTION_HISTORY = 16,
                         HEARTH_SECTION_GLOBALS = 17,
                         HEARTH_SECTIONS = 17 /* that this version knows */
};

#define HEARTH_FLAG_ACCESSES  1u /* required flag: accesses were counted in every run that was merged */
#define HEARTH_FLAG_DENSITIES 2u /* required flag, without the other: of some run only access densities are known */

#define HEARTH_FLAG_ESTIMATED                                                                                          \
  1u /* optional flag, with FLAG_ACCESSES: in some run, accesses were estimated, not counted */

typedef struct hearth_indexed_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* of this struct; the section table follows */
  uint64_t file_size;
  uint32_t optional_flags; /* a reader may ignore unknown ones */
  uint32_t required_flags; /* a reader refuses unknown ones */
  uint32_t id_scheme;      /* enum hearth_id_scheme */
  uint32_t section_count;
  uint64_t checksum; /* XXH3-64 of header and section table with this field 0 */
} hearth_indexed_header;

typedef struct hearth_indexed_section {
  uint32_t id;
  uint32_t count; /* rows, where the section is a table */
  uint64_t offset;
  uint64_t size; /* bytes, without padding */
} hearth_indexed_section;

/* SCHEMA: the meaning of each column of CONTEXTS; the first one is the leaf node (StackID). */
typedef struct hearth_indexed_field {
  uint32_t tag;  /* enum hearth_mib_tag */
  uint32_t name; /* offset in STRINGS, for fields that a reader does not know */
} hearth_indexed_field;

/* A packed table (FRAMES, STACKS, CONTEXTS, VARIANCES): columns of 64-bit numbers. Each block of rows stores only
 * the differences between its own numbers. Any row is found by two loads and decoded alone; neighbouring rows, with
 * all their columns, lie together.
 *
 *   | hearth_indexed_packed | columns | u32 starts[blocks + 1], padding to 8 | blocks |
 *
 * Block b begins 8 * starts[b] bytes behind the starts. It is a string of bits, the lowest bit of the first byte first:
 *
 *   a byte for each column with bits > 0: width of its numbers, HEARTH_PACKED_SPARSE added or not
 *   for each of these columns: its least number in this block, less the column's base, in `bits` bits
 *   for each of these columns: its numbers less that least one, `width` bits each; if sparse, one bit a row that tells
 *   whether the number is stored, and only those that are not 0
 *
 * A number is the sum, modulo 2^64, of four numbers: the column's base, the block's least, the stored number, and the
 * row's number in the column that is the reference. */
#define HEARTH_PACKED_ROWS    64u /* rows of a block; the last one may have fewer */
#define HEARTH_PACKED_COLUMNS 64u /* at most */
#define HEARTH_PACKED_SPARSE  0x80u

typedef struct hearth_indexed_packed {
  uint32_t column_count;
  uint32_t reserved;
} hearth_indexed_packed;

typedef struct hearth_indexed_column {
  uint64_t base;      /* least number, taken as signed, less the reference's */
  uint32_t bits;      /* of the differences to it; 0: all are 0, blocks have nothing of this column */
  uint32_t reference; /* a lower column, or HEARTH_NONE */
} hearth_indexed_column;

/* STRINGS: NUL-terminated, UTF-8 as found in the debug information; offset 0 is the empty string. */

#define HEARTH_PATH_LIMIT 4096u /* bytes of a joined path with its NUL; longer ones are not stored */

/* PATHS: reverse prefix tree of file names. A path is the names from the root down, joined by '/'. */
typedef struct hearth_indexed_path {
  uint32_t name;       /* offset in STRINGS; one component */
  uint32_t parent;     /* lower row, or HEARTH_NONE; a root with empty name is '/' */
  uint32_t first_node; /* nodes in STACKS that only contexts of this module need: up to the next row's first_node */
} hearth_indexed_path;

typedef struct hearth_indexed_function {
  uint64_t id;
  uint32_t name;        /* offset in STRINGS: linkage name, suffixes removed; empty if unknown */
  uint32_t path;        /* row of PATHS: declaring file; HEARTH_NONE if unknown */
  uint32_t start_line;  /* 0 unknown */
  uint32_t first_frame; /* its frames: up to the next function's first_frame */
} hearth_indexed_function;

#define HEARTH_FRAME_INLINED   1u /* this frame was inlined into the next one */
#define HEARTH_FRAME_RECURSIVE 2u /* folding left it out of a stack; frames do not differ by it alone */
#define HEARTH_FRAME_LIBRARY   4u /* a leaf: code without debug information, called there, allocates */
#define HEARTH_FRAME_IN_CYCLE  8u /* folding left out calls that its function makes; as RECURSIVE */

/* FRAMES: packed. All numbers have 32 bits. */
enum hearth_frame_column {
  HEARTH_FRAME_FIRST_CONTEXT = 0, /* contexts with this leaf: up to the next frame's first context */
  HEARTH_FRAME_FUNCTION = 1,      /* row of FUNCTIONS */
  HEARTH_FRAME_LINE = 2,          /* offset from the function's first line, modulo 2^32; or HEARTH_LINE_UNKNOWN */
  HEARTH_FRAME_COLUMN = 3,        /* 0 unknown */
  HEARTH_FRAME_DISCRIMINATOR = 4, /* base discriminator; 0 none */
  HEARTH_FRAME_FLAGS = 5,         /* HEARTH_FRAME_INLINED and the like */
  HEARTH_FRAME_COLUMNS
};

/* STACKS: packed; a row is a node with its frame and the caller's node, its parent, which is a lower row.
 *
 * The module of a context is the file of the first function, from the leaf on, that was not inlined. Nodes that
 * contexts of several modules need, or one of unknown module, are shared and come first. All others lie with their
 * module. A node of several modules that at most HEARTH_STACK_COPIED contexts need is not shared: each module has a
 * copy. */
#define HEARTH_STACK_COPIED 16u

enum hearth_stack_column {
  HEARTH_STACK_FRAME = 0, /* row of FRAMES */
  HEARTH_STACK_UP = 1,    /* own row - 1 - parent's; a root has the parent -1: 0 where the parent is just before */
  HEARTH_STACK_COLUMNS
};

/* CONTEXTS: packed; the leaf node in STACKS, then the numbers that SCHEMA lists. */

/* SUMMARY: this struct, then `cutoffs` of hearth_indexed_cutoff. */
typedef struct hearth_indexed_summary {
  uint64_t runs;         /* processes whose profiles were merged */
  uint64_t duration_ns;  /* sum of their durations */
  uint64_t total_allocs; /* sums over all contexts */
  uint64_t total_bytes;
  uint64_t total_accesses;
  uint64_t dropped_blocks; /* allocations without record, sum over the runs */
  uint64_t dropped_frames; /* addresses in no binary that was given, at indexing */
  uint32_t cutoffs;
  uint32_t reserved; /* 0 */
} hearth_indexed_summary;

/* Hot: contexts with a density of at least `density` hold together at least `share`. Density: see
 * hearth_mib_density(). */
typedef struct hearth_indexed_cutoff {
  uint32_t share_ppm; /* parts per million of all accesses */
  uint32_t reserved;
  double density; /* IEEE 754 binary64; accesses per byte-second */
} hearth_indexed_cutoff;

/* BINARIES: rows; which executables and libraries the contexts came from. */
typedef struct hearth_indexed_binary {
  uint32_t name; /* offset in STRINGS: base name */
  uint32_t build_id_size;
  uint8_t build_id[32];
} hearth_indexed_binary;

/* HISTOGRAMS: rows, by ascending context, then bytes: of each row a number, its size, and so many counts, packed as the
 * numbers of raw profiles are (raw.h). The last count is not 0. */
typedef struct hearth_indexed_histogram {
  uint32_t context; /* row of CONTEXTS */
  uint32_t offset;  /* of its size, from the end of the rows */
} hearth_indexed_histogram;

/* TYPES: names of the types that contexts have in DataTypeId; rows by id. */
typedef struct hearth_indexed_type {
  uint64_t id;
  uint32_t name; /* offset in STRINGS */
  uint32_t reserved;
} hearth_indexed_type;

/* GLOBALS: global variables; rows by id. */
typedef struct hearth_indexed_global {
  uint64_t id; /* XXH3-64 of name, NUL, and if it is local, file */
  uint64_t size, accesses, touched_lines, stores;
  uint32_t name, file; /* offsets in STRINGS */
  uint32_t line, flags;
} hearth_indexed_global;

/* PLAN: this struct, then the tables it counts: where the blocks of each context are to lie, and how cold contexts
 * are told from others that share their allocation call, at run time. While a decision site is being called, its bit
 * is set in a word of the thread; an allocation is cold if the word has some bit of its table's mask.
 *
 *   | hearth_indexed_plan | sites | tables | calls | placements, a byte each, padding to 8 |
 *
 * The allocation calls of most weight have pool ids, 1 to call_count, by which the program tells them apart. The
 * layout is a small table beside them: the pool that each id means. */
typedef struct hearth_indexed_plan {
  uint64_t id; /* XXH3-64 of the tables: plans that differ in more than layout and tuning differ in it */
  uint32_t site_count, table_count;
  uint32_t call_count;    /* at most HEARTH_PLAN_CALLS_MAX */
  uint32_t context_count; /* placements: rows of CONTEXTS */
  uint32_t tuning;        /* enum hearth_tuning */
  uint32_t rounds;        /* of measurement; this and the next ones are 0 unless the layout was tuned */
  uint32_t time_ppm;      /* the program's time, in millionths of that with one pool: the ratio of the medians */
  uint32_t memory_ppm;    /* its peak of memory, likewise */
  uint32_t time_spread_ppm, memory_spread_ppm; /* from the least to the greatest ratio of a round */
  uint8_t pools[HEARTH_POOLS_MAX + 1]; /* of each id, from id 1 on; 0: the main pool. Those behind the ids are 0 */
} hearth_indexed_plan;

/* What the layout was chosen for. */
enum hearth_tuning {
  HEARTH_TUNING_NONE = 0,   /* it was given, or is one pool */
  HEARTH_TUNING_TIME = 1,   /* measurements: less time than with one pool */
  HEARTH_TUNING_MEMORY = 2, /* measurements: less memory, in no more time */
  HEARTH_TUNINGS = 3
};

#define HEARTH_PLAN_SITES_MAX 58 /* each has a bit of its own; the word's highest count frames (context_word.c) */

/* By ascending stack id. */
typedef struct hearth_plan_site {
  uint64_t stack_id; /* of the call */
  uint64_t allocs;   /* blocks that were allocated while it was being called: it runs at most so often in vain */
  uint64_t bytes;    /* weight that would be in another class's place without it (docs/formats/indexed.md) */
  uint32_t frame;    /* one row of FRAMES with this id */
  uint8_t bit;       /* 0 to 57, of no other site */
  uint8_t is_alone;  /* 1: no stack has the site twice. So the bit is clear before the call */
  uint16_t reserved; /* 0 */
} hearth_plan_site;

/* Of each allocation call whose contexts differ; by ascending stack id. */
typedef struct hearth_plan_table {
  uint64_t stack_id; /* of the allocation call */
  uint64_t mask;     /* of sites that prove its blocks cold; 0: no site tells its contexts apart */
  /* [0] while none of the mask's bits is set, [1] while some are: */
  uint64_t bytes[2];       /* that such contexts allocated */
  uint64_t right_bytes[2]; /* of these, by contexts of the placement */
  uint8_t placements[2];   /* hearth_placement; 0: as without a profile */
  uint16_t reserved;       /* 0 */
  uint32_t frame;          /* one row of FRAMES with this id */
} hearth_plan_table;

/* An allocation call with a pool id; by id. The sums are of its contexts that are neither cold nor light. */
typedef struct hearth_plan_call {
  uint64_t allocs, bytes, accesses;
  uint64_t weight;      /* descending: docs/formats/indexed.md */
  uint64_t lifetime_ns; /* mean of a block */
  uint32_t contexts;
  uint32_t frame;    /* one row of FRAMES with its stack id */
  uint32_t hotness;  /* HEARTH_CLASS_NOTCOLD or _HOT: what its blocks are to allocators without pools */
  uint32_t reserved; /* 0 */
} hearth_plan_call;

/* VARIANCES: packed, by context: how far the runs differ (hearth/classify.h). Only contexts that some run was
 * observed of have a row. Left out where it follows from the rest: of a single run. */
enum hearth_variance_column {
  HEARTH_VARIANCE_CONTEXT = 0, /* row of CONTEXTS */
  HEARTH_VARIANCE_RUNS = 1,    /* and the other sums of a hearth_variance, in its order */
  HEARTH_VARIANCE_COLUMNS = 9
};

/* RUN FACTS: this struct (hearth/profile.h); not all zero. */
typedef struct hearth_indexed_run_facts {
  uint64_t peak_bytes;
  uint32_t command;             /* offset in STRINGS */
  uint32_t flags;               /* with HEARTH_COMMANDS_DIFFER, `command` is empty */
  uint32_t first_day, last_day; /* since 1970-01-01, UTC; both 0: unknown */
} hearth_indexed_run_facts;

#define HEARTH_COMMANDS_DIFFER 1u

/* HISTORY: this struct, then levels as those of raw profiles are packed (raw.h): of all contexts; then of
 * rows, by ascending context, a number, the contexts passed over, and the levels. */
typedef struct hearth_indexed_history {
  uint64_t runs;     /* whose history this is */
  uint64_t peak_ppm; /* when most was live, in millionths of the run: sum */
} hearth_indexed_history;

/* CHECKSUMS: XXH3-64 of each HEARTH_BLOCK_SIZE bytes of the file before this section; the last block ends where this
 * section begins. Checked block by block as a reader touches the file. */

HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_header) == 48);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_section) == 24);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_field) == 8);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_packed) == 8);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_column) == 16);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_path) == 12);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_function) == 24);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_summary) == 64);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_cutoff) == 16);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_binary) == 40);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_histogram) == 8);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_type) == 16);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_global) == 56);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_plan) == 80);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_run_facts) == 24);
HEARTH_CHECK_LAYOUT(sizeof(hearth_indexed_history) == 16);
HEARTH_CHECK_LAYOUT(sizeof(hearth_plan_site) == 32);
HEARTH_CHECK_LAYOUT(sizeof(hearth_plan_table) == 56);
HEARTH_CHECK_LAYOUT(sizeof(hearth_plan_call) == 56);

#endif
