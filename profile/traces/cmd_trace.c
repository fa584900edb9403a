/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth trace`: the contents of a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "amount.h"
#include "command_line.h"
#include "commands.h"
#include "hearth/trace.h"
#include "trace_replay.h"
#include "trace_stat.h"

static const hearth_help help = {
    .usage = "trace stat FILE\ntrace dump FILE\ntrace replay [OPTION...] FILE",
    .about = "Read a trace of 'hearth record --mode=trace': every operation on a program's heap."};

typedef struct request {
  bool touch;
  const char *plan;
  hearth_number_option repeats;
} request;

/* What is true of a trace without events that has no end is true of every program. */
static bool open_any(const char *path, hearth_trace **ret) {
  hearth_error err;
  hearth_trace_info info;
  if (hearth_trace_open(path, ret, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message), false;
  hearth_trace_get_info(*ret, &info);
  if (info.events > 0 || info.ended)
    return true;
  hearth_trace_close(*ret);
  hearth_tool_error(
      "%s: no operation is in the trace, nor the program's end: there was no room for it, the program was "
      "killed, or it still runs",
      path);
  return false;
}

static int stat_trace(const char *path, const request *request) {
  hearth_trace *trace;
  hearth_error err;
  (void)request;
  if (!open_any(hearth_tool_input_path(path), &trace))
    return HEARTH_EXIT_ERROR;
  hearth_status status = hearth_trace_stat(trace, stdout, &err);
  hearth_trace_close(trace);
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_error("%s", err.message);
}

static int dump(const char *path, const request *request) {
  hearth_trace *trace;
  hearth_error err;
  (void)request;
  if (hearth_trace_open(hearth_tool_input_path(path), &trace, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_status status = hearth_trace_print(trace, stdout, &err);
  hearth_trace_close(trace);
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_error("%s", err.message);
}

static void print_replay(const hearth_replay_result *result, uint64_t repeats) {
  printf("operations     %" PRIu64 "\n", result->operations);
  printf("peak live      %s (%" PRIu64 " bytes)\n", hearth_amount_bytes(result->peak_live_bytes).c,
         result->peak_live_bytes);
  for (uint64_t i = 0; i < repeats; i++) {
    uint64_t ns = result->rounds[i].time_ns, bytes = result->rounds[i].peak_resident_bytes;
    printf("time           %.3f ms, %.1f ns an operation\n", (double)ns / 1e6,
           result->operations ? (double)ns / (double)result->operations : 0);
    printf("peak resident  %s (%" PRIu64 " bytes) more than before\n", hearth_amount_bytes(bytes).c, bytes);
  }
}

static int replay_with(const char *path, const request *request, const hearth_trace_hints *hints) {
  static hearth_replay_result result; /* too large for the stack */
  const hearth_replay_options options = {
      .touch = request->touch, .repeats = (uint32_t)request->repeats.value, .hints = hints};
  hearth_trace *trace;
  hearth_error err;
  if (!open_any(path, &trace))
    return HEARTH_EXIT_ERROR;
  hearth_status status = hearth_trace_replay(trace, &options, &result, &err);
  hearth_trace_close(trace);
  if (status != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  print_replay(&result, request->repeats.value);
  return hearth_tool_finish();
}

static int replay(const char *path, const request *request) {
  hearth_trace_hints hints = {0};
  hearth_error err;
  if (!request->plan)
    return replay_with(hearth_tool_input_path(path), request, NULL);
  if (hearth_trace_hints_read(request->plan, hearth_tool_input_path(path), &hints, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  int code = hints.is_known_stack ? replay_with(hearth_tool_input_path(path), request, &hints)
                                  : hearth_tool_error("%s: it has no stack of the trace: index the trace with "
                                                      "'hearth index --symbols', or profile the same program",
                                                      request->plan);
  hearth_trace_hints_free(&hints);
  return code;
}

int hearth_cmd_trace(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(const char *path, const request *request);
  } actions[] = {{"stat", stat_trace}, {"dump", dump}, {"replay", replay}};
  request request = {.repeats = {.least = 1, .most = HEARTH_REPLAYS_MOST, .value = 1}};
  const hearth_option options[] = {
      {.name = "stat", .help = "count operations, bytes, threads and live blocks"},
      {.name = "dump", .help = "print all of the trace as text"},
      {.name = "replay",
       .help = "perform the operations with this process's allocator, in the order of their times; print the time that "
               "this takes, and the most memory in use (LD_PRELOAD tries another allocator)"},
      {.name = "--touch",
       .flag = &request.touch,
       .help = "replay: write to every allocated byte, as the program may have done"},
      {.name = "--plan",
       .value = "PROFILE",
       .expects = "a file",
       .text = &request.plan,
       .help = "replay: with the hints that the plan of this profile has for the stacks, for Hearth's allocator, which "
               "is to "
               "be preloaded: LD_PRELOAD=$(hearth flags use PROFILE --preload)"},
      {.name = "--repeat",
       .value = "N",
       .expects = "a number from 1 to 1000",
       .take = hearth_tool_take_number,
       .target = &request.repeats,
       .help = "replay: so many times in one process, each with a line of its own (default: 1)"},
      {0}};
  int operands, code;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("trace", "say 'stat', 'dump' or 'replay'");
  for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i)
    if (strcmp(argv[1], actions[i].name) == 0)
      return operands == 2 ? actions[i].run(argv[2], &request)
                           : hearth_tool_usage_error("trace", "'%s' takes one file", argv[1]);
  return hearth_tool_usage_error("trace", "'%s' is none of 'stat', 'dump' and 'replay'", argv[1]);
}
