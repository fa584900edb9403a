/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs a fuzz target over files, without the fuzzer, so that its corpus is an ordinary test. If the target brings a
 * mutator, each file is also tried after a few mutations, the same ones in each run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATIONS  20
#define MUTANT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* In memory of the exact size, so that a sanitizer sees reads behind it. */
static void try_exactly(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy)
    abort();
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static void try_mutants(const uint8_t *data, size_t size) {
  uint8_t mutant[MUTANT_MAX];
  if (!LLVMFuzzerCustomMutator || size > sizeof mutant)
    return;
  for (unsigned seed = 0; seed < MUTATIONS; seed++) {
    memcpy(mutant, data, size);
    try_exactly(mutant, LLVMFuzzerCustomMutator(mutant, size, sizeof mutant, seed));
  }
}

static int replay(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    return 1;
  }
  long size = ftell(file);
  uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
  rewind(file);
  int failed = !data || size < 0 || fread(data, 1, (size_t)size, file) != (size_t)size;
  if (failed) {
    perror(path);
  } else {
    try_exactly(data, (size_t)size);
    try_mutants(data, (size_t)size);
  }
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
