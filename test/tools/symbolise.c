/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* symbolise BINARY [DEBUG-DIR]...: the frames of the ELF addresses on stdin, one hexadecimal number a line, as JSON of
 * the form that `llvm-symbolizer --output-style=JSON` prints, so that the two can be compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "index.h"

static void print_string(const char *key, const char *value) {
  printf("\"%s\":\"", key);
  for (; *value; ++value) {
    if (*value == '"' || *value == '\\')
      putchar('\\');
    putchar(*value);
  }
  printf("\",");
}

static void print_frame(const hearth_debug_info *info, const hearth_debug_frame *frame, bool first) {
  const hearth_debug_function *function =
      frame->function == HEARTH_DEBUG_NO_FUNCTION ? NULL : hearth_debug_info_function(info, frame->function);
  printf("%s{", first ? "" : ",");
  print_string("FunctionName", function ? function->name : "");
  print_string("StartFileName", function ? function->path : "");
  printf("\"StartLine\":%" PRIu32 ",\"Line\":%" PRIu32 ",\"Column\":%" PRIu32 ",\"Discriminator\":%" PRIu32 "}",
         function ? function->start_line : 0, frame->line, frame->column, frame->discriminator);
}

static int print_all(hearth_debug_info *info, hearth_error *err) {
  char line[64];
  bool first_address = true;
  printf("[");
  while (fgets(line, sizeof line, stdin)) {
    const hearth_debug_frame *frames;
    size_t count;
    uint64_t address = strtoull(line, NULL, 16);
    if (hearth_debug_info_frames(info, address, &frames, &count, err) != HEARTH_OK)
      return 1;
    printf("%s{\"Address\":\"0x%" PRIx64 "\",\"Symbol\":[", first_address ? "" : ",\n", address);
    for (size_t i = 0; i < count; ++i)
      print_frame(info, &frames[i], i == 0);
    printf("]}");
    first_address = false;
  }
  printf("]\n");
  return ferror(stdin) || fflush(stdout) != 0;
}

int main(int argc, char **argv) {
  hearth_error err = {0};
  hearth_binary *binary = NULL;
  if (argc < 2) {
    fprintf(stderr, "usage: symbolise BINARY [DEBUG-DIR]... <ADDRESSES\n");
    return 2;
  }
  int code = 1;
  hearth_debug_directories directories = {argv + 2, (size_t)argc - 2, false};
  if (hearth_binary_open(argv[1], &binary, &err) == HEARTH_OK &&
      hearth_debug_info_load(hearth_binary_debug_info(binary), directories, &err) == HEARTH_OK)
    code = print_all(hearth_binary_debug_info(binary), &err);
  if (code != 0)
    fprintf(stderr, "symbolise: %s\n", err.message);
  hearth_binary_close(binary);
  return code;
}
