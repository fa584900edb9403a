/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The messages of subcommands on standard error, and the end of standard output. */
#include "messages.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "file.h"
#include "utf8.h"

/* Texts have names and paths that files hold, which may be anybody's. */
static void print_line(const char *kind, const char *format, va_list arguments) {
  char text[8192];
  hearth_tool_progress("%s", "");
  fflush(stdout); /* so that the two streams come out in order where they end in one place */
  vsnprintf(text, sizeof text, format, arguments);
  fprintf(stderr, "hearth: %s: ", kind);
  hearth_utf8_put(text, stderr);
  fputc('\n', stderr);
}

int hearth_tool_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("error", format, arguments);
  va_end(arguments);
  return HEARTH_EXIT_ERROR;
}

int hearth_tool_view_error(const char *path, const hearth_error *err) {
  return err->status == HEARTH_E_IO ? hearth_tool_error("%s: %s", path, err->message)
                                    : hearth_tool_error("%s", err->message);
}

void hearth_tool_warning(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("warning", format, arguments);
  va_end(arguments);
}

int hearth_tool_usage_error(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("error", format, arguments);
  va_end(arguments);
  fprintf(stderr, "See 'hearth %s%s--help'.\n", command, *command ? " " : "");
  return HEARTH_EXIT_USAGE;
}

static bool progress_always;

void hearth_tool_progress_always(void) { progress_always = true; }

void hearth_tool_progress(const char *format, ...) {
  static bool shown;
  char line[80]; /* longer lines would wrap and could not be taken away */
  bool terminal = isatty(STDERR_FILENO);
  if (!terminal && !progress_always)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (!terminal && line[0])
    fprintf(stderr, "hearth: %s\n", line);
  if (!terminal || (!shown && !line[0]))
    return;
  fprintf(stderr, "\r\033[K%s", line);
  fflush(stderr);
  shown = line[0] != '\0';
}

void hearth_tool_progress_events(uint64_t done, uint64_t total) {
  if (done % (UINT64_C(1) << 18) == 0)
    hearth_tool_progress("%" PRIu64 " of %" PRIu64 " events", done, total);
}

int hearth_tool_finish(void) {
  hearth_error err;
  /* A reader that has seen enough (`hearth show | head`) closes the pipe: SIGPIPE ends us before we get here. */
  return hearth_stream_flush(stdout, &err) == HEARTH_OK ? HEARTH_EXIT_OK
                                                        : hearth_tool_view_error("standard output", &err);
}
