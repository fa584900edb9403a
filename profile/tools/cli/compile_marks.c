/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of each object, the first mark that is not the link's is enough to know. An object that clang has signed without a mark was
 * compiled without Hearth; those of assemblers and other compilers have nothing to be asked for. */
#include "compile_marks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "elf_file.h"
#include "hearth/compile_mark.h"
#include "messages.h"

typedef struct findings {
  const char *path; /* of the first */
  char mark[64];    /* of that object; "": none */
  int count;
} findings;

static void expected_mark(const char *mode, char *const *flags, char *ret, size_t size) {
  static const char option[] = "-memprof-profile-id=";
  snprintf(ret, size, "%s", strcmp(mode, "instrument") == 0 ? HEARTH_MARK_INSTRUMENT : "");
  for (char *const *at = flags; at && *at; at++)
    if (strncmp(*at, option, strlen(option)) == 0)
      snprintf(ret, size, HEARTH_MARK_START "use %s", *at + strlen(option));
}

/* Strings, each with its NUL. */
static bool finds_other(hearth_bytes comment, const char *expected, char *ret_mark, size_t size) {
  bool is_of_clang = false, is_marked = false;
  const char *end = (const char *)comment.data + comment.size;
  for (const char *at = (const char *)comment.data; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
    int length = (int)strnlen(at, (size_t)(end - at));
    snprintf(ret_mark, size, "%.*s", length, at);
    is_of_clang |= strstr(ret_mark, "clang version ") != NULL;
    if (strncmp(ret_mark, HEARTH_MARK_START, strlen(HEARTH_MARK_START)) != 0)
      continue;
    is_marked = true;
    if (strcmp(ret_mark, expected) != 0)
      return true;
  }
  *ret_mark = '\0';
  return *expected && is_of_clang && !is_marked;
}

static void look(const char *path, const char *expected, findings *f) {
  hearth_elf_file *file;
  hearth_error err;
  char mark[64];
  if (hearth_elf_file_open(path, &file, &err) != HEARTH_OK)
    return;
  if (!hearth_elf_file_is_linked(file) &&
      finds_other(hearth_elf_file_section(file, ".comment"), expected, mark, sizeof mark) && f->count++ == 0) {
    f->path = path;
    memcpy(f->mark, mark, sizeof mark);
  }
  hearth_elf_file_close(file);
}

static const char *describe(const char *mark, const char *expected) {
  if (!*mark)
    return "without Hearth";
  if (strcmp(mark, HEARTH_MARK_INSTRUMENT) == 0)
    return "with HEARTH=instrument";
  return strncmp(expected, mark, strlen(HEARTH_MARK_START "use ")) == 0 ? "with another profile"
                                                                        : "with HEARTH=use:PROFILE";
}

void hearth_compile_marks_check(char *const *arguments, const char *mode, char *const *flags) {
  char expected[64], others[64] = "";
  findings f = {.count = 0};
  expected_mark(mode, flags, expected, sizeof expected);
  for (char *const *at = arguments; *at; at++) {
    size_t length = strlen(*at);
    bool is_output = at > arguments && strcmp(at[-1], "-o") == 0;
    if (!is_output && **at != '-' && length > 2 && strcmp(*at + length - 2, ".o") == 0)
      look(*at, expected, &f);
  }
  if (f.count == 0)
    return;
  if (f.count > 1)
    snprintf(others, sizeof others, " (and %d more)", f.count - 1);
  hearth_tool_warning("%s%s was compiled %s, and this link is HEARTH=%s: compile all anew (make clean)", f.path, others,
                      describe(f.mark, expected), mode);
}
