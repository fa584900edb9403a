/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of each object, the first mark that is not the link's is enough to know. An object that clang has signed without a
 * mark was compiled without Hearth; those of assemblers and other compilers have nothing to be asked for. Libraries
 * that are searched for by -l may be someone else's, and are not looked at. */
#define _GNU_SOURCE /* memmem under strict C */
#include "install_paths.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "hearth/program_tables.h"
#include "object_file.h"

typedef struct findings {
  char expected[64];   /* the link's mark; "": none */
  char path[PATH_MAX]; /* of the first; of a member: "lib.a(member.o)" */
  char mark[64];       /* of that object; "": none */
  int count;
} findings;

static void expected_mark(const char *mode, char *const *flags, char *ret, size_t size) {
  static const char option[] = "-memprof-profile-id=";
  snprintf(ret, size, "%s", strcmp(mode, "instrument") == 0 ? HEARTH_MARK_INSTRUMENT : "");
  for (char *const *at = flags; at && *at; at++)
    if (strncmp(*at, option, strlen(option)) == 0)
      snprintf(ret, size, HEARTH_MARK_START "use %s", *at + strlen(option));
}

/* The length of the mark that `text` starts with; 0: none. */
static size_t mark_length(hearth_bytes text) {
  static const char use[] = HEARTH_MARK_START "use ", digits[] = "0123456789abcdef";
  size_t instrument = strlen(HEARTH_MARK_INSTRUMENT), at = strlen(use), end = at + 16;
  if (text.size >= instrument && memcmp(text.data, HEARTH_MARK_INSTRUMENT, instrument) == 0)
    return instrument;
  if (text.size < end || memcmp(text.data, use, at) != 0)
    return 0;
  while (at < end && strchr(digits, text.data[at]))
    at++;
  return at == end ? end : 0;
}

/* The strings of .comment, or all of a module of bitcode: there they follow each other without an end. */
static bool finds_other(hearth_bytes text, const findings *f, char *ret_mark, size_t size) {
  static const char clang[] = "clang version ";
  const uint8_t *end = text.data + text.size, *at = text.data;
  bool is_marked = false;
  while ((at = memmem(at, (size_t)(end - at), HEARTH_MARK_START, strlen(HEARTH_MARK_START)))) {
    size_t length = mark_length((hearth_bytes){at, (size_t)(end - at)});
    snprintf(ret_mark, size, "%.*s", (int)length, (const char *)at);
    is_marked |= length > 0;
    if (length > 0 && strcmp(ret_mark, f->expected) != 0)
      return true;
    at++;
  }
  *ret_mark = '\0';
  return *f->expected && !is_marked && memmem(text.data, text.size, clang, strlen(clang));
}

/* What an object says about its build; no bytes: nothing, or it is no object for a link. */
static hearth_bytes signatures(Elf *object) {
  static const uint8_t bitcode[] = {'B', 'C', 0xc0, 0xde};
  hearth_bytes all = {0};
  if (elf_kind(object) == ELF_K_ELF) /* the plugin leaves 32 bits alone, and marks nothing there */
    return hearth_elf_is_linked(object) || gelf_getclass(object) != ELFCLASS64 ? all
                                                                               : hearth_elf_section(object, ".comment");
  all.data = (const uint8_t *)elf_rawfile(object, &all.size);
  bool is_module = all.data && all.size > sizeof bitcode && memcmp(all.data, bitcode, sizeof bitcode) == 0;
  return is_module ? all : (hearth_bytes){0};
}

static void compile_mark_look_at(Elf *object, const char *archive, const char *name, findings *f) {
  char mark[64];
  hearth_bytes text = signatures(object);
  if (text.size == 0 || !finds_other(text, f, mark, sizeof mark) || f->count++ > 0)
    return;
  snprintf(f->path, sizeof f->path, archive ? "%s(%s)" : "%s%s", archive ? archive : "", name);
  memcpy(f->mark, mark, sizeof mark);
}

static void look_at_members(int fd, Elf *archive, const char *path, findings *f) {
  Elf *member;
  for (Elf_Cmd next = ELF_C_READ_MMAP; (member = elf_begin(fd, next, archive)); elf_end(member)) {
    const Elf_Arhdr *header = elf_getarhdr(member);
    if (header)
      compile_mark_look_at(member, path, header->ar_name, f);
    next = elf_next(member);
  }
}

static void look_at_file(const char *path, findings *f) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  elf_version(EV_CURRENT);
  Elf *file = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
  if (file && elf_kind(file) == ELF_K_AR)
    look_at_members(fd, file, path, f);
  else if (file)
    compile_mark_look_at(file, NULL, path, f);
  elf_end(file);
  if (fd >= 0)
    close(fd);
}

static const char *compile_mark_describe(const char *mark, const char *expected) {
  if (!*mark)
    return "without Hearth";
  if (strcmp(mark, HEARTH_MARK_INSTRUMENT) == 0)
    return "with HEARTH=instrument";
  return strncmp(expected, mark, strlen(HEARTH_MARK_START "use ")) == 0 ? "with another profile"
                                                                        : "with HEARTH=use:PROFILE";
}

static bool is_object_or_archive(const char *path) {
  const char *suffix = strrchr(path, '.');
  return *path != '-' && suffix && (strcmp(suffix, ".o") == 0 || strcmp(suffix, ".a") == 0);
}

void hearth_compile_marks_check(char *const *arguments, const char *mode, char *const *flags) {
  char others[64] = "";
  findings f = {.count = 0};
  expected_mark(mode, flags, f.expected, sizeof f.expected);
  for (char *const *at = arguments; *at; at++) {
    bool is_output = at > arguments && strcmp(at[-1], "-o") == 0;
    if (!is_output && is_object_or_archive(*at))
      look_at_file(*at, &f);
  }
  if (f.count == 0)
    return;
  if (f.count > 1)
    snprintf(others, sizeof others, " (and %d more)", f.count - 1);
  hearth_tool_warning("%s%s was compiled %s, and this link is HEARTH=%s: compile all anew (make clean)", f.path, others,
                      compile_mark_describe(f.mark, f.expected), mode);
}
