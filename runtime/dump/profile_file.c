/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files are written under a temporary name and renamed. */
#include "dump.h"

#include "mappings.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"

#include <errno.h>
#include <string.h>

/* Signal stacks are small: large objects stand here, for the holder of the lock. */
static hearth_file_output output;
static char name[HEARTH_OUTPUT_NAME]; /* of the profile, once it was written; "": not yet */

void hearth_profile_file_make_directories(const char *file) {
  static char path[HEARTH_OUTPUT_NAME];

  if (hearth_os_is_privileged()) /* the caller's umask would decide who may write to them */
    return;
  for (const char *slash = file; (slash = strchr(slash + 1, '/'));) {
    hearth_text text = hearth_text_begin(path, sizeof path);
    hearth_text_add_bytes(&text, file, (size_t)(slash - file));
    hearth_os_make_directory(path); /* if this fails, creating the file reports it */
  }
}

static void begin_profile_file(const char *file) {
  hearth_file_output_begin(&output, file);
  if (output.error == ENOENT) {
    hearth_profile_file_make_directories(file);
    hearth_file_output_begin(&output, file);
  }
}

static int finish_profile_file(int error, bool replace) {
  if (error && !output.error)
    output.error = error; /* so that the partial file is removed */
  return hearth_file_output_finish(&output, replace);
}

int hearth_profile_file_write_as(const hearth_snapshot *snapshot, const char *file, bool replace) {
  begin_profile_file(file);
  return finish_profile_file(hearth_dump_write(&output, snapshot), replace);
}

/* The message that was given about the file: the next one that is written as the program runs mostly fares the same. */
static int told_error;

static void add_missing(hearth_text *name, char letter, const char *word) {
  if (!hearth_pattern_has(hearth_rt.options.log_path, letter))
    hearth_text_format(name, ".%s", word);
}

bool hearth_profile_file_is_device(void) { return hearth_os_is_device(hearth_rt.options.log_path); }

static void add_file_name(hearth_text *name, const hearth_pattern_words *words, bool with_process) {
  hearth_pattern_add(name, hearth_rt.options.log_path, words);
  if (with_process && !hearth_profile_file_is_device())
    add_missing(name, 'p', words->process);
}

void hearth_profile_file_name(hearth_text *name) {
  hearth_pattern_words words = hearth_pattern_words_of_process();

  add_file_name(name, &words, hearth_rt.pid != hearth_rt.options.plain_pid);
}

void hearth_profile_file_name_beside(hearth_text *name) {
  hearth_pattern_words words = hearth_pattern_words_of_process();

  add_file_name(name, &words, false);
  add_missing(name, 'p', words.process);
  add_missing(name, 'u', words.start);
}

void hearth_profile_file_name_others(hearth_text *name) {
  hearth_pattern_words words = {"PROGRAM", "PID", "BUILD-ID", "", "NUMBER"};

  memcpy(words.host, hearth_pattern_words_of_process().host, sizeof words.host);
  add_file_name(name, &words, true);
}

const char *hearth_profile_file_written(void) { return output.name; }

/* A profile may have been written under this name before: by a program that this process was until it called exec, or
 * by a process of the same number. It stays. The reader of the messages may have to allocate first, so threads go on
 * before. */
bool hearth_profile_file_write(hearth_snapshot *snapshot) {
  static char first_name[HEARTH_OUTPUT_NAME];
  bool again = name[0] != '\0';
  hearth_text text = hearth_text_begin(first_name, sizeof first_name);

  hearth_profile_file_name(&text);
  const char *file = again ? name : first_name;
  int error = hearth_profile_file_write_as(snapshot, file, again);
  hearth_snapshot_end(snapshot);
  if (error) {
    if (hearth_message_is_new(&told_error, error))
      hearth_message("cannot write the profile %s: %s (log_path, or -o of 'hearth record', names another place)", file,
                     hearth_error_name(error));
    return false;
  }
  if (!again) {
    text = hearth_text_begin(name, sizeof name);
    hearth_text_add(&text, output.name);
  }
  if (hearth_rt.options.verbosity > 0)
    hearth_message("profile written to %s, %u bytes", name, output.size);
  return true;
}

void hearth_profile_file_forget(void) {
  name[0] = '\0';
  told_error = 0;
}

/* Patterns are filled in one pass over their letters; the words come from the system, the mappings and the process id. */

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

bool hearth_pattern_has(const char *pattern, char letter) {
  for (const char *at = pattern; (at = strchr(at, '%')) && at[1]; at += 2)
    if (at[1] == letter)
      return true;
  return false;
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

static void add_build(hearth_text *text) {
  const hearth_mapping *program = hearth_mappings_find(hearth_os_program_entry());

  if (!program || !program->build_id_size)
    hearth_text_add(text, "no-build-id");
  for (size_t i = 0; program && i < program->build_id_size; ++i) {
    hearth_text_add_bytes(text, &"0123456789abcdef"[program->build_id[i] >> 4], 1);
    hearth_text_add_bytes(text, &"0123456789abcdef"[program->build_id[i] & 15], 1);
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
