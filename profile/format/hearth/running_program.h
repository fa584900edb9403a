/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the `hearth` command meets a running program: a recording is begun in it, a profile is asked for, the allocator's
 * numbers are read; and what a recording of it lacks. */
#ifndef HEARTH_RUNNING_PROGRAM_H
#define HEARTH_RUNNING_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------- recording and dumps ---------------------------------------- */

/* What `hearth record --pid` and the library that it loads into a program agree on: two functions of the library,
 * which a thread of the program is made to call.
 *
 *   int __hearth_attach(const char *settings)   begin a trace; settings as in HEARTH_OPTIONS, with NUL
 *   int __hearth_detach(void)                   end it
 *
 * Both return a hearth_attach_result. */

#define HEARTH_ATTACH_SETTINGS 8192 /* bytes of settings at most */

enum hearth_attach_result {
  HEARTH_ATTACH_OK = 0,
  HEARTH_ATTACH_AGAIN = 1,     /* it is being recorded */
  HEARTH_ATTACH_NO_MALLOC = 2, /* the loader finds no malloc there */
  HEARTH_ATTACH_NO_TRACE = 3   /* the program cannot write the trace, which it told on its standard error */
};

/* How `hearth dump` asks a running program for its profile, or to stop and start sampling: a queued signal with a
 * value, which the runtime answers with the same signal and 0 (done) or 1 (not done). The signal sent otherwise asks
 * for the profile, too, without answer. */

#define HEARTH_DUMP_SIGNAL 61         /* real-time, which few programs use; runtime option dump_signal */
#define HEARTH_DUMP_ASK    0x48525448 /* "HTRH": for the profile */
#define HEARTH_DUMP_PAUSE  0x48525449 /* take no sample from now on */
#define HEARTH_DUMP_RESUME 0x4852544a /* take one again */

/* ---------------------------------------- numbers of the allocator ---------------------------------------- */

/* How `hearth top` finds the numbers of a running program's allocator and reads them out of its memory, without
 * stopping it and without its help.
 *
 * The status is one page, the first of a mapping, behind an inaccessible one: so it is found in /proc/PID/maps, in
 * stripped programs as well. It says where the allocator's tables lie and does not change; these do, meanwhile.
 * Addresses are those of the process; integers are in its byte order. A reader refuses other versions.
 *
 *   kinds     a byte for each piece (two MiB) of the address space: what lies there, by placement
 *   segment   a piece of one placement; at its start, a byte for each of its granules, by which `granules` tells live
 *             blocks
 *   heap      of a thread; has the number of hinted requests for each placement */

#define HEARTH_MALLOC_STATUS_MAGIC   UINT64_C(0x6c616d4868747248)
#define HEARTH_MALLOC_STATUS_VERSION 7

enum {
  /* Placements; also kinds of pieces, beside nothing (0) and large blocks. Others are of no interest. */
  HEARTH_MALLOC_STATUS_MAIN = 1,
  HEARTH_MALLOC_STATUS_COLD,
  HEARTH_MALLOC_STATUS_FIRST, /* of a plan's 31 pools */
  HEARTH_MALLOC_STATUS_PLACEMENTS = HEARTH_MALLOC_STATUS_FIRST + 31,
  HEARTH_MALLOC_STATUS_LARGE = 64,
  HEARTH_MALLOC_STATUS_LARGE_COLD,
  HEARTH_MALLOC_STATUS_GRANULE_BYTES = 16,
  HEARTH_MALLOC_STATUS_PAGE_BYTES = 4096,
};

struct hearth_malloc_status {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes; /* of this struct */
  uint32_t cold_below, hot_from;
  uint64_t leaves; /* address of an array of leaf_count pointers, NULL or to leaf_bytes kinds */
  uint32_t leaf_count, leaf_bytes;
  uint32_t piece_bytes;
  uint32_t
      used_offset; /* in a segment: uint32_t, a bit for each 32nd of its granules, of which some may be of blocks */
  uint64_t heaps;  /* address of a pointer to the first heap */
  uint32_t heap_bytes, next_offset, hinted_offset, unused;
  uint64_t passed_on,
      fallbacks; /* addresses of uint64_t: hinted requests for no placement; for cold memory, of which there was none */
  uint64_t large[2]; /* addresses of two uint64_t: live large blocks, and their pages; ordinary ones, cold ones */
  uint16_t granules[UINT8_MAX + 1]; /* of the live block that begins where this byte is; 0: none does */
};

/* The figures of one part of the allocator's memory, in the order of the JSON that `hearth top --json` and
 * HEARTH_MALLOC=stats=FILE write: each a uint64_t, its name in C and in JSON. */
/* clang-format off */
#define HEARTH_MALLOC_FIELDS(FIELD)                                                 \
  FIELD(live_blocks)     /* now */                                                  \
  FIELD(live_bytes)      /* usable bytes of these blocks */                         \
  FIELD(committed_bytes) /* of the memory that they lie in */                       \
  FIELD(resident_bytes)  /* of it in memory, by /proc/PID/pagemap */                \
  FIELD(swap_bytes)      /* of it in swap space */                                  \
  FIELD(placed)          /* hinted requests that it served since the start */       \
  FIELD(fallbacks)       /* hinted requests that it had no memory for */
/* clang-format on */

/* ---------------------------------------- what a recording lacks ---------------------------------------- */

/* Programs and libraries whose objects do not come from malloc, or not each of them: a recording has their arenas at
 * most. Freestanding. */

/* The memory that a recording lacks if the program runs this file; NULL: none is known. The path need not end with
 * NUL. */
static inline const char *hearth_other_heap(const char *path, size_t size) {
  /* What the file is called in front of a version ("python3" is python3 and python3.11, not python3-config), and
   * what is not in the recording, with the remedy. */
  static const struct {
    const char *name, *text;
  } rows[] = {
      /* clang-format off */
      {"python3",    "Python's objects of up to 512 bytes, unless it runs with PYTHONMALLOC=malloc"},
      {"libpython3", "Python's objects of up to 512 bytes, unless it runs with PYTHONMALLOC=malloc"},
      {"libjvm.so",  "the objects of Java, which the VM's own heap has: 'jcmd PID GC.class_histogram' lists them"},
      {"node",       "the objects of JavaScript, which V8's own heap has: 'node --heap-prof' records them"},
      {"libnode.so", "the objects of JavaScript, which V8's own heap has: 'node --heap-prof' records them"},
      /* clang-format on */
  };
  size_t base = size;
  while (base > 0 && path[base - 1] != '/')
    base--;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t at = base, k = 0;
    while (at < size && rows[i].name[k] && path[at] == rows[i].name[k])
      at++, k++;
    if (!rows[i].name[k] && (at == size || path[at] == '.'))
      return rows[i].text;
  }
  return NULL;
}

#endif
