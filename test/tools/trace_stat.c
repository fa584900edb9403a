/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints what is in a trace, as numbers that tests check: operations, bytes and times by kind, threads, what is live at the
 * peak and at the end, what was lost.
 *
 *   trace_stat FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/trace.h"
#include "print.h"
#include "utf8.h"

/* Events in the order of time, with the table of live blocks; sums by kind. */

typedef struct counts {
  uint64_t operations[HEARTH_TRACE_KINDS], bytes[HEARTH_TRACE_KINDS], time_ns[HEARTH_TRACE_KINDS];
  uint64_t live_bytes, peak_bytes, peak_blocks, peak_ns;
  uint64_t unknown; /* deallocations of blocks that the trace did not see begin, or lost */
  uint32_t threads;
  hearth_live_blocks live;
} counts;

static bool count_allocation(counts *c, const hearth_trace_event *event) {
  hearth_live_block block = {.address = event->address, .size = event->size}, replaced;
  if (!hearth_live_blocks_add(&c->live, &block, &replaced))
    return false;
  c->live_bytes += event->size - (replaced.address ? replaced.size : 0);
  if (c->live_bytes > c->peak_bytes) {
    c->peak_bytes = c->live_bytes;
    c->peak_blocks = c->live.count;
    c->peak_ns = event->end_ns;
  }
  return true;
}

static hearth_status count_event(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  counts *c = data;
  hearth_live_block ended;
  ++c->operations[event->kind];
  c->bytes[event->kind] += event->size;
  c->time_ns[event->kind] += event->end_ns - event->begin_ns;
  c->threads = thread > c->threads ? thread : c->threads;
  if (!hearth_trace_frees(event->kind))
    return count_allocation(c, event) ? HEARTH_OK : hearth_error_nomem(err);
  if (hearth_live_blocks_remove(&c->live, event->address, &ended))
    c->live_bytes -= ended.size;
  else
    ++c->unknown;
  return HEARTH_OK;
}

static void print_command(const hearth_trace_info *info, FILE *to) {
  const char *end = info->command + info->command_size;
  fputs("command     ", to);
  for (const char *at = info->command, *next; at < end && (next = memchr(at, '\0', (size_t)(end - at)));
       at = next + 1) {
    hearth_utf8_put(at, to);
    fputs(next + 1 < end ? " " : "", to);
  }
  fputc('\n', to);
}

static void print_counts(const hearth_trace_info *info, const counts *c, FILE *to) {
  print_command(info, to);
  fprintf(to, "process     %" PRIu64 ", started %" PRIu64 " ns since 1970 UTC (%" PRIu64 " ns monotonic)\n", info->pid,
          info->start_unix_ns, info->start_ns);
  fprintf(to, "duration    %.3f ms%s\n", (double)info->duration_ns / 1e6,
          info->ended ? "" : "; the end is not in the trace");
  fprintf(to, "threads     %" PRIu32 "\n", c->threads);
  fprintf(to, "events      %" PRIu64 " in %s, %.2f bytes an event\n", info->events, hearth_amount_bytes(info->size).c,
          info->events ? (double)info->size / (double)info->events : 0);
  fprintf(to, "stacks      %" PRIu64 " nodes, at most %" PRIu32 " addresses each\n", info->nodes, info->stack_depth);
  fprintf(to, "dropped     %" PRIu64 " events, %" PRIu64 " stacks, %" PRIu64 " damaged blocks%s\n",
          info->dropped_events, info->dropped_stacks, info->damaged_blocks,
          info->truncated ? "; the file ends within a block" : "");
  fprintf(to, "peak live   %s (%" PRIu64 " bytes) in %" PRIu64 " blocks at %.3f ms\n",
          hearth_amount_bytes(c->peak_bytes).c, c->peak_bytes, c->peak_blocks, (double)c->peak_ns / 1e6);
  fprintf(to, "live at end %s (%" PRIu64 " bytes) in %zu blocks\n", hearth_amount_bytes(c->live_bytes).c, c->live_bytes,
          c->live.count);
  if (c->unknown)
    fprintf(to, "unknown     %" PRIu64 " deallocations of blocks that the trace did not see begin\n", c->unknown);
  fprintf(to, "\n%-13s %14s %12s %17s\n", "operation", "count", "bytes", "ns on average");
  for (unsigned i = 0; i < HEARTH_TRACE_KINDS; ++i)
    if (c->operations[i])
      fprintf(to, "%-13s %14" PRIu64 " %12s %17.1f\n", hearth_trace_kind_name((uint8_t)i), c->operations[i],
              hearth_amount_bytes(c->bytes[i]).c, (double)c->time_ns[i] / (double)c->operations[i]);
}

int main(int argc, char **argv) {
  hearth_trace *trace;
  hearth_trace_info info;
  hearth_error err;
  counts c = {.live_bytes = 0};
  if (argc != 2) {
    fprintf(stderr, "usage: trace_stat FILE\n");
    return 2;
  }
  if (hearth_trace_open(argv[1], &trace, &err) != HEARTH_OK) {
    fprintf(stderr, "trace_stat: %s\n", err.message);
    return 1;
  }
  hearth_trace_get_info(trace, &info);
  hearth_status status = hearth_trace_visit(trace, count_event, &c, &err);
  if (status == HEARTH_OK)
    print_counts(&info, &c, stdout);
  else
    fprintf(stderr, "trace_stat: %s\n", err.message);
  hearth_live_blocks_free(&c.live);
  hearth_trace_close(trace);
  return status != HEARTH_OK;
}
