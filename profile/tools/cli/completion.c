/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a shell may complete: a line "WORD<tab>meaning" for each word of the table. Options that take a value end in "=", and
 * have a line for each value if they take one of a few words. */
#include <ctype.h>
#include <string.h>

#include "command_line.h"

static void print_word(const char *option, const char *word, size_t length, const char *end, const char *meaning,
                       FILE *stream) {
  fprintf(stream, "%s%.*s%s\t%.*s\n", option, (int)length, word, end, (int)strcspn(meaning, "\n"), meaning);
}

/* "aggregate, trace or live" names the values; "a number of bytes" does not. */
static void print_values(const hearth_option *option, FILE *stream) {
  const char *or = strstr(option->expects, " or "), *last = or ? or + strlen(" or ") : "";
  char label[64];
  if (!*last || strchr(last, ' '))
    return;
  for (const char *at = option->expects; at < or; at++)
    if (*at == ' ' && at[-1] != ',')
      return;
  snprintf(label, sizeof label, "%s=", option->name);
  for (const char *at = option->expects; at < or; at += strspn(at, ", ")) {
    size_t length = strcspn(at, ", ");
    print_word(label, at, length, "", option->help, stream);
    at += length;
  }
  print_word(label, last, strlen(last), "", option->help, stream);
}

void hearth_help_print_completion(const hearth_option *options, FILE *stream) {
  for (const hearth_option *option = options; option->name; option++) {
    if (*option->name != '-' && !islower((unsigned char)*option->name))
      continue; /* the name of an operand */
    print_word("", option->name, strcspn(option->name, " "), option->value ? "=" : "", option->help, stream);
    if (option->value && option->expects)
      print_values(option, stream);
  }
}
