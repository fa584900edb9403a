/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth top`: the contents of the memory of a running program's allocator, read while it runs. The allocator's status is
 * found in the process's mappings, and its tables are read with process_vm_readv: what lies in each piece of the address
 * space, and where blocks begin there. Pages are those of /proc/PID/pagemap; huge ones are known of mappings alone
 * (/proc/PID/smaps). */
#define _GNU_SOURCE /* process_vm_readv */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "array.h"
#include "command.h"
#include "file.h"
#include "hearth/json_writer.h"
#include "hearth/running_program.h"

typedef struct malloc_process {
  pid_t pid;
  struct hearth_malloc_status status;
} malloc_process;

/* Parts of the memory. */
enum { MALLOC_COLD, MALLOC_HOT, MALLOC_MAIN, MALLOC_PARTS };

typedef struct malloc_part {
#define MEMBER(name) uint64_t name;
  HEARTH_MALLOC_FIELDS(MEMBER)
  uint64_t huge_bytes; /* in memory, in huge pages */
} malloc_part;

/* A pool: of all threads. */
typedef struct malloc_pool {
  uint64_t live_blocks, live_bytes, placed;
} malloc_pool;

typedef struct malloc_sample {
  malloc_part part[MALLOC_PARTS];
  malloc_pool pool[HEARTH_MALLOC_STATUS_PLACEMENTS]; /* by placement; without large blocks */
  uint64_t passed_on;                                /* hinted requests for none of them, ever */
} malloc_sample;

/* The process may not mean well: nothing that it says is read for long. */
enum {
  MOST_HEAP_BYTES = 1 << 20,
  MOST_BYTES = 1 << 30,
  MOST_LEAVES = 1 << 13,
  MOST_LEAF_BYTES = 1 << 14,
  MOST_PIECES = 1 << 18, /* half a TiB of heap */
  PIECE_BYTES = 2 << 20,
  PIECE_GRANULES = PIECE_BYTES / HEARTH_MALLOC_STATUS_GRANULE_BYTES,
  PARTS = 32,
  PART_GRANULES = PIECE_GRANULES / PARTS,
  PIECE_PAGES = PIECE_BYTES / HEARTH_MALLOC_STATUS_PAGE_BYTES,
};

static bool peek_process(const malloc_process *process, uint64_t address, void *ret, size_t bytes) {
  struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};
  ssize_t got = process_vm_readv(process->pid, &here, 1, &there, 1, 0);
  if (got >= 0 && (size_t)got != bytes)
    errno = EFAULT;
  return got >= 0 && (size_t)got == bytes;
}

/* Finding the status. */

typedef struct mapping {
  uint64_t start, end;
  char access[5];
  bool is_anonymous;
} mapping;

static bool parse_mapping(const char *line, mapping *ret) {
  uint64_t inode;
  int end = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64 "%n", &ret->start, &ret->end, ret->access, &inode,
             &end) != 4)
    return false;
  ret->is_anonymous = inode == 0;
  return true;
}

/* Says whether the tables can be those of an allocator. */
static bool is_usable(const struct hearth_malloc_status *status) {
  return status->bytes == sizeof *status && status->leaf_count <= MOST_LEAVES &&
         status->leaf_bytes <= MOST_LEAF_BYTES && status->leaf_bytes > 0 && status->piece_bytes == PIECE_BYTES &&
         status->used_offset < PIECE_GRANULES / PARTS && status->heap_bytes <= MOST_HEAP_BYTES &&
         status->next_offset + sizeof(uint64_t) <= status->heap_bytes &&
         status->hinted_offset + HEARTH_MALLOC_STATUS_PLACEMENTS * sizeof(uint64_t) <= status->heap_bytes;
}

/* The mapping behind an inaccessible one, if a status is in it. Returns false if the process may not be read. */
static bool look_into(malloc_process *process, const mapping *map, bool *ret_found) {
  uint64_t magic;
  if (!peek_process(process, map->start, &magic, sizeof magic))
    return errno != EPERM;
  if (magic == HEARTH_MALLOC_STATUS_MAGIC)
    *ret_found = peek_process(process, map->start, &process->status, sizeof process->status);
  return true;
}

static bool find_status(malloc_process *process, FILE *maps, bool *ret_found) {
  char *line = NULL;
  size_t room = 0;
  mapping before = {0}, map;
  bool is_readable = true;
  *ret_found = false;
  while (is_readable && !*ret_found && getline(&line, &room, maps) >= 0) {
    if (!parse_mapping(line, &map))
      continue;
    if (before.end == map.start && !strncmp(before.access, "---p", 4) && !strncmp(map.access, "rw-p", 4) &&
        map.is_anonymous)
      is_readable = look_into(process, &map, ret_found);
    before = map;
  }
  free(line);
  return is_readable;
}

/* Find the allocator's status in the process. Returns an exit code, after an error that it printed. */
static int malloc_process_open(pid_t pid, malloc_process *ret) {
  bool found;
  FILE *maps = hearth_open_proc(pid, "maps");
  ret->pid = pid;
  if (!maps && errno == ENOENT)
    return hearth_tool_error("%d: no such process", (int)pid);
  bool is_readable = maps && find_status(ret, maps, &found);
  if (maps)
    fclose(maps);
  if (!is_readable)
    return hearth_tool_error("%d: may not be looked into: that takes the rights of a debugger (same user and "
                             "kernel.yama.ptrace_scope=0, or root)",
                             (int)pid);
  if (!found)
    return hearth_tool_error(
        "%d: does not use Hearth's allocator, or free is not its own (its standard error says why)", (int)pid);
  if (ret->status.version != HEARTH_MALLOC_STATUS_VERSION)
    return hearth_tool_error(
        "%d: its allocator has status version %u, this command reads %d: use the one that came with "
        "the program's Hearth",
        (int)pid, ret->status.version, HEARTH_MALLOC_STATUS_VERSION);
  if (!is_usable(&ret->status))
    return hearth_tool_error("%d: the status of its allocator is damaged", (int)pid);
  return HEARTH_EXIT_OK;
}

/* Reading the tables. Any failure means that the process ends, as all of them could be read once; errno is EILSEQ if
 * they cannot be real ones. */

static int part_of(unsigned kind) {
  if (kind == HEARTH_MALLOC_STATUS_COLD || kind == HEARTH_MALLOC_STATUS_LARGE_COLD)
    return MALLOC_COLD;
  return kind >= HEARTH_MALLOC_STATUS_FIRST && kind < HEARTH_MALLOC_STATUS_PLACEMENTS ? MALLOC_HOT : MALLOC_MAIN;
}

static void count_heap(const struct hearth_malloc_status *status, const char *heap, malloc_sample *ret) {
  uint64_t hinted[HEARTH_MALLOC_STATUS_PLACEMENTS];
  memcpy(hinted, heap + status->hinted_offset, sizeof hinted);
  ret->passed_on += hinted[0];
  for (unsigned i = HEARTH_MALLOC_STATUS_MAIN; i < HEARTH_MALLOC_STATUS_PLACEMENTS; i++) {
    ret->pool[i].placed += hinted[i];
    ret->part[part_of(i)].placed += hinted[i];
  }
}

/* A list that leads back into itself has no end (Brent's way to tell: one of its heaps is kept for comparison, again
 * and again after twice as many). */
static bool read_heaps(const malloc_process *process, malloc_sample *ret) {
  const struct hearth_malloc_status *status = &process->status;
  uint64_t heap, kept = 0, most = MOST_BYTES / status->heap_bytes;
  char *copy = malloc(status->heap_bytes);
  bool read = copy && peek_process(process, status->heaps, &heap, sizeof heap);
  for (uint64_t i = 1; read && heap; i++) {
    if (heap == kept || i > most) {
      errno = EILSEQ;
      read = false;
      break;
    }
    if ((i & (i - 1)) == 0)
      kept = heap;
    read = peek_process(process, heap, copy, status->heap_bytes);
    if (read) {
      count_heap(status, copy, ret);
      memcpy(&heap, copy + status->next_offset, sizeof heap);
    }
  }
  free(copy);
  return read;
}

static bool read_counters(const malloc_process *process, malloc_sample *ret) {
  const struct hearth_malloc_status *status = &process->status;
  uint64_t large[2][2], passed_on;
  if (!peek_process(process, status->large[0], large[0], sizeof large[0]) ||
      !peek_process(process, status->large[1], large[1], sizeof large[1]) ||
      !peek_process(process, status->passed_on, &passed_on, sizeof passed_on) ||
      !peek_process(process, status->fallbacks, &ret->part[MALLOC_COLD].fallbacks, sizeof passed_on))
    return false;
  ret->passed_on += passed_on;
  for (int is_cold = 0; is_cold < 2; is_cold++) {
    malloc_part *part = &ret->part[is_cold ? MALLOC_COLD : MALLOC_MAIN];
    part->live_blocks += large[is_cold][0];
    part->live_bytes += large[is_cold][1] * HEARTH_MALLOC_STATUS_PAGE_BYTES;
  }
  return true;
}

/* A piece of the address space, by address. */
typedef struct piece {
  uint64_t address;
  unsigned kind;
} piece;

typedef struct pieces {
  piece *items;
  size_t count, room;
} pieces;

static bool add_piece(pieces *all, uint64_t address, unsigned kind) {
  if (all->count == MOST_PIECES) {
    errno = EILSEQ;
    return false;
  }
  if (!hearth_array_grow(&all->items, &all->room, all->count, sizeof *all->items))
    return false;
  all->items[all->count++] = (piece){address, kind};
  return true;
}

/* It may have been given back meanwhile: then nothing is counted. Where no block is, the map is not read: that would
 * make pages. */
static void count_blocks(const malloc_process *process, const piece *segment, malloc_sample *ret) {
  const struct hearth_malloc_status *status = &process->status;
  malloc_part *part = &ret->part[part_of(segment->kind)];
  malloc_pool *pool = &ret->pool[segment->kind];
  uint64_t blocks = 0, granules = 0;
  uint32_t used;
  if (!peek_process(process, segment->address + status->used_offset, &used, sizeof used))
    return;
  for (unsigned i = 0; i < PARTS; i++) {
    uint8_t map[PART_GRANULES];
    if (!(used >> i & 1) || !peek_process(process, segment->address + i * PART_GRANULES, map, sizeof map))
      continue;
    for (size_t k = 0; k < PART_GRANULES; k++)
      if (status->granules[map[k]]) {
        blocks++;
        granules += status->granules[map[k]];
      }
  }
  pool->live_blocks += blocks;
  pool->live_bytes += granules * HEARTH_MALLOC_STATUS_GRANULE_BYTES;
  part->live_blocks += blocks;
  part->live_bytes += granules * HEARTH_MALLOC_STATUS_GRANULE_BYTES;
}

static void read_blocks(const malloc_process *process, const pieces *all, malloc_sample *ret) {
  for (size_t i = 0; i < all->count; i++)
    if (all->items[i].kind < HEARTH_MALLOC_STATUS_PLACEMENTS)
      count_blocks(process, &all->items[i], ret);
}

static bool read_leaf(const malloc_process *process, uint64_t leaf, uint64_t first_piece, pieces *ret_pieces) {
  const struct hearth_malloc_status *status = &process->status;
  uint8_t kinds[MOST_LEAF_BYTES];
  if (!peek_process(process, leaf, kinds, status->leaf_bytes))
    return false;
  for (size_t i = 0; i < status->leaf_bytes; i++) {
    uint64_t address = (first_piece + i) * PIECE_BYTES;
    bool is_large = kinds[i] == HEARTH_MALLOC_STATUS_LARGE || kinds[i] == HEARTH_MALLOC_STATUS_LARGE_COLD;
    if (kinds[i] == 0 || (kinds[i] >= HEARTH_MALLOC_STATUS_PLACEMENTS && !is_large))
      continue;
    if (!add_piece(ret_pieces, address, kinds[i]))
      return false;
  }
  return true;
}

static bool read_pieces(const malloc_process *process, pieces *ret_pieces) {
  const struct hearth_malloc_status *status = &process->status;
  uint64_t leaves[MOST_LEAVES];
  bool read = peek_process(process, status->leaves, leaves, status->leaf_count * sizeof *leaves);
  for (size_t i = 0; read && i < status->leaf_count; i++)
    read = !leaves[i] || read_leaf(process, leaves[i], i * status->leaf_bytes, ret_pieces);
  return read;
}

/* Bit 63: in memory; bit 62: swapped (Documentation/admin-guide/mm/pagemap.rst). A page of a file that is neither
 * has no bit. */
static bool read_pages(const malloc_process *process, const pieces *all, malloc_sample *ret) {
  uint64_t page[PIECE_PAGES];
  FILE *pagemap = hearth_open_proc(process->pid, "pagemap");
  if (!pagemap)
    return false;
  for (size_t i = 0; i < all->count; i++) {
    malloc_part *part = &ret->part[part_of(all->items[i].kind)];
    off_t offset = (off_t)(all->items[i].address / HEARTH_MALLOC_STATUS_PAGE_BYTES * sizeof *page);
    part->committed_bytes += PIECE_BYTES;
    ssize_t got = pread(fileno(pagemap), page, sizeof page, offset);
    for (size_t k = 0; got > 0 && k < (size_t)got / sizeof *page; k++) {
      part->resident_bytes += page[k] >> 63 ? HEARTH_MALLOC_STATUS_PAGE_BYTES : 0;
      part->swap_bytes += page[k] >> 62 == 1 ? HEARTH_MALLOC_STATUS_PAGE_BYTES : 0;
    }
  }
  fclose(pagemap);
  return true;
}

/* Figures of a mapping are divided among the parts by the pieces that lie there. */
typedef struct shares {
  uint64_t pieces[MALLOC_PARTS], all;
} shares;

static shares shares_of(const pieces *all, const mapping *map) {
  shares ret = {0};
  size_t low = 0, high = all->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (all->items[middle].address + PIECE_BYTES <= map->start)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < all->count && all->items[low].address < map->end; low++) {
    ret.pieces[part_of(all->items[low].kind)]++;
    ret.all++;
  }
  return ret;
}

static bool malloc_process_read_mappings(const malloc_process *process, const pieces *all, malloc_sample *ret) {
  FILE *smaps = hearth_open_proc(process->pid, "smaps");
  if (!smaps)
    return false;
  char *line = NULL;
  size_t room = 0;
  shares shares = {0};
  mapping map;
  uint64_t kib;
  while (getline(&line, &room, smaps) >= 0) {
    if (parse_mapping(line, &map))
      shares = shares_of(all, &map);
    if (!shares.all || sscanf(line, "AnonHugePages: %" SCNu64, &kib) != 1)
      continue;
    for (int part = 0; part < MALLOC_PARTS; part++)
      ret->part[part].huge_bytes += (kib << 10) / shares.all * shares.pieces[part];
  }
  free(line);
  fclose(smaps);
  return true;
}

/* The numbers now. Returns an exit code, after an error that it printed. */
static int malloc_process_sample(const malloc_process *process, malloc_sample *ret) {
  pieces all = {0};
  *ret = (malloc_sample){0};
  /* Reading touches pages: what the system knows of them comes first. */
  bool read = read_pieces(process, &all) && malloc_process_read_mappings(process, &all, ret) &&
              read_pages(process, &all, ret) && read_counters(process, ret) && read_heaps(process, ret);
  int error = errno;
  if (read)
    read_blocks(process, &all, ret);
  free(all.items);
  errno = error;
  if (read)
    return HEARTH_EXIT_OK;
  if (errno == EILSEQ)
    return hearth_tool_error("%d: the tables of its allocator are damaged", (int)process->pid);
  if (errno == ESRCH || errno == ENOENT)
    return hearth_tool_error("%d: has ended", (int)process->pid);
  return hearth_tool_error("%d: cannot be read: %s", (int)process->pid, strerror(errno));
}

/* -------------------------------------------------- output -------------------------------------------------- */

static const hearth_help help = {
    .usage = "top [--json] PID",
    .about = "Print what a running program's allocator holds: cold memory, the plan's pools, and the rest. The "
             "program is not stopped. 'watch -n1 hearth top PID' goes on.",
    .end = "\n"
           "  live       blocks now, and their usable bytes; approximate while threads allocate\n"
           "  committed  memory that blocks lie in; resident: in memory; huge: in memory in huge pages\n"
           "  placed     hinted requests that it served; elsewhere: that it could not serve\n"
           "  pool       a pool of the plan, its large blocks left out\n"
           "  hints passed on: requests with a neutral hint, or for what is switched off"};

static const char *const names[MALLOC_PARTS] = {"cold", "hot", "main"};

static bool is_on(const malloc_process *process, int part) {
  return part != MALLOC_COLD || process->status.cold_below > 0;
}

enum { POOLS = HEARTH_MALLOC_STATUS_PLACEMENTS - HEARTH_MALLOC_STATUS_FIRST };

static void print_json(const malloc_process *process, const malloc_sample *sample) {
  hearth_json json = {.stream = stdout};
  hearth_json_print(&json, "{pid:%u, cold_below:%u, hot_from:%u", (unsigned)process->pid, process->status.cold_below,
                    process->status.hot_from);
  for (int i = 0; i < MALLOC_PARTS; i++) {
    const malloc_part *part = &sample->part[i];
    hearth_json_print(&json, "%s:{on:%d", names[i], is_on(process, i));
#define JSON_FIELD(name) hearth_json_key_uint(&json, #name, part->name);
    HEARTH_MALLOC_FIELDS(JSON_FIELD)
    hearth_json_print(&json, "huge_bytes:%lu}", part->huge_bytes);
  }
  hearth_json_print(&json, "pools:[");
  for (unsigned i = 0; i < POOLS; i++) {
    const malloc_pool *pool = &sample->pool[HEARTH_MALLOC_STATUS_FIRST + i];
    if (pool->placed)
      hearth_json_print(&json, "{pool:%u, live_blocks:%lu, live_bytes:%lu, placed:%lu}", i, pool->live_blocks,
                        pool->live_bytes, pool->placed);
  }
  hearth_json_print(&json, "], passed_on:%lu}", sample->passed_on);
  putchar('\n');
}

static void top_command_print_size(uint64_t bytes) { printf("%12.1f", (double)bytes / (1 << 10)); }

/* Those that were ever used. */
static void print_pools(const malloc_sample *sample) {
  for (int i = 0; i < POOLS; i++) {
    const malloc_pool *pool = &sample->pool[HEARTH_MALLOC_STATUS_FIRST + i];
    if (!pool->placed)
      continue;
    printf("  pool %-4d%12" PRIu64, i, pool->live_blocks);
    top_command_print_size(pool->live_bytes);
    printf("%48s%14" PRIu64 "\n", "", pool->placed);
  }
}

static void print_text(const malloc_process *process, const malloc_sample *sample) {
  printf("process %d: cold below %u, hot from %u; %" PRIu64 " hints passed on\n", (int)process->pid,
         process->status.cold_below, process->status.hot_from, sample->passed_on);
  printf("%-11s%12s%12s%12s%12s%12s%12s%14s%11s\n", "KiB", "live blocks", "live", "committed", "resident", "huge",
         "swap", "placed", "elsewhere");
  for (int i = 0; i < MALLOC_PARTS; i++) {
    const malloc_part *part = &sample->part[i];
    if (!is_on(process, i)) {
      printf("%-11s%12s\n", names[i], "off");
      continue;
    }
    printf("%-11s%12" PRIu64, names[i], part->live_blocks);
    top_command_print_size(part->live_bytes);
    top_command_print_size(part->committed_bytes);
    top_command_print_size(part->resident_bytes);
    top_command_print_size(part->huge_bytes);
    top_command_print_size(part->swap_bytes);
    printf("%14" PRIu64 "%11" PRIu64 "\n", part->placed, part->fallbacks);
  }
  print_pools(sample);
}

int hearth_cmd_top(int argc, char **argv) {
  bool json = false;
  uint64_t pid;
  int operands, code;
  malloc_process process;
  malloc_sample sample;
  const hearth_option options[] = {{.name = "PID", .help = "a process with Hearth's allocator"},
                                   HEARTH_FLAG("--json", 0, &json, "print a JSON object on one line, sizes in bytes"),
                                   {0}};
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands != 1)
    return hearth_tool_usage_error("top", operands ? "give one process" : "no process was given");
  if (!hearth_tool_parse_number(argv[1], 1, INT32_MAX, &pid))
    return hearth_tool_usage_error("top", "'%s' is not a process id", argv[1]);
  if ((code = malloc_process_open((pid_t)pid, &process)) != HEARTH_EXIT_OK ||
      (code = malloc_process_sample(&process, &sample)) != HEARTH_EXIT_OK)
    return code;
  (json ? print_json : print_text)(&process, &sample);
  return hearth_tool_finish();
}
