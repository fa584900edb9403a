/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A regular file is written under another name and takes its place in the end; signals that end the command take it
 * away. */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "hearth/llvm_files.h"
#include "hearth/llvm_profile.h"
#include "hearth/plan.h"

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

static int output_file_fail(const char *path, const char *what) {
  return hearth_tool_error("%s: cannot %s: %s", path, what, strerror(errno));
}

static int write_view(const char *path, FILE *stream,
                      hearth_status (*write)(const void *arguments, FILE *stream, hearth_error *err),
                      const void *arguments) {
  hearth_error err;
  hearth_status status = write(arguments, stream, &err);
  HEARTH_THEN(status, hearth_stream_flush(stream, &err));
  return status == HEARTH_OK ? HEARTH_EXIT_OK : hearth_tool_view_error(path, &err);
}

int hearth_output_view(const char *path, hearth_status (*write)(const void *arguments, FILE *stream, hearth_error *err),
                       const void *arguments) {
  hearth_replacement replacement;
  hearth_error err;
  hearth_output_guard();
  if (hearth_output_is_standard(path))
    return write_view("standard output", stdout, write, arguments);
  if (hearth_replacement_begin(&replacement, path, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  FILE *stream = fdopen(replacement.fd, "w");
  int code = stream ? write_view(path, stream, write, arguments) : output_file_fail(path, "write");
  if ((stream ? fclose(stream) : close(replacement.fd)) != 0 && code == HEARTH_EXIT_OK)
    code = output_file_fail(path, "write");
  if (hearth_replacement_end(&replacement, code == HEARTH_EXIT_OK, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  return code;
}

/* One writer for each format; which one is a table. */

/* Sections of the default version are read by LLVM 21 and newer. An older compiler refuses a file with a section
 * that is too new for it even where it only wants the function counters. */
enum { FIRST_CONTAINER_FOR_DEFAULT = 13, OLDEST_SECTION = 3 };

/* The result as an indexed profile: open, and as the bytes that it is in. */
typedef struct indexed {
  void *data;
  size_t size;
  hearth_profile *profile;
} indexed;

static hearth_status make_indexed(const output_request *request, bool planned, indexed *ret, hearth_error *err) {
  HEARTH_TRY(planned ? hearth_builder_write_planned(request->builder, request->plan, &ret->data, &ret->size, err)
                     : hearth_builder_write_memory(request->builder, &ret->data, &ret->size, err));
  hearth_status status = hearth_profile_open_memory(ret->data, ret->size, "merged", &ret->profile, err);
  if (status != HEARTH_OK)
    free(ret->data);
  return status;
}

static void free_indexed(indexed *in) {
  hearth_profile_close(in->profile);
  free(in->data);
}

static void output_file_tell_losses(const output_request *request, const hearth_llvm_losses *losses) {
  char text[512];
  if (hearth_llvm_describe_losses(losses, text, sizeof text))
    request->tell(text);
}

/* -------------------------------------------------- containers -------------------------------------------------- */

static hearth_status write_container(const output_request *request, uint32_t section, bool with_trailer,
                                     hearth_error *err) {
  indexed in;
  void *data = NULL;
  size_t size = 0;
  hearth_llvm_losses losses;
  HEARTH_TRY(make_indexed(request, with_trailer, &in, err));
  hearth_llvm_output output = {
      .section = section, .base = request->code, .base_name = request->code_name, .base_size = request->code_size};
  if (with_trailer) {
    output.trailer = in.data;
    output.trailer_size = in.size;
  }
  hearth_status status = hearth_llvm_write_memory(in.profile, &output, &data, &size, &losses, err);
  HEARTH_THEN(status, hearth_output_write(request->path, data, size, err));
  if (status == HEARTH_OK && !with_trailer) /* which holds everything */
    output_file_tell_losses(request, &losses);
  free(data);
  free_indexed(&in);
  return status;
}

static hearth_status write_llvm(const output_request *request, hearth_error *err) {
  return write_container(request, request->section ? request->section : HEARTH_LLVM_DEFAULT_SECTION, false, err);
}

static hearth_status write_hearth(const output_request *request, hearth_error *err) {
  void *data;
  size_t size;
  if (request->code)
    return write_container(request, 0, true, err);
  HEARTH_TRY(hearth_builder_write_planned(request->builder, request->plan, &data, &size, err));
  hearth_status status = hearth_output_write(request->path, data, size, err);
  free(data);
  return status;
}

/* A file with function counters gets Hearth's profile, and also LLVM's if every reader of such a file knows that. */
static hearth_status write_default(const output_request *request, hearth_error *err) {
  hearth_llvm_contents contents;
  if (!request->code)
    return request->section ? write_llvm(request, err) : write_hearth(request, err);
  HEARTH_TRY(hearth_llvm_inspect(request->code, request->code_size, request->code_name, &contents, err));
  uint32_t section = request->section;
  if (!section && contents.container_version >= FIRST_CONTAINER_FOR_DEFAULT)
    section = HEARTH_LLVM_DEFAULT_SECTION;
  else if (!section && contents.section_offset) /* which the compiler of that release had use for */
    section = OLDEST_SECTION;
  return write_container(request, section, true, err);
}

/* -------------------------------------------------- the table -------------------------------------------------- */

const output_format hearth_output_formats[] = {
    {"default", write_default, true}, {"hearth", write_hearth, false}, {"llvm", write_llvm, true}};

const output_format *hearth_output_format_find(const char *name) {
  for (size_t i = 0; i < sizeof hearth_output_formats / sizeof hearth_output_formats[0]; i++)
    if (strcmp(hearth_output_formats[i].name, name) == 0)
      return &hearth_output_formats[i];
  return NULL;
}
