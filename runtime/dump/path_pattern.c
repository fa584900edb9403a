/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Patterns are filled in one pass over their letters; the words come from the system, the mappings and the process id. */
#include "path_pattern.h"

#include "mappings.h"
#include "os.h"
#include "running_profile.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PROGRAM_MOST                                                                                                   \
  ((size_t)180) /* longer names are cut: names of files end at 255, and numbers and the like are added */

static const char *word_of(const hearth_pattern_words *words, char letter) {
  switch (letter) {
  case 'e':
    return words->program;
  case 'p':
    return words->process;
  case 'm':
    return words->build;
  case 'h':
    return words->host;
  case 'u':
    return words->start;
  case '%':
    return "%";
  }
  return NULL;
}

void hearth_pattern_add(hearth_text *text, const char *pattern, const hearth_pattern_words *words) {
  for (const char *at = pattern; *at; ++at) {
    const char *word = *at == '%' ? word_of(words, at[1]) : NULL;
    if (word) {
      hearth_text_add(text, word);
      ++at;
    } else {
      hearth_text_add_bytes(text, at, 1);
    }
  }
}

static const hearth_pattern_words any = {"", "", "", "", ""};

bool hearth_pattern_has(const char *pattern, char letter) {
  for (const char *at = pattern; (at = strchr(at, '%')) && at[1]; at += 2)
    if (at[1] == letter)
      return true;
  return false;
}

const char *hearth_pattern_find_unknown(const char *pattern) {
  for (const char *at = pattern; (at = strchr(at, '%')); at += 2)
    if (!word_of(&any, at[1]))
      return at;
  return NULL;
}

void hearth_pattern_add_literal(hearth_text *text, const char *name) {
  for (; *name; ++name)
    hearth_text_add_bytes(text, *name == '%' ? "%%" : name, *name == '%' ? 2 : 1);
}

/* The name that the program was executed by: a script's own name for a script, the link's name for a link. */
static void add_program(hearth_text *text) {
  const char *name = hearth_os_program_path();
  const char *slash = NULL;

  for (const char *at = name; *at; ++at)
    if (*at == '/')
      slash = at;
  if (slash && slash[1])
    name = slash + 1;
  size_t length = strlen(name);
  if (length > PROGRAM_MOST)
    for (length = PROGRAM_MOST;
         length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;) /* no part of a character */
      --length;
  hearth_text_add_bytes(text, name, length);
  if (!text->length)
    hearth_text_add(text, "program");
}

/* The build id; if the program has none, a hash of its program headers, which have the sizes of all its parts. */
static void add_build(hearth_text *text) {
  hearth_os_program_headers headers = hearth_os_find_program_headers();
  const hearth_mapping *program = hearth_mappings_find(headers.entry);
  uint64_t hash = XXH64(headers.start, headers.size, 0);
  const uint8_t *bytes = program && program->build_id_size ? program->build_id : (const uint8_t *)&hash;
  size_t size = bytes == (const uint8_t *)&hash ? sizeof hash : program->build_id_size;

  for (size_t i = 0; i < size; ++i) {
    hearth_text_add_bytes(text, &"0123456789abcdef"[bytes[i] >> 4], 1);
    hearth_text_add_bytes(text, &"0123456789abcdef"[bytes[i] & 15], 1);
  }
}

/* Where it is no part of a name, a character is "_". */
static void add_host(hearth_text *text) {
  char name[72] = "";

  hearth_os_host_name(name, sizeof name);
  for (char *at = name; *at; ++at)
    if (*at == '/')
      *at = '_';
  hearth_text_add(text, *name ? name : "host");
}

hearth_pattern_words hearth_pattern_words_of_process(void) {
  hearth_pattern_words words;
  hearth_text program = hearth_text_begin(words.program, sizeof words.program);
  hearth_text process = hearth_text_begin(words.process, sizeof words.process);
  hearth_text build = hearth_text_begin(words.build, sizeof words.build);
  hearth_text host = hearth_text_begin(words.host, sizeof words.host);
  hearth_text start = hearth_text_begin(words.start, sizeof words.start);

  add_program(&program);
  hearth_text_format(&process, "%u", hearth_rt.pid);
  hearth_text_format(&start, "%u", hearth_rt.start_number % UINT64_C(1000000000000));
  add_build(&build);
  add_host(&host);
  return words;
}
