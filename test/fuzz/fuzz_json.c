/* Fuzz target: what is taken for a JSON object, and where its members are said to be. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct position {
  const char *at, *end;
} position;

static void check(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s\n", what);
  abort();
}

/* Members follow each other, and a member's value is itself what may stand there. */
static void check_member(void *context, const char *key, size_t key_size, const char *value, size_t value_size) {
  position *p = context;
  check(key >= p->at && key[0] == '"' && key_size >= 2 && key[key_size - 1] == '"', "not a key");
  check(value > key + key_size && value_size > 0 && value + value_size <= p->end, "a value outside of the text");
  p->at = value + value_size;
}

static void ignore(void *context, const char *key, size_t key_size, const char *value, size_t value_size) {
  (void)context, (void)key, (void)key_size, (void)value, (void)value_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = strndup((const char *)data, size);
  size_t length = strlen(text);
  position p = {text, text + length};
  const char *wrong = hearth_json_scan_object(text, check_member, &p);
  check(!wrong || (wrong >= text && wrong <= text + length), "an error outside of the text");
  if (!wrong && length > 0) { /* without its end, it is none */
    size_t last = length;
    while (text[last - 1] != '}')
      last--;
    text[last - 1] = '\0';
    check(hearth_json_scan_object(text, ignore, NULL) != NULL, "half an object");
  }
  free(text);
  return 0;
}
