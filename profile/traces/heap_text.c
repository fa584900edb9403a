/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap dumps as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "amount.h"
#include "file.h"
#include "heap_nodes.h"
#include "hearth/ids.h"
#include "names.h"
#include "option_size.h"
#include "path_name.h"
#include "print.h"

char *hearth_heap_node_name(const hearth_heap_node *node, const hearth_heap_view_options *options) {
  hearth_name_style style = options->full_names ? HEARTH_NAMES_FULL : HEARTH_NAMES_SHORT;
  bool verbatim = options->linkage_names || hearth_is_name_file(node->path);
  return hearth_name_make(node->function, verbatim ? HEARTH_NAMES_LINKED : style);
}

/* -------------------------------------------------- dumps -------------------------------------------------- */

static void print_size(const char *text, uint64_t bytes, FILE *stream) {
  fprintf(stream, "%s%s", text, hearth_amount_bytes(bytes).c);
}

static void print_residency(const hearth_heap_entry *entry, FILE *stream) {
  print_size(", in memory ", entry->residency[HEARTH_RAW_RESIDENT], stream);
  print_size(", swapped out ", entry->residency[HEARTH_RAW_SWAPPED], stream);
  if (entry->residency[HEARTH_RAW_UNWRITTEN])
    print_size(", not written to since the dump before ", entry->residency[HEARTH_RAW_UNWRITTEN], stream);
}

static void print_dump(const hearth_heap_dump *dump, size_t number, FILE *stream) {
  hearth_heap_entry total = hearth_heap_total(dump);
  fprintf(stream, "%3zu  %-8s %10s  %12s in %10" PRIu64 " blocks", number + 1,
          hearth_heap_occasion_name(dump->occasion), hearth_amount_time((double)dump->time_ns).c,
          hearth_amount_bytes(total.bytes).c, total.blocks);
  if (dump->has_residency)
    print_residency(&total, stream);
  print_size(", profiler ", dump->profiler_bytes, stream);
  fputs("  ", stream);
  hearth_print_name(dump->name, 0, stream);
  fputc('\n', stream);
}

static bool has_several_processes(const hearth_heap_dumps *dumps) {
  return !hearth_heap_same_process(&dumps->dumps[0], &dumps->dumps[dumps->dump_count - 1]);
}

static void print_process(const hearth_heap_dump *dump, FILE *stream) {
  time_t start = (time_t)(dump->start_unix_ns / 1000000000);
  struct tm parts;
  char text[64] = "at an unknown time";
  if (gmtime_r(&start, &parts))
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  fprintf(stream, "Process %" PRIu64 ", started %s:\n", dump->pid, text);
}

static void print_dumps(const hearth_heap_dumps *dumps, FILE *stream) {
  for (size_t i = 0; i < dumps->dump_count; i++) {
    const hearth_heap_dump *dump = &dumps->dumps[i];
    if (has_several_processes(dumps) && (i == 0 || !hearth_heap_same_process(&dump[-1], dump)))
      print_process(dump, stream);
    print_dump(dump, i, stream);
  }
}

/* -------------------------------------------------- entries -------------------------------------------------- */

/* Most bytes first; among equals in the order of nodes, which depends on nothing else. */
static int compare_bytes(const void *a, const void *b) {
  const hearth_heap_entry *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return (x->node > y->node) - (x->node < y->node);
}

static hearth_status print_frame(const hearth_heap_node *node, const hearth_heap_view_options *options, FILE *stream,
                                 hearth_error *err) {
  char *name = hearth_heap_node_name(node, options);
  if (!name)
    return hearth_error_nomem(err);
  fputs("      ", stream);
  hearth_print_name(name, 28, stream);
  free(name);
  fputs("  ", stream);
  hearth_print_name(hearth_base_name(node->path), 0, stream);
  if (node->line)
    fprintf(stream, ":%u:%u", node->line, node->column);
  fputs(node->inlined ? " (inlined)\n" : "\n", stream);
  return HEARTH_OK;
}

static hearth_status print_entry(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                 const hearth_heap_entry *entry, const hearth_heap_view_options *options, FILE *stream,
                                 hearth_error *err) {
  fprintf(stream, "\n   %s (%" PRIu64 " bytes) in %" PRIu64 " block%s", hearth_amount_bytes(entry->bytes).c,
          entry->bytes, entry->blocks, hearth_plural(entry->blocks));
  if (dump->has_residency)
    print_residency(entry, stream);
  if (entry->type != HEARTH_HEAP_UNKNOWN_TYPE) {
    fputs(" of type ", stream);
    hearth_print_name(dumps->names[entry->type], 0, stream);
  }
  if (entry->heap != HEARTH_HEAP_MALLOC) {
    fputs(" from ", stream);
    hearth_print_name(dumps->names[entry->heap], 0, stream);
  }
  fputc('\n', stream);
  if (entry->node == HEARTH_NONE)
    fputs("      in code that is not known\n", stream);
  for (uint32_t node = entry->node; node != HEARTH_NONE; node = dumps->nodes[node].parent)
    HEARTH_TRY(print_frame(&dumps->nodes[node], options, stream, err));
  return HEARTH_OK;
}

static hearth_status print_entries(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                   const hearth_heap_view_options *options, FILE *stream, hearth_error *err) {
  hearth_heap_entry *entries;
  size_t count;
  hearth_status status = HEARTH_OK;
  HEARTH_TRY(hearth_heap_merge_small(dumps, dump, options->floor, &entries, &count, err));
  qsort(entries, count, sizeof *entries, compare_bytes);
  size_t most = options->most && options->most < count ? options->most : count;
  for (size_t i = 0; status == HEARTH_OK && i < most; i++)
    status = print_entry(dumps, dump, &entries[i], options, stream, err);
  if (most < count)
    fprintf(stream, "\n   ... and %zu more\n", count - most);
  free(entries);
  return status;
}

hearth_status hearth_heap_print(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                const hearth_heap_view_options *options, FILE *stream, hearth_error *err) {
  hearth_heap_view_options known;
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  if (dumps->dump_count > 0)
    print_dumps(dumps, stream);
  if (!dump)
    return hearth_stream_flush(stream, err);
  fputs("\nLive in ", stream);
  hearth_print_name(dump->name, 0, stream);
  if (has_several_processes(dumps))
    fprintf(stream, " of process %" PRIu64, dump->pid);
  if (dump->sample_bytes)
    fprintf(stream, ", estimated from one block for %" PRIu64 " bytes", dump->sample_bytes);
  if (dump->dropped_blocks)
    fprintf(stream, ", %" PRIu64 " allocations without a record", dump->dropped_blocks);
  fputs(":\n", stream);
  if (!known.only_title)
    HEARTH_TRY(print_entries(dumps, dump, &known, stream, err));
  return hearth_stream_flush(stream, err);
}
