/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Raw profile, Hearth layout version 2: the runtime writes it. Change docs/formats/raw.md in the same commit.
 *
 * A raw file is read by the same version only. Little-endian; offsets are from the start of the file; sections are
 * 8-byte aligned. Four sections, as in the serialization RFC: header, mappings, call stacks, MIBs.
 *
 *   | header | mapping, path, padding | ... | stack node ... padding | MIB record ... padding |
 *
 * Call stacks are one forest of parent pointers: a node is one return address minus 1 (so that it lies inside the
 * call) and the node of its caller; parents precede children; a MIB names its leaf node. Nodes and MIBs are packed
 * ("packed numbers", below). */
#ifndef HEARTH_RAW_H
#define HEARTH_RAW_H

#include <stdbool.h>
#include <stddef.h>

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

/* ------------------------------------------------ packed numbers ------------------------------------------------ */

/* Numbers of a raw profile, packed (docs/formats/raw.md, "Packed numbers"): writer and reader share the prediction of
 * each number. Freestanding; all arithmetic is modulo 2^64, so that any number can follow any other. */

#define HEARTH_RAW_VARINT_MOST 10 /* bytes */
#define HEARTH_RAW_NODE_MOST   (2 * HEARTH_RAW_VARINT_MOST)
#define HEARTH_RAW_MIB_MOST    ((2 + HEARTH_MIB_COLUMNS) * HEARTH_RAW_VARINT_MOST)

/* Seven bits a byte, the lowest first; the last byte is less than 128. Returns the end of the written bytes. */
static inline uint8_t *hearth_raw_put_varint(uint8_t *to, uint64_t number) {
  for (; number >= 128; number >>= 7)
    *to++ = (uint8_t)(number | 128);
  *to++ = (uint8_t)number;
  return to;
}

/* The last bytes of numbers among the next eight, by their highest bits. */
static inline uint64_t hearth_raw_ends(const uint8_t *from, uint64_t *ret_bytes) {
  __builtin_memcpy(ret_bytes, from, sizeof *ret_bytes);
  return ~*ret_bytes & UINT64_C(0x8080808080808080);
}

/* False: `end` comes first, or the number has more than 64 bits. Most have one byte or two, which the processor
 * foresees; three to eight are taken without a branch for each. */
static inline bool hearth_raw_take_varint(const uint8_t **from, const uint8_t *end, uint64_t *ret) {
  uint64_t ends, bits;
  if (*from < end && **from < 128) {
    *ret = *(*from)++;
    return true;
  }
  if (end - *from >= 2 && (*from)[1] < 128) {
    *ret = ((*from)[0] & 127) | (uint64_t)(*from)[1] << 7;
    *from += 2;
    return true;
  }
  if (end - *from >= 8 && (ends = hearth_raw_ends(*from, &bits)) != 0) {
    *from += __builtin_ctzll(ends) / 8 + 1;
    bits &= (ends ^ (ends - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
    bits = (bits & UINT64_C(0x007f007f007f007f)) | (bits & UINT64_C(0x7f007f007f007f00)) >> 1;
    bits = (bits & UINT64_C(0x00003fff00003fff)) | (bits & UINT64_C(0x3fff00003fff0000)) >> 2;
    *ret = (bits & UINT64_C(0x0fffffff)) | (bits & UINT64_C(0x0fffffff00000000)) >> 4;
    return true;
  }
  *ret = 0;
  for (unsigned shift = 0; *from < end && shift < 64; shift += 7) {
    uint64_t bits = **from & 127;
    if (shift == 63 && bits > 1)
      return false;
    *ret |= bits << shift;
    if (*(*from)++ < 128)
      return true;
  }
  return false;
}

/* Pass over `count` numbers. False as above. */
static inline bool hearth_raw_skip_varints(const uint8_t **from, const uint8_t *end, unsigned count) {
  uint64_t number;
  for (; count > 0; --count)
    if (!hearth_raw_take_varint(from, end, &number))
      return false;
  return true;
}

/* Small differences of either sign as small numbers: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
static inline uint64_t hearth_raw_zigzag(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
static inline uint64_t hearth_raw_unzigzag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

static inline uint64_t hearth_raw_quotient(uint64_t dividend, uint64_t divisor) {
  return divisor > 1 ? dividend / divisor : dividend; /* by 1, most often: without the division, which is slow */
}

/* The expected value of a column. It is exact for a record of one block, except for measured columns. Callers pass
 * constants, and each constant leaves one line of the function.
 *   mib       its lower columns are known
 *   previous  the record before it; all zero for the first one */
static inline uint64_t hearth_raw_predict(unsigned column, const hearth_mib *mib, const hearth_mib *previous) {
  switch (column) {
  case HEARTH_COL_AllocCount:
    return 1;
  case HEARTH_COL_MaxSize:
    return mib->MinSize;
  case HEARTH_COL_MaxAccessCount:
    return mib->MinAccessCount;
  case HEARTH_COL_MaxLifetime:
    return mib->MinLifetime;
  case HEARTH_COL_NumSameAllocCPU:
    return mib->AllocCount - 1;
  case HEARTH_COL_NumSameDeallocCPU:
    return mib->NumSameAllocCPU;
  case HEARTH_COL_TotalSize:
    return mib->MinSize * mib->AllocCount;
  case HEARTH_COL_TotalAccessCount:
    return mib->MinAccessCount * mib->AllocCount;
  case HEARTH_COL_TotalLifetime:
    return mib->MinLifetime * mib->AllocCount;
  case HEARTH_COL_MinPercentUtilized:
    return hearth_raw_quotient(mib->TotalPercentUtilized, mib->AllocCount);
  case HEARTH_COL_MaxPercentUtilized:
    return mib->MinPercentUtilized;
  case HEARTH_COL_AllocTimestamp:
    return previous->AllocTimestamp;
  case HEARTH_COL_DeallocTimestamp:
    return mib->AllocTimestamp + mib->MaxLifetime;
  case HEARTH_COL_AllocCPU:
    return previous->AllocCPU;
  case HEARTH_COL_DeallocCPU:
    return mib->AllocCPU;
  case HEARTH_COL_TotalAccessDensity:
    return hearth_raw_quotient(mib->TotalAccessCount * 100, mib->TotalSize) * mib->AllocCount;
  case HEARTH_COL_MinAccessDensity:
    return hearth_raw_quotient(mib->TotalAccessDensity, mib->AllocCount);
  case HEARTH_COL_MaxAccessDensity:
    return mib->MinAccessDensity;
  case HEARTH_COL_TotalLifetimeAccessDensity:
    return hearth_raw_quotient(mib->TotalAccessDensity * 1000,
                               hearth_raw_quotient(mib->TotalLifetime, mib->AllocCount) / 1000000);
  case HEARTH_COL_MinLifetimeAccessDensity:
    return hearth_raw_quotient(mib->TotalLifetimeAccessDensity, mib->AllocCount);
  case HEARTH_COL_MaxLifetimeAccessDensity:
    return mib->MinLifetimeAccessDensity;
  case HEARTH_COL_SizedAtExit:
    return mib->LiveAtExit;
  case HEARTH_COL_LiveBytes:
    return mib->SizedAtExit == mib->AllocCount ? mib->TotalSize : 0;
  default:
    return 0;
  }
}

/* `to` has room for HEARTH_RAW_MIB_MOST bytes. `previous` is the record written before, all zero for the first one.
 * Returns the end of the written bytes. */
static inline uint8_t *hearth_raw_put_mib(uint8_t *to, const hearth_raw_mib *record, const hearth_raw_mib *previous) {
  uint64_t differences[HEARTH_MIB_COLUMNS], present = 0;

#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  differences[HEARTH_COL_##Name] =                                                                                     \
      record->mib.Name - hearth_raw_predict(HEARTH_COL_##Name, &record->mib, &previous->mib);
#include "hearth/mib_fields.def"
  for (unsigned i = 0; i < HEARTH_MIB_COLUMNS; ++i)
    present |= (uint64_t)(differences[i] != 0) << i;
  to = hearth_raw_put_varint(to, hearth_raw_zigzag((uint64_t)record->stack - previous->stack));
  to = hearth_raw_put_varint(to, present);
  for (unsigned i = 0; i < HEARTH_MIB_COLUMNS; ++i)
    if (present >> i & 1)
      to = hearth_raw_put_varint(to, hearth_raw_zigzag(differences[i]));
  return to;
}

/* A record's stack, and which of its numbers follow: 1 << column. False: `end` comes first, or the bytes are no record.
 *   stack        in: of the record before it, 0 for the first one; out: the record's */
static inline bool hearth_raw_take_head(const uint8_t **from, const uint8_t *end, uint32_t *stack,
                                        uint64_t *ret_present) {
  uint64_t number;
  if (!hearth_raw_take_varint(from, end, &number) || !hearth_raw_take_varint(from, end, ret_present) ||
      *ret_present >> HEARTH_MIB_COLUMNS)
    return false;
  number = *stack + hearth_raw_unzigzag(number);
  *stack = (uint32_t)number;
  return number <= UINT32_MAX;
}

/* Pass over a record; of its numbers, only AllocCount is looked at. False as above. */
static inline bool hearth_raw_skip_mib(const uint8_t **from, const uint8_t *end, uint32_t *stack, uint64_t *ret_count) {
  uint64_t present, difference = 0;
  HEARTH_CHECK_LAYOUT(HEARTH_COL_AllocCount == 0); /* the first number */
  if (!hearth_raw_take_head(from, end, stack, &present) ||
      (present & 1 && !hearth_raw_take_varint(from, end, &difference)))
    return false;
  *ret_count = hearth_raw_predict(HEARTH_COL_AllocCount, NULL, NULL) + hearth_raw_unzigzag(difference);
  return hearth_raw_skip_varints(from, end, (unsigned)__builtin_popcountll(present >> 1));
}

/* Decode a record to differences, before they are added to their predictions. False as above.
 *   stack        in: of the record before it, 0 for the first one; out: the record's
 *   differences  HEARTH_MIB_COLUMNS numbers, folded */
static inline bool hearth_raw_take_differences(const uint8_t **from, const uint8_t *end, uint32_t *stack,
                                               uint64_t *differences) {
  uint64_t present;
  if (!hearth_raw_take_head(from, end, stack, &present))
    return false;
  for (unsigned i = 0; i < HEARTH_MIB_COLUMNS; ++i)
    differences[i] = 0;
  for (; present; present &= present - 1)
    if (!hearth_raw_take_varint(from, end, &differences[__builtin_ctzll(present)]))
      return false;
  return true;
}

/* False as above. */
static inline bool hearth_raw_take_mib(const uint8_t **from, const uint8_t *end, const hearth_raw_mib *previous,
                                       hearth_raw_mib *ret) {
  uint64_t differences[HEARTH_MIB_COLUMNS];

  ret->stack = previous->stack;
  if (!hearth_raw_take_differences(from, end, &ret->stack, differences))
    return false;
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  ret->mib.Name = hearth_raw_predict(HEARTH_COL_##Name, &ret->mib, &previous->mib) +                                   \
                  hearth_raw_unzigzag(differences[HEARTH_COL_##Name]);
#include "hearth/mib_fields.def"
  return true;
}

/* Levels of a history: how many lower bits are 0 in all; then for each change how many points are as the one before,
 * at first 0, and the difference; then how many are left, if any. `to` has room for HEARTH_RAW_LEVELS_MOST bytes. */
#define HEARTH_RAW_LEVELS_MOST ((2 * HEARTH_RAW_POINTS + 1) * HEARTH_RAW_VARINT_MOST)

static inline uint8_t *hearth_raw_put_levels(uint8_t *to, const uint64_t *levels) {
  uint64_t all = 0, level = 0, same = 0;
  for (unsigned i = 0; i < HEARTH_RAW_POINTS; ++i)
    all |= levels[i];
  unsigned shift = all ? (unsigned)__builtin_ctzll(all) : 0;
  to = hearth_raw_put_varint(to, shift);
  for (unsigned i = 0; i < HEARTH_RAW_POINTS; ++i) {
    uint64_t difference = (levels[i] >> shift) - level;
    if (difference == 0) {
      ++same;
      continue;
    }
    to = hearth_raw_put_varint(hearth_raw_put_varint(to, same), hearth_raw_zigzag(difference));
    level += difference;
    same = 0;
  }
  return same > 0 ? hearth_raw_put_varint(to, same) : to;
}

/* False as above. */
static inline bool hearth_raw_take_levels(const uint8_t **from, const uint8_t *end, uint64_t *levels) {
  uint64_t shift, same, difference, level = 0;
  if (!hearth_raw_take_varint(from, end, &shift) || shift > 63)
    return false;
  for (unsigned i = 0; i < HEARTH_RAW_POINTS;) {
    if (!hearth_raw_take_varint(from, end, &same) || same > HEARTH_RAW_POINTS - i)
      return false;
    for (; same > 0; --same)
      levels[i++] = level << shift;
    if (i == HEARTH_RAW_POINTS)
      break;
    if (!hearth_raw_take_varint(from, end, &difference))
      return false;
    level += hearth_raw_unzigzag(difference);
    if (level > UINT64_MAX >> shift)
      return false;
    levels[i++] = level << shift;
  }
  return true;
}

/* A node's number is that of its row; `previous_pc` is that of the row before it, 0 for the first. */
static inline uint8_t *hearth_raw_put_node(uint8_t *to, uint32_t number, const hearth_raw_stack_node *node,
                                           uint64_t previous_pc) {
  to = hearth_raw_put_varint(to, node->parent == HEARTH_RAW_NO_PARENT ? 0 : (uint64_t)number - node->parent);
  return hearth_raw_put_varint(to, hearth_raw_zigzag(node->pc - previous_pc));
}

/* False as above; a parent that is not lower than its node is no node. */
static inline bool hearth_raw_take_node(const uint8_t **from, const uint8_t *end, uint32_t number, uint64_t previous_pc,
                                        hearth_raw_stack_node *ret) {
  uint64_t distance, difference;

  if (!hearth_raw_take_varint(from, end, &distance) || !hearth_raw_take_varint(from, end, &difference) ||
      distance > number)
    return false;
  ret->parent = distance == 0 ? HEARTH_RAW_NO_PARENT : number - (uint32_t)distance;
  ret->pc = previous_pc + hearth_raw_unzigzag(difference);
  return true;
}

#endif
