/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block for each function of the C library, allocated by a function of that name, which nothing else accesses. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

enum { BYTES = 20000, WIDE = BYTES / 4 };

#define MAKE(name)                                                                                                     \
  __attribute__((noinline)) static char *make_##name(void) {                                                           \
    char *block = malloc(BYTES);                                                                                       \
    memset(block, 'x', BYTES);                                                                                         \
    block[BYTES - 1] = 0;                                                                                              \
    return block;                                                                                                      \
  }
#define MAKE_WIDE(name)                                                                                                \
  __attribute__((noinline)) static wchar_t *make_##name(void) {                                                        \
    wchar_t *block = malloc(BYTES);                                                                                    \
    wmemset(block, L'x', WIDE);                                                                                        \
    block[WIDE - 1] = 0;                                                                                               \
    return block;                                                                                                      \
  }

/* clang-format off */
MAKE(memcpy) MAKE(memmove) MAKE(memset) MAKE(memcmp) MAKE(memchr) MAKE(strlen) MAKE(strnlen) MAKE(strcpy) MAKE(strcat) MAKE(strncpy)
MAKE(strcmp) MAKE(strncmp) MAKE(strcasecmp) MAKE(strchr) MAKE(strrchr) MAKE(strspn)
MAKE_WIDE(wmemcpy) MAKE_WIDE(wcslen) MAKE_WIDE(wcsnlen) MAKE_WIDE(wcscpy) MAKE_WIDE(wcscmp) MAKE_WIDE(wcsncmp) MAKE_WIDE(wcsrchr)
    /* clang-format on */

    static volatile size_t sink;
#define AGAIN(expression)                                                                                              \
  for (int i = 0; i < 10; i++)                                                                                         \
  sink += (size_t)(expression)

static char text[BYTES + 100];
static wchar_t wide[WIDE + 100];

int main(void) {
  char *block;
  wchar_t *characters;

  memset(text, 'x', BYTES - 1);
  wmemset(wide, L'x', WIDE - 1);
  block = make_memcpy();
  AGAIN(memcpy(block, text, BYTES / 2));
  block = make_memmove();
  AGAIN(memmove(block + 10, block, BYTES / 2));
  block = make_memset();
  AGAIN(memset(block, i, BYTES / 3));
  block = make_memcmp();
  block[BYTES / 2] = 'y';
  AGAIN(memcmp(block, text, BYTES));
  block = make_memchr();
  block[BYTES / 2] = 'y';
  AGAIN(memchr(block, 'y', BYTES));
  block = make_strlen();
  AGAIN(strlen(block));
  block = make_strnlen();
  AGAIN(strnlen(block, BYTES / 4));
  block = make_strcpy();
  AGAIN(strcpy(block, text + BYTES / 2));
  block = make_strcat();
  block[BYTES / 2] = 0;
  AGAIN(strcat(block, "") != text);
  block = make_strncpy();
  AGAIN(strncpy(block, text, BYTES / 2));
  block = make_strcmp();
  block[BYTES / 2] = 'y';
  AGAIN(strcmp(block, text));
  block = make_strncmp();
  AGAIN(strncmp(text, block, BYTES / 4));
  block = make_strcasecmp();
  block[BYTES / 2] = 'y';
  AGAIN(strcasecmp(block, text));
  block = make_strchr();
  block[BYTES / 2] = 'y';
  AGAIN(strchr(block, 'y'));
  block = make_strrchr();
  AGAIN(strrchr(block, 'x'));
  block = make_strspn();
  AGAIN(strspn(block, "xyz"));

  characters = make_wmemcpy();
  AGAIN(wmemcpy(characters, wide, WIDE / 2));
  characters = make_wcslen();
  AGAIN(wcslen(characters));
  characters = make_wcsnlen();
  AGAIN(wcsnlen(characters, WIDE / 4));
  characters = make_wcscpy();
  AGAIN(wcscpy(characters, wide + WIDE / 2));
  characters = make_wcscmp();
  characters[WIDE / 2] = L'y';
  AGAIN(wcscmp(characters, wide));
  characters = make_wcsncmp();
  AGAIN(wcsncmp(wide, characters, WIDE / 4));
  characters = make_wcsrchr();
  AGAIN(wcsrchr(characters, L'x'));
  return 0;
}
