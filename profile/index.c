/* Inputs of all kinds into one builder. A raw profile costs one look-up per address of its call stacks, whatever the
 * number of contexts that share them, and one walk up the stack per context. */
#include "hearth/indexer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hearth/builder.h"
#include "lost_contexts.h"
#include "raw_internal.h"
#include "symbolise/modules.h"

#define PROGRESS_STEP 65536u

struct hearth_indexer {
  hearth_indexer_options options;
  hearth_builder *builder;
  hearth_modules *modules;
  hearth_builder_frame *frames; /* of the context at hand */
  size_t frame_capacity;
  hearth_error nothing;           /* why no context came out of the dumps so far */
  uint64_t contexts, with_column; /* of raw profiles */
  struct input_file {
    dev_t device;
    ino_t number;
  } * inputs; /* regular files that were added */
  size_t input_count;
};

hearth_indexer *hearth_indexer_create(const hearth_indexer_options *options) {
  hearth_indexer *ix = calloc(1, sizeof *ix);
  if (!ix)
    return NULL;
  if (options)
    ix->options = *options;
  ix->builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  ix->modules = ix->builder ? hearth_modules_create(ix->builder, &ix->options) : NULL;
  if (!ix->modules) {
    hearth_indexer_destroy(ix);
    return NULL;
  }
  return ix;
}

void hearth_indexer_destroy(hearth_indexer *ix) {
  if (!ix)
    return;
  hearth_modules_destroy(ix->modules);
  hearth_builder_destroy(ix->builder);
  free(ix->frames);
  free(ix->inputs);
  free(ix);
}

hearth_status hearth_indexer_add_debug_directory(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_modules_add_directory(ix->modules, path, err);
}

hearth_status hearth_indexer_add_binary(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_modules_give(ix->modules, path, err);
}

/* --- Contexts of one dump ----------------------------------------------------------------------------------------- */

/* A dump with what its addresses mean. */
typedef struct symbolised {
  const char *name;
  const hearth_raw_dump *dump;
  hearth_placed_map *placed; /* sorted by address */
  size_t placed_count;
  /* For each node: */
  hearth_frame_span *spans;
  hearth_frame_cache **caches; /* that the span is of; NULL: no frames */
  hearth_lost_contexts lost;
} symbolised;

static const hearth_placed_map *map_of(const symbolised *s, uint64_t pc) {
  size_t low = 0, high = s->placed_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const hearth_raw_map *map = s->placed[middle].map;
    if (pc < map->start)
      high = middle;
    else if (pc >= map->end)
      low = middle + 1;
    else
      return &s->placed[middle];
  }
  return NULL;
}

static bool elf_address(const symbolised *s, const hearth_placed_map *placed, uint64_t pc, uint64_t *ret) {
  if (s->dump->kind == HEARTH_RAW_FILE_OFFSET)
    return hearth_binary_address(placed->binary, pc - placed->map->start + placed->map->base, ret);
  *ret = pc - placed->map->base;
  return true;
}

static hearth_status symbolise_node(symbolised *s, size_t node, hearth_error *err) {
  uint64_t address;
  uint64_t pc = s->dump->nodes[node].pc;
  const hearth_placed_map *placed = map_of(s, pc);
  if (!placed || !elf_address(s, placed, pc, &address))
    return HEARTH_OK;
  hearth_status status = hearth_frame_cache_get(placed->cache, address, &s->spans[node], err);
  if (status == HEARTH_OK && s->spans[node].count > 0)
    s->caches[node] = placed->cache;
  return status;
}

static int compare_addresses(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Number of different addresses without frames. */
static hearth_status count_dropped(const symbolised *s, uint64_t *ret, hearth_error *err) {
  size_t count = 0;
  uint64_t distinct = 0;
  uint64_t *pcs = calloc(s->dump->node_count + 1, sizeof *pcs);
  if (!pcs)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", s->name);
  for (size_t i = 0; i < s->dump->node_count; ++i)
    if (!s->caches[i])
      pcs[count++] = s->dump->nodes[i].pc;
  qsort(pcs, count, sizeof *pcs, compare_addresses);
  for (size_t i = 0; i < count; ++i)
    distinct += i == 0 || pcs[i] != pcs[i - 1];
  free(pcs);
  *ret = distinct;
  return HEARTH_OK;
}

static bool reserve_frames(hearth_indexer *ix, size_t count) {
  if (count <= ix->frame_capacity)
    return true;
  hearth_builder_frame *frames = realloc(ix->frames, 2 * count * sizeof *frames);
  if (!frames)
    return false;
  ix->frames = frames;
  ix->frame_capacity = 2 * count;
  return true;
}

/* Account for a context without frames by the file of its innermost address, the runtime's own left out. */
static void lose_context(symbolised *s, const hearth_raw_record *record) {
  uint32_t node = record->stack;
  while (node != HEARTH_RAW_NO_PARENT && s->caches[node])
    node = s->dump->nodes[node].parent;
  const char *path = NULL;
  bool given = false;
  if (node != HEARTH_RAW_NO_PARENT) {
    uint64_t pc = s->dump->nodes[node].pc;
    const hearth_placed_map *placed = map_of(s, pc);
    for (size_t i = 0; i < s->dump->map_count; ++i)
      if (pc >= s->dump->maps[i].start && pc < s->dump->maps[i].end)
        path = s->dump->maps[i].path;
    given = placed != NULL;
    path = given ? hearth_binary_path(placed->binary) : path;
  }
  hearth_lost_add(&s->lost, path, given, record->mib.TotalSize);
}

/* Collect the frames of a stack, leaf first, without the entry functions of the runtime at the leaf. */
static hearth_status add_context(hearth_indexer *ix, symbolised *s, const hearth_raw_record *record,
                                 hearth_error *err) {
  size_t count = 0;
  for (uint32_t node = record->stack; node != HEARTH_RAW_NO_PARENT; node = s->dump->nodes[node].parent) {
    hearth_frame_span span = s->spans[node];
    if (!s->caches[node] || (count == 0 && span.of_runtime))
      continue;
    if (!reserve_frames(ix, count + span.count))
      return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", s->name);
    memcpy(ix->frames + count, hearth_frame_cache_frames(s->caches[node], span), span.count * sizeof *ix->frames);
    count += span.count;
  }
  if (count == 0) {
    lose_context(s, record);
    return HEARTH_OK;
  }
  ix->contexts++;
  ix->with_column += ix->frames[0].column != 0;
  return hearth_builder_add(ix->builder, ix->frames, count, &record->mib, err);
}

static hearth_status add_symbolised(hearth_indexer *ix, symbolised *s, hearth_error *err) {
  const hearth_raw_dump *dump = s->dump;
  hearth_status status = HEARTH_OK;
  uint64_t total_bytes = 0;
  hearth_profile_summary run = {.runs = 1,
                                .duration_ns = dump->duration_ns,
                                .dropped_blocks = dump->dropped_blocks,
                                .accesses_counted = dump->accesses_counted};

  for (size_t i = 0; status == HEARTH_OK && i < dump->node_count; ++i) {
    if (i % PROGRESS_STEP == 0 && ix->options.progress)
      ix->options.progress(ix->options.context, s->name, i, dump->node_count);
    status = symbolise_node(s, i, err);
  }
  for (size_t i = 0; status == HEARTH_OK && i < dump->record_count; ++i)
    if (dump->records[i].mib.AllocCount > 0) {
      status = add_context(ix, s, &dump->records[i], err);
      total_bytes = hearth_merge_SUM(total_bytes, dump->records[i].mib.TotalSize);
    }
  if (status == HEARTH_OK)
    status = count_dropped(s, &run.dropped_frames, err);
  if (status != HEARTH_OK)
    return status;
  hearth_lost_report(&s->lost, s->name, total_bytes, &ix->options);
  if (hearth_builder_context_count(ix->builder) == 0) /* said when there is nothing to write */
    hearth_lost_everything(&s->lost, &ix->nothing);
  return hearth_builder_add_run(ix->builder, &run, err);
}

static hearth_status add_dump(hearth_indexer *ix, const char *name, const hearth_raw_dump *dump, hearth_error *err) {
  symbolised s = {.name = name, .dump = dump};
  hearth_status status = hearth_modules_place(ix->modules, name, dump, &s.placed, &s.placed_count, err);
  if (status != HEARTH_OK)
    return status;
  s.spans = calloc(dump->node_count + 1, sizeof *s.spans);
  s.caches = calloc(dump->node_count + 1, sizeof(hearth_frame_cache *));
  if (s.spans && s.caches)
    status = add_symbolised(ix, &s, err);
  else
    status = hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", name);
  free(s.placed);
  free(s.spans);
  free(s.caches);
  return status;
}

/* --- Inputs ------------------------------------------------------------------------------------------------------- */

static hearth_status add_raw(hearth_indexer *ix, const char *name, const void *data, size_t size, hearth_error *err) {
  size_t offset = 0;
  while (offset < size) {
    hearth_raw_dump dump;
    hearth_status status = hearth_raw_read(name, data, size, &offset, &dump, err);
    if (status != HEARTH_OK)
      return status;
    status = add_dump(ix, name, &dump, err);
    hearth_raw_free(&dump);
    if (status != HEARTH_OK)
      return status;
  }
  return HEARTH_OK;
}

static hearth_status add_indexed(hearth_indexer *ix, const char *name, const void *data, size_t size,
                                 hearth_error *err) {
  hearth_profile *profile;
  hearth_status status = hearth_profile_open_memory(data, size, name, &profile, err);
  if (status != HEARTH_OK)
    return status;
  status = hearth_profile_verify(profile, err);
  if (status == HEARTH_OK)
    status = hearth_builder_add_profile(ix->builder, profile, err);
  hearth_profile_close(profile);
  return status;
}

/* Files that are easily taken for a profile of ours, and what to say about them. */
static hearth_status refuse_foreign(const char *name, const void *data, size_t size, hearth_error *err) {
  static const struct {
    uint8_t magic[8];
    const char *what;
  } known[] = {
      {{0xff, 'l', 'p', 'r', 'o', 'f', 'i', 0x81},
       "an indexed profile of LLVM: give the raw profiles it was made from"},
      {{0x81, 'r', 'f', 'o', 'r', 'p', 'l', 0xff}, "a raw profile of -fprofile-generate, not of the heap"},
      {{0x7f, 'E', 'L', 'F', 2, 1, 1, 0}, "an ELF file: binaries are given with --binary"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (size >= sizeof known[i].magic && memcmp(data, known[i].magic, sizeof known[i].magic) == 0)
      return hearth_error_set(err, HEARTH_E_FORMAT, "%s: %s", name, known[i].what);
  if (size == 0)
    return hearth_error_set(err, HEARTH_E_TRUNCATED,
                            "%s: the file is empty (did the profiled program end before it could write?)", name);
  return hearth_error_set(err, HEARTH_E_FORMAT,
                          "%s: not a heap profile (give the raw profile that the profiled program wrote, an indexed "
                          "profile or its text form)",
                          name);
}

/* Read a whole file, whatever its kind: a pipe has no size. The caller frees *ret_data, which ends with a NUL that is
 * not counted. */
static hearth_status read_file(const char *path, char **ret_data, size_t *ret_size, hearth_error *err) {
  size_t size = 0, capacity = 0;
  char *data = NULL;
  struct stat info;
  hearth_status status = HEARTH_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return hearth_error_set(err, HEARTH_E_IO, "%s: cannot be opened: %s", path, strerror(errno));
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    capacity = (size_t)info.st_size;
  for (;;) {
    if (!data || size == capacity) {
      capacity = data ? capacity * 2 + 4096 : capacity + 1;
      char *moved = realloc(data, capacity + 1);
      if (!moved) {
        status = hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
        break;
      }
      data = moved;
    }
    ssize_t got = read(fd, data + size, capacity - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      status = hearth_error_set(err, HEARTH_E_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (got <= 0)
      break;
    size += (size_t)got;
  }
  close(fd);
  if (status != HEARTH_OK) {
    free(data);
    return status;
  }
  data[size] = '\0';
  *ret_data = data;
  *ret_size = size;
  return HEARTH_OK;
}

static bool is_indexed(const void *data, size_t size) {
  uint64_t magic = 0;
  if (size >= sizeof magic)
    memcpy(&magic, data, sizeof magic);
  return magic == HEARTH_INDEXED_MAGIC;
}

/* A pattern and a name may well lead to one file; its run is counted once. */
static bool is_known_input(hearth_indexer *ix, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  for (size_t i = 0; i < ix->input_count; ++i)
    if (ix->inputs[i].device == info.st_dev && ix->inputs[i].number == info.st_ino) {
      char text[640];
      snprintf(text, sizeof text, "%.500s: given twice, counted once", path);
      if (ix->options.note)
        ix->options.note(ix->options.context, HEARTH_NOTE_WARNING, text);
      return true;
    }
  struct input_file *inputs = realloc(ix->inputs, (ix->input_count + 1) * sizeof *inputs);
  if (inputs) {
    ix->inputs = inputs;
    inputs[ix->input_count++] = (struct input_file){info.st_dev, info.st_ino};
  }
  return false;
}

hearth_status hearth_indexer_add_input(hearth_indexer *ix, const char *path, hearth_error *err) {
  char *data = NULL;
  size_t size = 0;
  if (is_known_input(ix, path))
    return HEARTH_OK;
  hearth_status status = read_file(path, &data, &size, err);
  if (status != HEARTH_OK)
    return status;
  if (hearth_raw_is_raw(data, size))
    status = add_raw(ix, path, data, size, err);
  else if (is_indexed(data, size))
    status = add_indexed(ix, path, data, size, err);
  else if (hearth_is_text_profile(data, size))
    status = hearth_builder_read_text(ix->builder, data, size, path, err);
  else
    status = refuse_foreign(path, data, size, err);
  free(data);
  return status;
}

hearth_status hearth_indexer_write(hearth_indexer *ix, const char *path, hearth_error *err) {
  hearth_modules_report_unused(ix->modules);
  if (hearth_builder_context_count(ix->builder) == 0)
    return hearth_error_set(err, ix->nothing.status ? ix->nothing.status : HEARTH_E_EMPTY, "%s: not written: %s", path,
                            ix->nothing.status ? ix->nothing.message : "the inputs have no allocations");
  if (ix->contexts > 0 && ix->with_column == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: not written: no allocation has a column, by which calls are matched (compile without "
                            "-gno-column-info)",
                            path);
  return hearth_builder_write(ix->builder, path, err);
}
