/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth top`: the contents of the memory of a running program's allocator. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command_line.h"
#include "commands.h"
#include "malloc_process.h"

static const hearth_help help = {
    .usage = "top [--every=SECONDS] [--count=N] [--json] PID",
    .about = "Print what a running program's allocator holds: cold memory, the plan's pools, and the rest. The "
             "program is not stopped.",
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

/* The pools that were ever used. */
static void print_pools_json(const malloc_sample *sample) {
  const char *comma = "";
  printf(",\"pools\":[");
  for (int i = 0; i < POOLS; i++) {
    const malloc_pool *pool = &sample->pool[HEARTH_MALLOC_STATUS_FIRST + i];
    if (!pool->placed)
      continue;
    printf("%s{\"pool\":%d,\"live_blocks\":%" PRIu64 ",\"live_bytes\":%" PRIu64 ",\"placed\":%" PRIu64 "}", comma, i,
           pool->live_blocks, pool->live_bytes, pool->placed);
    comma = ",";
  }
  printf("]");
}

typedef struct request {
  pid_t pid;
  uint64_t every_ms, count; /* count 0: until the process ends */
  bool json;
} request;

static void print_json(const malloc_process *process, const malloc_sample *sample) {
  printf("{\"pid\":%d,\"cold_below\":%u,\"hot_from\":%u", (int)process->pid, process->status.cold_below,
         process->status.hot_from);
  for (int i = 0; i < MALLOC_PARTS; i++) {
    const malloc_part *part = &sample->part[i];
    printf(",\"%s\":{\"on\":%s", names[i], is_on(process, i) ? "true" : "false");
#define HEARTH_MALLOC_FIELD(name, description) printf(",\"" #name "\":%" PRIu64, part->name);
#include "hearth/malloc_fields.def"
    printf(",\"huge_bytes\":%" PRIu64, part->huge_bytes);
    printf("}");
  }
  print_pools_json(sample);
  printf(",\"passed_on\":%" PRIu64 "}\n", sample->passed_on);
}

static void top_command_print_size(uint64_t bytes) { printf("%12.1f", (double)bytes / (1 << 10)); }

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

static int watch(const request *request) {
  const struct timespec pause = {.tv_sec = (time_t)(request->every_ms / 1000),
                                 .tv_nsec = (long)(request->every_ms % 1000) * 1000000};
  malloc_process process;
  int code = malloc_process_open(request->pid, &process);
  for (uint64_t i = 0; code == HEARTH_EXIT_OK; i++) {
    malloc_sample sample;
    bool ended;
    code = malloc_process_sample(&process, &sample, &ended);
    if (code != HEARTH_EXIT_OK || ended)
      break;
    (request->json ? print_json : print_text)(&process, &sample);
    fflush(stdout);
    if (i + 1 == request->count)
      break;
    nanosleep(&pause, NULL);
  }
  int finished = hearth_tool_finish();
  return code == HEARTH_EXIT_OK ? finished : code;
}

int hearth_cmd_top(int argc, char **argv) {
  hearth_number_option every = {.least = 1, .most = 86400000}, count = {.least = 1, .most = UINT32_MAX};
  request request = {0};
  uint64_t pid;
  int operands, code;
  const hearth_option options[] = {
      {.name = "PID", .help = "a process with Hearth's allocator"},
      HEARTH_TAKE("--every", 0, "SECONDS", "a number of seconds from 0.001 to 86400", hearth_tool_take_seconds, &every,
                  "repeat until the process ends (default: once); may be a fraction, as 0.5"),
      HEARTH_NUMBER("--count", 0, "N", "a number from 1 to 4294967295", &count, "print at most N times"),
      HEARTH_FLAG("--json", 0, &request.json,
                  "print one JSON object for each time, on a line of its own, sizes in bytes"),
      {0}};
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands != 1)
    return hearth_tool_usage_error("top", operands ? "give one process" : "no process was given");
  if (!hearth_tool_parse_number(argv[1], 1, INT32_MAX, &pid))
    return hearth_tool_usage_error("top", "'%s' is not a process id", argv[1]);
  if (count.given && !every.given)
    return hearth_tool_usage_error("top", "'--count' goes with '--every'");
  request.pid = (pid_t)pid;
  request.every_ms = every.value;
  request.count = count.given ? count.value : !every.given;
  return watch(&request);
}
