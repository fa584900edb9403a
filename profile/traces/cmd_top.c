/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth top`: the contents of the memory of a running program's allocator. */
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "malloc_process.h"

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

static void print_json(const malloc_process *process, const malloc_sample *sample) {
  printf("{\"pid\":%d,\"cold_below\":%u,\"hot_from\":%u", (int)process->pid, process->status.cold_below,
         process->status.hot_from);
  for (int i = 0; i < MALLOC_PARTS; i++) {
    const malloc_part *part = &sample->part[i];
    printf(",\"%s\":{\"on\":%s", names[i], is_on(process, i) ? "true" : "false");
#define PRINT_FIELD(name) printf(",\"" #name "\":%" PRIu64, part->name);
    HEARTH_MALLOC_FIELDS(PRINT_FIELD)
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

int hearth_cmd_top(int argc, char **argv) {
  bool json = false, ended;
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
      (code = malloc_process_sample(&process, &sample, &ended)) != HEARTH_EXIT_OK)
    return code;
  if (ended)
    return hearth_tool_error("%d: has ended", (int)pid);
  (json ? print_json : print_text)(&process, &sample);
  return hearth_tool_finish();
}
