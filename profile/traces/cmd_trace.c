/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth trace`: the contents of a trace. */
#include <stdio.h>

#include "command.h"
#include "hearth/trace.h"
#include "print.h"
#include "utf8.h"

static int print_trace(const char *path) {
  hearth_trace *trace;
  hearth_error err;
  if (hearth_trace_open(path, &trace, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_status status = hearth_trace_print(trace, stdout, &err);
  hearth_trace_close(trace);
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_error("%s", err.message);
}

int hearth_cmd_trace(int argc, char **argv) {
  static const hearth_help help = {
      .usage = "trace FILE",
      .about = "Print a trace of 'hearth record --mode=trace' ('-': standard input) as text: every operation on a "
               "program's heap."};
  static const hearth_option options[] = {{0}};
  int operands, code;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands != 1)
    return hearth_tool_usage_error("trace", operands ? "one trace at a time" : "which trace?");
  return print_trace(hearth_tool_input_path(argv[1]));
}
