/* Runs a fuzz target over files, without the fuzzer, so that its corpus is an ordinary test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    return 1;
  }
  long size = ftell(file);
  uint8_t *data = malloc(size > 0 ? (size_t)size : 1); /* of the exact size, so that a sanitizer sees reads behind it */
  rewind(file);
  int failed = !data || size < 0 || fread(data, 1, (size_t)size, file) != (size_t)size;
  if (failed)
    perror(path);
  else
    LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
  fclose(file);
  return failed;
}

int main(int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++)
    failed |= replay(argv[i]);
  printf("%d inputs\n", argc - 1);
  return failed || argc < 2;
}
