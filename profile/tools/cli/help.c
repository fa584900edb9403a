/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Help texts: labels in one column, their meanings in another, words wrapped one by one. */
#include <string.h>

#include "command_line.h"

enum { WIDTH = 110, LABEL_MOST = 24 /* longer ones stand on lines of their own */, LABEL_SIZE = 64, INDENT = 2 };

static void print_blanks(size_t count, FILE *stream) { fprintf(stream, "%*s", (int)count, ""); }

/* How far behind the line's begin what it says begins: see help.h. */
static size_t hang_of(const char *line, size_t length) {
  size_t begin = strspn(line, " ");
  for (size_t i = begin; i + 2 < length; i++)
    if (line[i] == ' ' && line[i + 1] == ' ')
      return i + strspn(line + i, " ");
  return begin;
}

/* One line of a text, where the stream is at column `indent`. */
static void print_line(const char *line, size_t length, size_t indent, size_t hang, FILE *stream) {
  size_t column = indent;
  for (size_t i = 0; i < length;) {
    size_t blanks = strspn(line + i, " "), word = strcspn(line + i + blanks, " \n");
    if (i > 0 && column + blanks + word > WIDTH) {
      fputc('\n', stream);
      print_blanks(hang, stream);
      column = hang;
      blanks = 0;
      i += strspn(line + i, " ");
    }
    fprintf(stream, "%.*s", (int)(blanks + word), line + i);
    column += blanks + word;
    i += blanks + word;
  }
  fputc('\n', stream);
}

/* All lines of a text, where the stream is at column `indent`. */
static void print_text(const char *text, size_t indent, FILE *stream) {
  for (bool first = true; *text; first = false) {
    size_t length = strcspn(text, "\n");
    if (!first)
      print_blanks(indent, stream);
    print_line(text, length, indent, indent + hang_of(text, length), stream);
    text += length + (text[length] == '\n');
  }
}

/* "-o, --output=OUT"; returns its length. */
static size_t label_of(const hearth_option *option, char label[LABEL_SIZE]) {
  char letter[] = {'-', option->letter, ',', ' ', '\0'};
  return (size_t)snprintf(label, LABEL_SIZE, "%s%s%s%s", option->letter ? letter : "", option->name,
                          option->value ? "=" : "", option->value ? option->value : "");
}

/* Where the meanings begin. */
static size_t meaning_column(const hearth_option *options) {
  char label[LABEL_SIZE];
  size_t most = 0;
  for (; options->name; options++) {
    size_t length = label_of(options, label);
    most = length > most && length <= LABEL_MOST ? length : most;
  }
  return INDENT + most + INDENT;
}

static void print_option(const hearth_option *option, size_t column, FILE *stream) {
  char label[LABEL_SIZE];
  size_t length = label_of(option, label);
  fprintf(stream, "%*s%s", INDENT, "", label);
  if (INDENT + length + INDENT > column) {
    fputc('\n', stream);
    length = 0;
    print_blanks(INDENT, stream);
  }
  print_blanks(column - INDENT - length, stream);
  print_text(option->help, column, stream);
}

static void print_usage(const char *usage, FILE *stream) {
  static const char begin[] = "Usage: ";
  for (bool first = true; *usage; first = false) {
    size_t length = strcspn(usage, "\n");
    fprintf(stream, "%*shearth ", (int)sizeof begin - 1, first ? begin : "");
    print_line(usage, length, sizeof begin - 1 + sizeof "hearth", 2 * (sizeof begin - 1), stream);
    usage += length + (usage[length] == '\n');
  }
}

void hearth_help_print(const hearth_help *help, const hearth_option *options, FILE *stream) {
  size_t column = meaning_column(options);
  print_usage(help->usage, stream);
  print_text(help->about, 0, stream);
  fputc('\n', stream);
  for (; options->name; options++)
    if (*options->name)
      print_option(options, column, stream);
    else
      print_text(options->help, 0, stream);
  if (help->end)
    print_text(help->end, 0, stream);
}

bool hearth_help_asked(const char *argument, const hearth_help *help, const hearth_option *options, FILE *stream) {
  if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
    hearth_help_print(help, options, stream);
  else if (strcmp(argument, "--help=man") == 0)
    hearth_help_print_manual(help, options, stream);
  else if (strcmp(argument, "--help=words") == 0)
    hearth_help_print_completion(options, stream);
  else
    return false;
  return true;
}
