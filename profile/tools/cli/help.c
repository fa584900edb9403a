/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Help texts: labels in one column, their meanings in another, words wrapped one by one. */
#include <ctype.h>
#include <string.h>

#include "command.h"

enum { WIDTH = 110, LABEL_MOST = 24 /* longer ones stand on lines of their own */, LABEL_SIZE = 64, INDENT = 2 };

static void print_blanks(size_t count, FILE *stream) { fprintf(stream, "%*s", (int)count, ""); }

/* How far behind the line's begin what it says begins: see hearth_help. */
static size_t hang_of(const char *line, size_t length) {
  size_t begin = strspn(line, " ");
  for (size_t i = begin; i + 2 < length; i++)
    if (line[i] == ' ' && line[i + 1] == ' ')
      return i + strspn(line + i, " ");
  return begin;
}

/* One line of a text, where the stream is at column `indent`. */
static void help_print_line(const char *line, size_t length, size_t indent, size_t hang, FILE *stream) {
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
static void help_print_text(const char *text, size_t indent, FILE *stream) {
  for (bool first = true; *text; first = false) {
    size_t length = strcspn(text, "\n");
    if (!first)
      print_blanks(indent, stream);
    help_print_line(text, length, indent, indent + hang_of(text, length), stream);
    text += length + (text[length] == '\n');
  }
}

/* "=FILE", or "[=FILE]" of a value that may be left out; "". */
static const char *sign_of(const hearth_option *option) { return option->value && *option->value != '[' ? "=" : ""; }

/* "-o, --output=OUT"; returns its length. */
static size_t label_of(const hearth_option *option, char label[LABEL_SIZE]) {
  char letter[] = {'-', option->letter, ',', ' ', '\0'};
  return (size_t)snprintf(label, LABEL_SIZE, "%s%s%s%s", option->letter ? letter : "", option->name, sign_of(option),
                          option->value ? option->value : "");
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
  help_print_text(option->help, column, stream);
}

static void print_usage(const char *usage, FILE *stream) {
  static const char begin[] = "Usage: ";
  for (bool first = true; *usage; first = false) {
    size_t length = strcspn(usage, "\n");
    fprintf(stream, "%*shearth ", (int)sizeof begin - 1, first ? begin : "");
    help_print_line(usage, length, sizeof begin - 1 + sizeof "hearth", 2 * (sizeof begin - 1), stream);
    usage += length + (usage[length] == '\n');
  }
}

static void help_print(const hearth_help *help, const hearth_option *options, FILE *stream) {
  size_t column = meaning_column(options);
  print_usage(help->usage, stream);
  help_print_text(help->about, 0, stream);
  fputc('\n', stream);
  for (; options->name; options++)
    if (*options->name)
      print_option(options, column, stream);
    else
      help_print_text(options->help, 0, stream);
  if (help->end)
    help_print_text(help->end, 0, stream);
}

/* The help as a manual page, in the macros of man(7): the same texts, filled by the formatter. */

/* One text of input for troff: no request at its begin, dashes that can be copied. */
static void print_escaped(const char *text, size_t length, FILE *stream) {
  if (length > 0 && (*text == '.' || *text == '\''))
    fputs("\\&", stream);
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\\')
      fputs("\\e", stream);
    else if (text[i] == '-')
      fputs("\\-", stream);
    else
      fputc(text[i], stream);
}

/* A label and what it means, as "name  meaning" is in a text. */
static void print_tagged(const char *label, size_t label_length, const char *meaning, size_t length, FILE *stream) {
  fputs(".TP\n.B ", stream);
  print_escaped(label, label_length, stream);
  fputc('\n', stream);
  print_escaped(meaning, length, stream);
  fputc('\n', stream);
}

static void print_manual_text(const char *text, FILE *stream) {
  bool nested = false;
  for (bool first = true; *text; first = false) {
    size_t length = strcspn(text, "\n"), begin = strspn(text, " ");
    const char *end = text + length, *line = text + (begin < length ? begin : length), *gap = strstr(line, "  ");
    bool tagged = gap && gap < end;
    if (tagged != nested)
      fputs(tagged ? ".RS\n" : ".RE\n", stream);
    else if (!first && !tagged)
      fputs(".br\n", stream);
    nested = tagged;
    if (tagged) {
      const char *meaning = gap + strspn(gap, " ");
      print_tagged(line, (size_t)(gap - line), meaning, (size_t)(end - meaning), stream);
    } else if (line < end) {
      print_escaped(line, (size_t)(end - line), stream);
      fputc('\n', stream);
    }
    text = end + (*end == '\n');
  }
  if (nested)
    fputs(".RE\n", stream);
}

static void help_print_row(const hearth_option *option, FILE *stream) {
  fputs(*option->name ? ".TP\n.B " : ".PP\n", stream);
  if (option->letter) {
    const char letter[] = {'-', option->letter, ',', ' '};
    print_escaped(letter, sizeof letter, stream);
  }
  if (*option->name) {
    print_escaped(option->name, strlen(option->name), stream);
    fprintf(stream, "%s%s\n", sign_of(option), option->value ? option->value : "");
  }
  print_manual_text(option->help, stream);
}

/* "record [-o FILE] ..." is of the page hearth-record, "index|merge ..." of hearth-index, "COMMAND ..." of hearth. */
static size_t name_length(const char *usage) { return strcspn(islower((unsigned char)*usage) ? usage : "", " |"); }

/* The name line of a page ends where the first sentence does. */
static void print_purpose(const char *about, FILE *stream) {
  size_t length = strcspn(about, ".:;(\n");
  length -= about[length - 1] == ' ';
  fputc(tolower((unsigned char)*about), stream);
  print_escaped(about + 1, length - 1, stream);
  fputc('\n', stream);
}

static void print_synopsis(const char *usage, FILE *stream) {
  fputs(".SH SYNOPSIS\n", stream);
  for (; *usage; usage += strcspn(usage, "\n"), usage += *usage == '\n') {
    size_t all = strcspn(usage, "\n"), name = name_length(usage) ? strcspn(usage, " ") : 0;
    fputs(".B hearth", stream);
    fputs(name ? " " : "", stream);
    print_escaped(usage, name, stream);
    fputc('\n', stream);
    print_escaped(usage + name + (name > 0), all - name - (name > 0), stream);
    fputs("\n.br\n", stream);
  }
}

/* What the table of verbs adds to their pages. */
static const struct {
  const char *name, *see, *example;
} verbs[] = {
#define HEARTH_VERB(part, name, run, help, see, example) {name, see, example},
#include "verbs.def"
};

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static void help_print_link(const char *name, size_t length, FILE *stream) {
  fputs(".BR hearth\\-", stream);
  print_escaped(name, length, stream);
  fputs(" (1),\n", stream);
}

/* Of the verb with this name; without one, of the command as a whole, which links to all verbs. */
static void print_examples_and_links(const char *name, size_t length, FILE *stream) {
  size_t i = 0;
  while (i < VERB_COUNT && (strlen(verbs[i].name) != length || strncmp(verbs[i].name, name, length) != 0))
    i++;
  const char *see = i < VERB_COUNT ? verbs[i].see : "";
  fputs(".SH EXAMPLES\n.EX\n", stream);
  for (size_t k = 0; k < VERB_COUNT; k++)
    if (i == k || length == 0) {
      print_escaped(verbs[k].example, strlen(verbs[k].example), stream);
      fputc('\n', stream);
    }
  fputs(".EE\n.SH SEE ALSO\n", stream);
  for (; *see; see += strcspn(see, " "), see += *see == ' ')
    help_print_link(see, strcspn(see, " "), stream);
  for (size_t k = 0; k < VERB_COUNT && length == 0; k++)
    help_print_link(verbs[k].name, strlen(verbs[k].name), stream);
  fputs(length ? ".BR hearth (1)\n" : ".BR clang (1)\n", stream);
}

static void help_print_manual(const hearth_help *help, const hearth_option *options, FILE *stream) {
  size_t length = name_length(help->usage);
  fputs(".TH HEARTH", stream);
  for (size_t i = 0; i < length; i++)
    fprintf(stream, "%s%c", i == 0 ? "\\-" : "", toupper((unsigned char)help->usage[i]));
  fprintf(stream, " 1 \"\" \"Hearth %s\" \"Hearth\"\n.SH NAME\nhearth%s", HEARTH_VERSION, length ? "\\-" : "");
  print_escaped(help->usage, length, stream);
  fputs(" \\- ", stream);
  print_purpose(help->about, stream);
  print_synopsis(help->usage, stream);
  fputs(".SH DESCRIPTION\n", stream);
  print_manual_text(help->about, stream);
  fprintf(stream, ".SH %s\n", help->heading ? help->heading : "OPTIONS");
  for (; options->name; options++)
    help_print_row(options, stream);
  if (help->end) {
    fputs(".SH NOTES\n", stream);
    print_manual_text(help->end, stream);
  }
  print_examples_and_links(help->usage, length, stream);
}

bool hearth_help_asked(const char *argument, const hearth_help *help, const hearth_option *options, FILE *stream) {
  if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
    help_print(help, options, stream);
  else if (strcmp(argument, "--help=man") == 0)
    help_print_manual(help, options, stream);
  else
    return false;
  return true;
}
