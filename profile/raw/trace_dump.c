/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace as a raw profile: its operations are performed on a table of live blocks. Each block that ends, or is live
 * at the end of the trace, is added to the record of the stack that allocated it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/trace.h"
#include "raw_dump.h"

typedef struct summing {
  hearth_raw_dump *dump;
  hearth_mib *mibs; /* by node; behind the last one, that of blocks without stack */
  hearth_live_blocks live;
} summing;

static hearth_mib mib_of(const hearth_live_block *block, uint64_t end_ns) {
  uint64_t lifetime = end_ns > block->begin_ns ? end_ns - block->begin_ns : 0;
  return (hearth_mib){{.AllocCount = 1,
                       .MinSize = block->size,
                       .MaxSize = block->size,
                       .MinLifetime = lifetime,
                       .MaxLifetime = lifetime,
                       .TotalSize = block->size,
                       .TotalLifetime = lifetime,
                       .AllocTimestamp = block->begin_ns,
                       .DeallocTimestamp = end_ns}};
}

static void trace_dump_end_block(summing *s, const hearth_live_block *block, uint64_t end_ns, bool live) {
  size_t row = block->stack == HEARTH_TRACE_NO_STACK ? s->dump->node_count : block->stack;
  hearth_mib *into = &s->mibs[row], one = mib_of(block, end_ns);
  if (live)
    hearth_mib_set_live(&one);
  one.NumLifetimeOverlaps = into->AllocCount > 0 && one.AllocTimestamp < into->DeallocTimestamp;
  s->dump->record_count += into->AllocCount == 0;
  hearth_mib_merge(into, &one);
  into->AllocTimestamp = one.AllocTimestamp;
  into->DeallocTimestamp = one.DeallocTimestamp;
}

static hearth_status trace_dump_add_event(void *data, const hearth_trace_event *event, uint32_t thread,
                                          hearth_error *err) {
  summing *s = data;
  hearth_live_block block = {
      .address = event->address, .size = event->size, .begin_ns = event->stack_ns, .stack = event->stack};
  hearth_live_block ended;
  (void)thread;
  if (event->end_ns > s->dump->duration_ns)
    s->dump->duration_ns = event->end_ns;
  if (hearth_trace_frees(event->kind)) {
    if (hearth_live_blocks_remove(&s->live, event->address, &ended))
      trace_dump_end_block(s, &ended, event->stack_ns, false);
    return HEARTH_OK;
  }
  HEARTH_TRY(hearth_check_memory(hearth_live_blocks_add(&s->live, &block, &ended), err));
  if (ended.address) /* its end was lost */
    trace_dump_end_block(s, &ended, event->stack_ns, false);
  return HEARTH_OK;
}

static void end_live_blocks(summing *s) {
  for (size_t i = 0; i < s->live.room; ++i)
    if (s->live.rows[i].address)
      trace_dump_end_block(s, &s->live.rows[i], s->dump->duration_ns, true);
}

static void trace_dump_read_record(hearth_raw_dump *dump, hearth_raw_record *ret) {
  while (dump->mibs[dump->next_at].AllocCount == 0)
    ++dump->next_at;
  *ret =
      (hearth_raw_record){.stack = dump->next_at == dump->node_count ? HEARTH_RAW_NO_PARENT : (uint32_t)dump->next_at,
                          .mib = dump->mibs[dump->next_at]};
  if (dump->histogram_of)
    ret->histogram = dump->histogram_of(dump->histogram_context, dump->next_at);
  ++dump->next_at;
}

static hearth_status copy_places(const hearth_trace *trace, const hearth_trace_info *info, hearth_raw_dump *dump,
                                 hearth_error *err) {
  dump->maps = calloc(info->mappings + 1, sizeof *dump->maps);
  dump->nodes = calloc(info->nodes + 1, sizeof *dump->nodes);
  HEARTH_TRY(hearth_check_memory(dump->maps && dump->nodes, err));
  for (; dump->map_count < info->mappings; ++dump->map_count) {
    const hearth_trace_mapping *from = &hearth_trace_mappings(trace)[dump->map_count];
    hearth_raw_map *to = &dump->maps[dump->map_count];
    *to = (hearth_raw_map){.start = from->start,
                           .end = from->end,
                           .base = from->file_offset,
                           .path = strdup(from->path),
                           .build_id_size = from->build_id_size};
    memcpy(to->build_id, from->build_id, from->build_id_size);
    HEARTH_TRY(hearth_check_memory(to->path, err));
  }
  if (info->nodes > 0)
    memcpy(dump->nodes, hearth_trace_nodes(trace), info->nodes * sizeof *dump->nodes);
  dump->node_count = info->nodes;
  return HEARTH_OK;
}

static hearth_status trace_dump_sum(hearth_trace *trace, hearth_raw_dump *dump, hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_get_info(trace, &info);
  HEARTH_TRY(copy_places(trace, &info, dump, err));
  summing s = {.dump = dump, .mibs = calloc(info.nodes + 1, sizeof *s.mibs)};
  dump->mibs = s.mibs;
  HEARTH_TRY(hearth_check_memory(s.mibs, err));
  dump->kind = HEARTH_RAW_FILE_OFFSET;
  dump->duration_ns = info.duration_ns;
  dump->ends_early = !info.ended;
  dump->dropped_blocks = info.dropped_events;
  dump->dropped_stacks = info.dropped_stacks;
  dump->read_record = trace_dump_read_record;
  hearth_status status = hearth_trace_visit(trace, trace_dump_add_event, &s, err);
  if (status == HEARTH_OK)
    end_live_blocks(&s);
  hearth_live_blocks_free(&s.live);
  return status;
}

hearth_status hearth_raw_read_trace(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                    hearth_error *err) {
  hearth_trace *trace;
  *ret_size = in->file->size - in->begin;
  dump->in = *in;
  HEARTH_TRY(hearth_trace_open_memory(in->file->data + in->begin, *ret_size, in->name, &trace, err));
  hearth_status status = trace_dump_sum(trace, dump, err);
  hearth_trace_close(trace);
  return status;
}

/* ------------------------------------------------ trace printer ------------------------------------------------ */

/* The text form of traces; its grammar is in docs/formats/trace.md, "Text". */

static void trace_dump_print_quoted(FILE *to, const char *bytes, size_t size) {
  fputc('"', to);
  for (size_t i = 0; i < size; ++i) {
    unsigned char c = (unsigned char)bytes[i];
    if (c < 32 || c >= 127 || c == '"' || c == '\\')
      fprintf(to, "\\x%02x", c);
    else
      fputc(c, to);
  }
  fputc('"', to);
}

static void trace_dump_print_header(const hearth_trace_info *info, FILE *to) {
  fprintf(to, "hearth-trace-text 1\npid %" PRIu64 "\nstart %" PRIu64 " utc %" PRIu64 "\ndepth %" PRIu32 "\ncommand ",
          info->pid, info->start_ns, info->start_unix_ns, info->stack_depth);
  trace_dump_print_quoted(to, info->command, info->command_size);
  fputc('\n', to);
}

static void print_mapping(const hearth_trace_mapping *mapping, FILE *to) {
  fprintf(to, "mapping 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " ", mapping->start, mapping->end, mapping->file_offset);
  for (uint32_t i = 0; i < mapping->build_id_size; ++i)
    fprintf(to, "%02x", mapping->build_id[i]);
  fputs(mapping->build_id_size ? " " : "- ", to);
  trace_dump_print_quoted(to, mapping->path, strlen(mapping->path));
  fputc('\n', to);
}

static void print_reference(uint32_t node, FILE *to) {
  if (node == HEARTH_TRACE_NO_STACK)
    fputc('-', to);
  else
    fprintf(to, "%" PRIu32, node);
}

static void print_event(const hearth_trace *trace, const hearth_trace_event *event, uint32_t thread, FILE *to) {
  fprintf(to, "%s 0x%" PRIx64 " %" PRIu64 " thread %" PRIu32 " at %" PRIu64 " %" PRIu64 " %" PRIu64 " stack ",
          hearth_trace_kind_name(event->kind), event->address, event->size, thread, event->begin_ns, event->stack_ns,
          event->end_ns);
  print_reference(event->stack, to);
  fprintf(to, " frames %" PRIu32 "\n", hearth_trace_depth(trace, event->stack));
}

static hearth_status print_blocks(hearth_trace *trace, const hearth_trace_info *info, hearth_trace_event *events,
                                  FILE *to, hearth_error *err) {
  for (uint64_t block = 0; block < info->blocks; ++block) {
    uint32_t count, thread;
    HEARTH_TRY(hearth_trace_read_block(trace, block, events, &count, &thread, err));
    fputs("block\n", to);
    for (uint32_t i = 0; i < count; ++i)
      print_event(trace, &events[i], thread, to);
  }
  return HEARTH_OK;
}

hearth_status hearth_trace_print(hearth_trace *trace, FILE *to, hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_get_info(trace, &info);
  trace_dump_print_header(&info, to);
  for (uint64_t i = 0; i < info.mappings; ++i)
    print_mapping(&hearth_trace_mappings(trace)[i], to);
  for (uint64_t i = 0; i < info.nodes; ++i) {
    fprintf(to, "node %" PRIu64 " 0x%" PRIx64 " ", i, hearth_trace_nodes(trace)[i].pc);
    print_reference(hearth_trace_nodes(trace)[i].parent, to);
    fputc('\n', to);
  }
  hearth_trace_event *events = malloc(HEARTH_TRACE_EVENTS_MOST * sizeof *events);
  hearth_status status = events ? print_blocks(trace, &info, events, to, err) : hearth_error_nomem(err);
  free(events);
  if (status == HEARTH_OK && info.ended)
    fprintf(to, "end %" PRIu64 " dropped %" PRIu64 " %" PRIu64 "\n", info.duration_ns, info.dropped_events,
            info.dropped_stacks);
  return status;
}
