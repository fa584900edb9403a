/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The start of libhearth_preload.so: it sets the table of the functions that `hearth record` adds, and removes the
 * entries that `hearth record` put into the environment. */
#include "library_start.h"
#include "process.h"
#include "recorder.h"
#include "result.h"
#include "run_plain.h"
#include "running_profile.h"
#include "trace_recorder.h"

#include <string.h>

static void give_up(void);

static const hearth_recorder_table table = {
    .give_up = give_up,
    .begin = hearth_trace_begin,
    .allocate = hearth_trace_allocate,
    .allocate_zeroed = hearth_trace_allocate_zeroed,
    .resize = hearth_trace_resize,
    .release = hearth_trace_release,
    .flush = hearth_trace_flush,
    .end_thread = hearth_trace_end_thread,
    .begin_child = hearth_trace_begin_child,
    .tell_result = hearth_result_tell,
};

/* Where the first entry of the variable's list of libraries, which is ours, ends. */
static const char *behind_own_library(const char *libraries) {
  const char *at = libraries + strcspn(libraries, ": ");

  return at + strspn(at, ": ");
}

static bool is_variable(const char *setting, const char *name) {
  size_t length = strlen(name);

  return strncmp(setting, name, length) == 0 && setting[length] == '=';
}

/* Remove the entries that `hearth record` put into the environment: the program sees the same environment as without
 * it, and programs that it runs are not recorded. */
static void restore_environment(char **environment) {
  char **kept = environment;

  for (; *environment; ++environment) {
    char *setting = *environment;
    if (is_variable(setting, HEARTH_RECORD_VARIABLE))
      continue;
    if (is_variable(setting, "LD_PRELOAD")) {
      char *libraries = strchr(setting, '=') + 1;
      const char *others = behind_own_library(libraries);
      if (!*others)
        continue;
      memmove(libraries, others, strlen(others) + 1);
    }
    *kept++ = setting;
  }
  *kept = NULL;
}

static char **own_environment;

static void give_up(void) {
  restore_environment(own_environment);
  hearth_run_plain(own_environment);
}

/* Somebody else than `hearth record` may have preloaded the library. */
bool hearth_library_begins(char **environment) {
  if (!hearth_environment_find(environment, HEARTH_RECORD_VARIABLE))
    return false;
  hearth_recorder = &table;
  own_environment = environment;
  return true;
}

void hearth_library_has_begun(char **environment) {
  if (!hearth_rt.options.follow_children)
    restore_environment(environment);
}
