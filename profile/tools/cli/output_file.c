/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A regular file is written under another name and takes its place in the end; signals that end the command take it
 * away. */
#include "output_file.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "messages.h"

/* The signal's own action follows on return: SA_RESETHAND put it back. */
static void on_end(int number) {
  hearth_replacement_remove_all();
  raise(number);
}

void hearth_output_guard(void) {
  static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
  struct sigaction old, action = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) /* not one that nohup ignores */
      sigaction(signals[i], &action, NULL);
  signal(SIGXFSZ, SIG_IGN);
}

bool hearth_output_is_standard(const char *path) { return strcmp(path, "-") == 0; }

hearth_status hearth_output_write(const char *path, const void *data, size_t size, hearth_error *err) {
  hearth_error why;
  if (!hearth_output_is_standard(path))
    return hearth_file_write(path, data, size, err);
  fwrite(data, 1, size, stdout);
  if (hearth_stream_flush(stdout, &why) == HEARTH_OK)
    return HEARTH_OK;
  return hearth_error_set(err, why.status, "standard output: %.400s", why.message);
}

static bool fail(const char *path, const char *what) {
  hearth_tool_error("%s: cannot %s: %s", path, what, strerror(errno));
  return false;
}

bool hearth_output_open(hearth_output *output, const char *path) {
  hearth_error err;
  bool standard = hearth_output_is_standard(path);
  *output = (hearth_output){.stream = standard ? stdout : NULL, .replacement.path = "standard output"};
  if (standard)
    return true;
  if (hearth_replacement_begin(&output->replacement, path, &err) != HEARTH_OK) {
    hearth_tool_error("%s", err.message);
    return false;
  }
  output->stream = fdopen(output->replacement.fd, "w");
  if (output->stream) {
    hearth_tool_progress("%s: writing", path);
    return true;
  }
  fail(path, "write");
  close(output->replacement.fd);
  hearth_replacement_end(&output->replacement, false, &err);
  return false;
}

bool hearth_output_close(hearth_output *output, bool keep) {
  hearth_error err;
  const char *path = output->replacement.path;
  bool good = !keep || hearth_stream_flush(output->stream, &err) == HEARTH_OK;
  hearth_tool_progress("%s", "");
  if (!good)
    hearth_tool_view_error(path, &err);
  if (output->stream == stdout)
    return good;
  if (fclose(output->stream) != 0 && keep && good)
    good = fail(path, "write");
  if (hearth_replacement_end(&output->replacement, keep && good, &err) == HEARTH_OK)
    return good;
  hearth_tool_error("%s", err.message);
  return false;
}
