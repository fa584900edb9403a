/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The help as a manual page, in the macros of man(7): the same texts, filled by the formatter. */
#include <ctype.h>
#include <string.h>

#include "command_line.h"

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

static void print_text(const char *text, FILE *stream) {
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

static void print_row(const hearth_option *option, FILE *stream) {
  fputs(*option->name ? ".TP\n.B " : ".PP\n", stream);
  if (option->letter) {
    const char letter[] = {'-', option->letter, ',', ' '};
    print_escaped(letter, sizeof letter, stream);
  }
  if (*option->name) {
    print_escaped(option->name, strlen(option->name), stream);
    fprintf(stream, "%s%s\n", option->value ? "=" : "", option->value ? option->value : "");
  }
  print_text(option->help, stream);
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

void hearth_help_print_manual(const hearth_help *help, const hearth_option *options, FILE *stream) {
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
  print_text(help->about, stream);
  fprintf(stream, ".SH %s\n", help->heading ? help->heading : "OPTIONS");
  for (; options->name; options++)
    print_row(options, stream);
  if (help->end) {
    fputs(".SH NOTES\n", stream);
    print_text(help->end, stream);
  }
  fprintf(stream, ".SH SEE ALSO\n.BR %s\n", length ? "hearth (1)" : "hearth\\-cc (1)");
}
