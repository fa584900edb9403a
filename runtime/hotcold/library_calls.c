#define _GNU_SOURCE
#include "library_calls.h"

#include "call_list.h"
#include "code_symbols.h"
#include "entry.h"
#include "fatal.h"
#include "hearth/library_calls.h"
#include "hotcold_options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Atomic bool hearth_library_calls_on;

/* Written before the program's contexts are known, and read afterwards. */
static struct hearth_call_list list;
static char list_path[HEARTH_HOTCOLD_PATH_BYTES]; /* "": there is none */

/* The thread's word lies at the same distance from this in every thread: both are in what the C library sets aside for each. */
static _Thread_local char anchor __attribute__((tls_model("initial-exec")));
static uintptr_t word_distance;
static bool is_refused; /* of another plan; the user knows */

/* ------------------------------------------------- the list -------------------------------------------------- */

static void refuse(const char *path, const struct hearth_call_list_error *error) {
  char text[HEARTH_HOTCOLD_PATH_BYTES + 256];
  char line[16] = "";
  if (error->line)
    snprintf(line, sizeof line, "%u: ", error->line);
  snprintf(text, sizeof text, "%s:%s%s", path, error->line ? line : " ", error->what);
  hearth_hotcold_warn("library-calls= is ignored: ", text);
}

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Copied, as a mapped file might be changed. Returns what is wrong, or NULL. */
static const char *read_all(int descriptor, char **ret_text, size_t *ret_bytes) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status))
    return strerror(errno);
  if (!S_ISREG(status.st_mode))
    return "no regular file";
  if (status.st_size > HEARTH_LIBRARY_CALLS_BYTES_MAX)
    return "larger than a list may be";
  char *text = map((size_t)status.st_size);
  if (!text)
    return "out of memory";
  size_t bytes = 0;
  for (ssize_t got; (got = read(descriptor, text + bytes, (size_t)status.st_size - bytes)) > 0;)
    bytes += (size_t)got;
  *ret_text = text;
  *ret_bytes = bytes;
  return NULL;
}

static bool parse(const char *text, size_t bytes, struct hearth_call_list_error *ret_error) {
  uint32_t functions, hints;
  hearth_call_list_measure(text, bytes, &functions, &hints);
  list.functions = map(functions * sizeof *list.functions);
  list.hints = map(hints * sizeof *list.hints);
  if (list.functions && list.hints)
    return hearth_call_list_parse(text, bytes, &list, ret_error);
  *ret_error = (struct hearth_call_list_error){.what = "out of memory"};
  return false;
}

void hearth_library_calls_open(const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  if (!*path)
    return;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct hearth_call_list_error error = {.what = read_all(descriptor, &text, &bytes)};
  if (descriptor >= 0)
    close(descriptor);
  if (!error.what && !hearth_code_is_known())
    error.what = "needs glibc 2.35 or newer";
  if (error.what || !parse(text, bytes, &error))
    refuse(path, &error);
  else
    strcpy(list_path, path);
}

/* ------------------------------------------------ the program ------------------------------------------------ */

static void open_ranges(void) {
  if (!atomic_load_explicit(&hearth_ranges.opened, memory_order_acquire))
    hearth_ranges_open();
}

/* A program, and each library, that was compiled with a plan for library calls calls this as it starts. Files with plans of
 * several profiles have words of their own: the list's is the one that counts. */
HEARTH_EXPORT void hearth_hotcold_contexts(uint64_t plan, uint64_t *word);

void hearth_hotcold_contexts(uint64_t plan, uint64_t *word) {
  char text[160];
  open_ranges();
  if (!*list_path || atomic_load_explicit(&hearth_library_calls_on, memory_order_relaxed))
    return;
  if (plan != list.plan) {
    snprintf(text, sizeof text, " is for plan %016" PRIx64 ": not for what was compiled with plan %016" PRIx64,
             list.plan, plan);
    hearth_hotcold_warn(list_path, text);
    is_refused = true;
    return;
  }
  word_distance = (uintptr_t)word - (uintptr_t)&anchor;
  atomic_store_explicit(&hearth_library_calls_on, true, memory_order_release);
}

/* Before the program's own constructors, which allocate. */
__attribute__((constructor(101))) static void start(void) {
  if (secure_getenv("HEARTH_HOTCOLD"))
    open_ranges();
}

__attribute__((destructor)) static void end(void) {
  if (*list_path && !is_refused && !atomic_load_explicit(&hearth_library_calls_on, memory_order_relaxed))
    hearth_hotcold_warn("library-calls= was of no use: nothing in the program was compiled with the plan of ",
                        list_path);
}

/* -------------------------------------------------- calls --------------------------------------------------- */

/* What is known of return addresses: address << 16 | number of the function in the list from 1, 0 for none of them. An entry
 * is one word, so that threads need no lock; what two of them find out at once is the same. */
enum { WAYS = 4, SETS = 4096, NUMBER_BITS = 16 };
static _Atomic uint64_t known[SETS][WAYS];

_Static_assert(HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX < 1 << NUMBER_BITS, "numbers fit");

static uint64_t find_number(uintptr_t address) {
  struct hearth_code_module module;
  if (!hearth_code_module_find(address, &module))
    return 0;
  for (uint32_t i = 0; i < list.function_count; i++) {
    const struct hearth_call_function *function = &list.functions[i];
    if (hearth_code_module_names(&module, function->name, function->name_bytes, function->name_hash, address))
      return i + 1;
  }
  return 0;
}

/* Of a full set, the entry goes that was first. */
static void remember(_Atomic uint64_t *set, uint64_t entry) {
  for (unsigned i = WAYS - 1; i > 0; i--)
    atomic_store_explicit(&set[i], atomic_load_explicit(&set[i - 1], memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&set[0], entry, memory_order_relaxed);
}

static uint64_t number_of(uintptr_t address) {
  _Atomic uint64_t *set = known[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
  for (unsigned i = 0; i < WAYS; i++) {
    uint64_t entry = atomic_load_explicit(&set[i], memory_order_relaxed);
    if (entry >> NUMBER_BITS == address)
      return entry & ((1 << NUMBER_BITS) - 1);
  }
  uint64_t number = find_number(address - 1);
  remember(set, (uint64_t)address << NUMBER_BITS | number);
  return number;
}

_Static_assert(SETS == 1 << (64 - 52), "the hash has a set for each value");

bool hearth_library_calls_find(const void *caller, uint8_t *ret_hint) {
  uint64_t number = number_of((uintptr_t)caller);
  const uint64_t *word = (const uint64_t *)((uintptr_t)&anchor + word_distance);
  return number && hearth_call_function_hint(&list.functions[number - 1], *word, ret_hint);
}
