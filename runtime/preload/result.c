/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The mode tells which kind of file was written, and so which command shows it. */
#include "result.h"

#include "file_output.h"
#include "message.h"
#include "profile_file.h"
#include "running_profile.h"
#include "trace_file.h"

static void tell_dumps(void) {
  static char buffer[HEARTH_OUTPUT_NAME]; /* signal stacks are small */
  hearth_text name = hearth_text_begin(buffer, sizeof buffer);

  hearth_profile_file_name(&name);
  hearth_message("the last heap dump is %s", hearth_profile_file_written());
  hearth_message("to see all: hearth heap %s.*", buffer);
}

static void tell_trace(void) {
  hearth_message("the trace is %s", hearth_trace_file_name());
  hearth_message("to see it: hearth report %s -o report.html", hearth_trace_file_name());
}

static void tell_profile(void) {
  const char *name = hearth_profile_file_written();

  hearth_message("the profile is %s", name);
  hearth_message("to see it: hearth index --symbols %s -o heap.prof && hearth show heap.prof", name);
}

static void tell_children(void) {
  static char buffer[HEARTH_OUTPUT_NAME];
  hearth_text name = hearth_text_begin(buffer, sizeof buffer);

  hearth_profile_file_name_others(&name);
  hearth_message("those of child processes are %s", buffer);
}

void hearth_result_tell(void) {
  if (hearth_rt.pid != hearth_rt.options.tell_pid)
    return;
  if (hearth_rt.live)
    tell_dumps();
  else if (hearth_rt.tracing)
    tell_trace();
  else
    tell_profile();
  if (hearth_rt.options.follow_children)
    tell_children();
}
