/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Chrome's JSON trace format: an array of events, of which memory dumps are those of phase "v" in the category
 * disabled-by-default-memory-infra. A dump has totals ("allocators") and what they are made of ("heaps_v2"): for
 * each allocator four arrays of one length, counts, sizes, and ids of nodes and types, which stand in "maps" with
 * ids of strings. Ids mean the same in all dumps of a process. Node 0 is that of no stack. Sources: Chromium's
 * documentation of memory-infra and of its heap profiler ("Heap Dump Format"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/heap_dumps.h"
#include "hearth/ids.h"
#include "hearth/json_writer.h"
#include "hearth/status.h"

#define CATEGORY "disabled-by-default-memory-infra"

typedef struct chrome {
  const hearth_heap_dumps *dumps;
  const hearth_heap_view_options *options;
  hearth_json json;
  const hearth_heap_entry *entries; /* of the dump at hand */
  size_t count;
  bool *used; /* by node, then by name: in `entries` */
} chrome;

/* Strings are numbered: those of nodes first, then names. */
static uint64_t string_of_name(const chrome *c, uint32_t name) { return c->dumps->node_count + name; }

/* -------------------------------------------------- totals -------------------------------------------------- */

static void write_scalar(hearth_json *json, const char *name, const char *units, uint64_t value) {
  char hex[20];
  snprintf(hex, sizeof hex, "%" PRIx64, value);
  hearth_json_print(json, "%s:{type:\"scalar\", units:%s, value:%s}", name, units, hex);
}

static hearth_heap_entry total_of_heap(const chrome *c, uint32_t heap) {
  hearth_heap_entry total = {0};
  for (size_t i = 0; i < c->count; i++)
    if (c->entries[i].heap == heap)
      hearth_heap_add(&total, &c->entries[i]);
  return total;
}

static void write_heap_total(chrome *c, const hearth_heap_dump *dump, uint32_t heap) {
  hearth_json *json = &c->json;
  hearth_heap_entry total = total_of_heap(c, heap);
  hearth_json_print(json, "\n%s:{attrs:{", c->dumps->names[heap]);
  write_scalar(json, "size", "bytes", total.bytes);
  write_scalar(json, "object_count", "objects", total.blocks);
  if (dump->has_residency) {
    write_scalar(json, "resident_size", "bytes", total.residency[HEARTH_RAW_RESIDENT]);
    write_scalar(json, "swapped_size", "bytes", total.residency[HEARTH_RAW_SWAPPED]);
  }
  hearth_json_print(json, "}}");
}

static bool chrome_is_heap(const chrome *c, uint32_t name) {
  for (size_t i = 0; i < c->count; i++)
    if (c->entries[i].heap == name)
      return true;
  return false;
}

static void write_totals(chrome *c, const hearth_heap_dump *dump) {
  hearth_json_print(&c->json, "allocators:{");
  for (uint32_t name = 0; name < c->dumps->name_count; name++)
    if (chrome_is_heap(c, name))
      write_heap_total(c, dump, name);
  hearth_json_print(&c->json, "\ntracing/heap_profiler:{attrs:{");
  write_scalar(&c->json, "size", "bytes", dump->profiler_bytes);
  hearth_json_print(&c->json, "}}}");
}

/* -------------------------------------------------- maps -------------------------------------------------- */

static void mark_used(chrome *c) {
  size_t nodes = c->dumps->node_count;
  memset(c->used, 0, (nodes + c->dumps->name_count) * sizeof *c->used);
  c->used[nodes + HEARTH_HEAP_UNKNOWN_TYPE] = true;
  for (size_t i = 0; i < c->count; i++) {
    c->used[nodes + c->entries[i].type] = true;
    for (uint32_t node = c->entries[i].node; node != HEARTH_NONE && !c->used[node]; node = c->dumps->nodes[node].parent)
      c->used[node] = true;
  }
}

static void write_string(hearth_json *json, uint64_t id, const char *string) {
  hearth_json_print(json, "\n{id:%lu, string:%s}", id, string);
}

static hearth_status chrome_write_strings(chrome *c, hearth_error *err) {
  const hearth_heap_dumps *dumps = c->dumps;
  hearth_json_print(&c->json, "strings:[");
  for (size_t i = 0; i < dumps->node_count; i++) {
    if (!c->used[i])
      continue;
    char *name = hearth_heap_node_name(&dumps->nodes[i], c->options);
    HEARTH_TRY(hearth_check_memory(name, err));
    write_string(&c->json, i, name);
    free(name);
  }
  for (uint32_t i = 0; i < dumps->name_count; i++)
    if (c->used[dumps->node_count + i])
      write_string(&c->json, string_of_name(c, i), dumps->names[i]);
  hearth_json_print(&c->json, "]");
  return HEARTH_OK;
}

static void write_nodes(chrome *c) {
  hearth_json_print(&c->json, "nodes:[{id:0, name_sid:%lu}", string_of_name(c, HEARTH_HEAP_UNKNOWN_TYPE));
  for (size_t i = 0; i < c->dumps->node_count; i++) {
    if (!c->used[i])
      continue;
    hearth_json_print(&c->json, "\n{id:%zu, name_sid:%zu", i + 1, i);
    if (c->dumps->nodes[i].parent != HEARTH_NONE)
      hearth_json_key_uint(&c->json, "parent", (uint64_t)c->dumps->nodes[i].parent + 1);
    hearth_json_print(&c->json, "}");
  }
  hearth_json_print(&c->json, "]");
}

static void chrome_write_types(chrome *c) {
  hearth_json_print(&c->json, "types:[");
  for (uint32_t i = 0; i < c->dumps->name_count; i++)
    if (c->used[c->dumps->node_count + i])
      hearth_json_print(&c->json, "{id:%u, name_sid:%lu}", i, string_of_name(c, i));
  hearth_json_print(&c->json, "]");
}

static hearth_status write_maps(chrome *c, hearth_error *err) {
  mark_used(c);
  hearth_json_print(&c->json, "maps:{");
  HEARTH_TRY(chrome_write_strings(c, err));
  write_nodes(c);
  chrome_write_types(c);
  hearth_json_print(&c->json, "}");
  return HEARTH_OK;
}

/* -------------------------------------------------- heaps -------------------------------------------------- */

/* An array of a number of each entry of a heap. */
#define WRITE_ARRAY(c, wanted, name, value)                                                                            \
  do {                                                                                                                 \
    hearth_json_key_array(&(c)->json, name);                                                                           \
    for (const hearth_heap_entry *entry = (c)->entries; entry < (c)->entries + (c)->count; entry++)                    \
      if (entry->heap == (wanted))                                                                                     \
        hearth_json_uint(&(c)->json, value);                                                                           \
    hearth_json_close(&(c)->json, ']');                                                                                \
  } while (0)

static void write_heap(chrome *c, uint32_t heap) {
  hearth_json_print(&c->json, "\n%s:{", c->dumps->names[heap]);
  WRITE_ARRAY(c, heap, "counts", entry->blocks);
  WRITE_ARRAY(c, heap, "sizes", entry->bytes);
  WRITE_ARRAY(c, heap, "nodes", entry->node == HEARTH_NONE ? 0 : (uint64_t)entry->node + 1);
  WRITE_ARRAY(c, heap, "types", entry->type);
  hearth_json_print(&c->json, "}");
}

static hearth_status write_heaps(chrome *c, hearth_error *err) {
  hearth_json_print(&c->json, "heaps_v2:{version:1");
  HEARTH_TRY(write_maps(c, err));
  hearth_json_print(&c->json, "allocators:{");
  for (uint32_t name = 0; name < c->dumps->name_count; name++)
    if (chrome_is_heap(c, name))
      write_heap(c, name);
  hearth_json_print(&c->json, "}}");
  return HEARTH_OK;
}

/* -------------------------------------------------- events -------------------------------------------------- */

static const char *event_name(enum hearth_raw_occasion occasion) {
  return occasion == HEARTH_RAW_PERIOD ? "periodic_interval"
         : occasion == HEARTH_RAW_PEAK ? "peak_memory_usage"
                                       : "explicitly_triggered";
}

static void chrome_begin_event(hearth_json *json, const char *phase, const char *category, const char *name,
                               const hearth_heap_dump *dump) {
  hearth_json_print(json, "\n{ph:%s, cat:%s, name:%s, pid:%lu, tid:%lu, ts:%lu", phase, category, name, dump->pid,
                    dump->pid, dump->time_ns / 1000);
}

static hearth_status write_dump(chrome *c, size_t number, hearth_error *err) {
  const hearth_heap_dump *dump = &c->dumps->dumps[number];
  char id[24];
  c->entries = dump->entries;
  c->count = dump->entry_count;
  chrome_begin_event(&c->json, "v", CATEGORY, event_name(dump->occasion), dump);
  snprintf(id, sizeof id, "0x%zx", number + 1);
  hearth_json_print(&c->json, "id:%s, args:{dumps:{level_of_detail:\"detailed\"", id);
  write_totals(c, dump);
  hearth_status status = write_heaps(c, err);
  hearth_json_print(&c->json, "}}}");
  return status;
}

static hearth_status chrome_write_events(chrome *c, hearth_error *err) {
  hearth_json_print(&c->json, "{traceEvents:[");
  for (size_t i = 0; i < c->dumps->dump_count; i++) {
    const hearth_heap_dump *dump = &c->dumps->dumps[i];
    if (i == 0 || !hearth_heap_same_process(&dump[-1], dump)) {
      chrome_begin_event(&c->json, "M", "__metadata", "process_name", dump);
      hearth_json_print(&c->json, "args:{name:%s}}", hearth_base_name(dump->name));
    }
    HEARTH_TRY(write_dump(c, i, err));
  }
  hearth_json_print(&c->json, "]}");
  fputc('\n', c->json.stream);
  return HEARTH_OK;
}

hearth_status hearth_heap_export_chrome(const hearth_heap_dumps *dumps, const hearth_heap_view_options *options,
                                        FILE *stream, hearth_error *err) {
  hearth_heap_view_options known;
  chrome c = {.dumps = dumps, .options = &known, .json = {.stream = stream}};
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  c.used = calloc(dumps->node_count + dumps->name_count + 1, sizeof *c.used);
  hearth_status status = c.used ? chrome_write_events(&c, err) : hearth_error_nomem(err);
  free(c.used);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
