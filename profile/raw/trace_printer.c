/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text form of traces; its grammar is in docs/formats/trace.md, "Text". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/trace.h"

static void print_quoted(FILE *to, const char *bytes, size_t size) {
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

static void print_header(const hearth_trace_info *info, FILE *to) {
  fprintf(to, "hearth-trace-text 1\npid %" PRIu64 "\nstart %" PRIu64 " utc %" PRIu64 "\ndepth %" PRIu32 "\ncommand ",
          info->pid, info->start_ns, info->start_unix_ns, info->stack_depth);
  print_quoted(to, info->command, info->command_size);
  fputc('\n', to);
}

static void print_mapping(const hearth_trace_mapping *mapping, FILE *to) {
  fprintf(to, "mapping 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " ", mapping->start, mapping->end, mapping->file_offset);
  for (uint32_t i = 0; i < mapping->build_id_size; ++i)
    fprintf(to, "%02x", mapping->build_id[i]);
  fputs(mapping->build_id_size ? " " : "- ", to);
  print_quoted(to, mapping->path, strlen(mapping->path));
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
  print_header(&info, to);
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
