/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The caller's address gives the program or library that it lies in. If a list has that file's build id, it may have the
 * address, too; if not, the functions of the lists are looked up in the file by name. What was found is remembered with the
 * address: a hint, or that the height of the stack gives it, or the function whose entry and the thread's word do. */
#define _GNU_SOURCE
#include "hinted_calls.h"

#include "call_list.h"
#include "code_symbols.h"
#include "entry.h"
#include "fatal.h"
#include "futex_lock.h"
#include "hearth/library_calls.h"
#include "hotcold_options.h"
#include "known_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct hearth_known_set *_Atomic hearth_known_calls;
static struct hearth_known_set known[HEARTH_KNOWN_SETS];

/* The list of one plan, and where the threads' words of it are. The program has one, and each library that was optimised with
 * a profile of its own. */
struct part {
  struct hearth_call_list list;
  uintptr_t word_distance; /* from `anchor` */
  uint32_t first;          /* number of its first function among those of all parts */
};

enum { PARTS_MAX = 16 };
static struct part parts[PARTS_MAX]; /* those counted do not change any more */
static _Atomic uint32_t part_count;
static struct hearth_futex_lock adding;

/* The list that the user named, in place of the program's own. */
static struct hearth_call_list named;
static char named_path[HEARTH_HOTCOLD_PATH_BYTES]; /* "": there is none */
static bool is_off;
static bool is_refused; /* it is of another plan; the user knows */

/* The thread's word lies at the same distance from this in every thread: both are in the memory that the C library sets
 * aside for each. */
static _Thread_local char anchor __attribute__((tls_model("initial-exec")));

/* A list that the program inherited. A parent that closed it has no children with hints, which is no error of theirs. */
#define DESCRIPTORS "/proc/self/fd/"

/* ------------------------------------------------- the lists ------------------------------------------------- */

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

/* Copied, as a mapped file might be changed. Returns the error, or NULL. */
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

static bool parse(const char *text, size_t bytes, struct hearth_call_list *list,
                  struct hearth_call_list_error *ret_error) {
  uint32_t lines, hints;
  hearth_call_list_measure(text, bytes, &lines, &hints);
  list->functions = map(lines * sizeof *list->functions);
  list->modules = map(lines * sizeof *list->modules);
  list->sites = map(lines * sizeof *list->sites);
  list->hints = map(hints * sizeof *list->hints);
  if (list->functions && list->modules && list->sites && list->hints)
    return hearth_call_list_parse(text, bytes, list, ret_error);
  *ret_error = (struct hearth_call_list_error){.what = "out of memory"};
  return false;
}

/* Use the named list for programs that were compiled without it. */
static void use_paths(void);

void hearth_library_calls_open(const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  is_off = strcmp(path, "off") == 0;
  if (!*path || is_off)
    return;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct hearth_call_list_error error = {.what = read_all(descriptor, &text, &bytes)};
  if (descriptor >= 0)
    close(descriptor);
  if (!error.what && !hearth_code_is_known())
    error.what = "needs glibc 2.35 or newer";
  if (error.what || !parse(text, bytes, &named, &error)) {
    is_off = true;
    if (strncmp(path, DESCRIPTORS, sizeof DESCRIPTORS - 1) != 0)
      refuse(path, &error);
  } else {
    strcpy(named_path, path);
    use_paths();
  }
}

/* ------------------------------------------------ the program ------------------------------------------------ */

static void open_ranges(void) {
  if (!atomic_load_explicit(&hearth_ranges.opened, memory_order_acquire))
    hearth_ranges_open();
}

static void find_stack_start(void);

/* Known facts about addresses may change. */
static void forget_known(void);

static void add_part(const struct hearth_call_list *list, uint64_t *word) {
  uint32_t count = atomic_load_explicit(&part_count, memory_order_relaxed);
  uint32_t first = count ? parts[count - 1].first + parts[count - 1].list.function_count : 0;
  if (count == PARTS_MAX || first + list->function_count > HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX)
    return;
  parts[count] = (struct part){.list = *list, .word_distance = (uintptr_t)word - (uintptr_t)&anchor, .first = first};
  atomic_store_explicit(&part_count, count + 1, memory_order_release);
  forget_known();
  atomic_store_explicit(&hearth_known_calls, known, memory_order_release);
}

/* What its functions heed, too, no call sets here. */
static _Thread_local uint64_t no_word __attribute__((tls_model("initial-exec")));

static void use_paths(void) {
  if (named.site_count == 0)
    return;
  find_stack_start();
  hearth_futex_lock_acquire(&adding);
  add_part(&named, &no_word);
  hearth_futex_lock_release(&adding);
}

static bool is_known_plan(uint64_t plan) {
  for (uint32_t i = atomic_load_explicit(&part_count, memory_order_relaxed); i-- > 0;)
    if (parts[i].list.plan == plan)
      return true;
  return false;
}

static void use_named(uint64_t plan, uint64_t *word) {
  char text[160];
  if (plan == named.plan) {
    add_part(&named, word);
    return;
  }
  if (atomic_load_explicit(&part_count, memory_order_relaxed) > 0)
    return;
  snprintf(text, sizeof text, " is for plan %016" PRIx64 ", but the program was compiled with plan %016" PRIx64,
           named.plan, plan);
  hearth_hotcold_warn(named_path, text);
  is_refused = true;
}

/* Copied, as the library that it is in may be closed. */
static void use_own(uint64_t plan, uint64_t *word, const char *text, size_t bytes) {
  struct hearth_call_list list;
  struct hearth_call_list_error error;
  if (bytes == 0 || bytes > HEARTH_LIBRARY_CALLS_BYTES_MAX || !hearth_code_is_known())
    return;
  char *copy = map(bytes);
  if (!copy)
    return;
  memcpy(copy, text, bytes);
  if (parse(copy, bytes, &list, &error) && list.plan == plan)
    add_part(&list, word);
}

/* A program, and each library, that was compiled with a plan for library calls calls this as it starts: with the id of the
 * plan, the thread's word, and the plan's list. */
HEARTH_EXPORT void hearth_hotcold_library_calls(uint64_t plan, uint64_t *word, const char *list, uint64_t bytes);

void hearth_hotcold_library_calls(uint64_t plan, uint64_t *word, const char *list, uint64_t bytes) {
  open_ranges();
  if (is_off)
    return;
  hearth_futex_lock_acquire(&adding);
  if (!is_known_plan(plan) && *named_path)
    use_named(plan, word);
  else if (!is_known_plan(plan))
    use_own(plan, word, list, bytes);
  hearth_futex_lock_release(&adding);
}

/* Before the program's own constructors, which allocate. */
__attribute__((constructor(101))) static void start(void) {
  if (secure_getenv("HEARTH_HOTCOLD"))
    open_ranges();
}

__attribute__((destructor)) static void end(void) {
  if (*named_path && !is_refused && !atomic_load_explicit(&hearth_known_calls, memory_order_relaxed))
    hearth_hotcold_warn("library-calls= was of no use: nothing in the program was compiled with the plan of ",
                        named_path);
}

/* -------------------------------------------------- calls --------------------------------------------------- */

_Static_assert((int)HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX < (int)HEARTH_KNOWN_BY_HINT, "numbers are lower");

#define MADE_UP (UINT64_C(1) << 47)

static void forget_known(void) {
  for (unsigned set = 0; set < HEARTH_KNOWN_SETS; set++)
    for (unsigned way = 0; way < HEARTH_KNOWN_WAYS; way++)
      atomic_store_explicit(&known[set].entries[way], 0, memory_order_relaxed);
}

static uint64_t number_in(const struct part *part, const struct hearth_code_module *module, uintptr_t address) {
  for (uint32_t i = 0; i < part->list.function_count; i++) {
    const struct hearth_call_function *function = &part->list.functions[i];
    if (hearth_code_module_names(module, function->name, function->name_bytes, function->name_hash, address))
      return part->first + i + 1;
  }
  return 0;
}

static const struct hearth_call_site *site_in(const struct part *part, const struct hearth_code_module *module,
                                              uintptr_t address) {
  if (part->list.site_count == 0 || !module->build_id)
    return NULL;
  return hearth_call_site_find(&part->list, module->build_id, module->build_id_size,
                               hearth_code_module_offset(module, address - 1) + 1);
}

static uint64_t code_of_hint(const struct hearth_call_site *site, uint32_t height) {
  uint8_t hint;
  return hearth_call_site_hint(site, height, &hint) ? HEARTH_KNOWN_BY_HINT + (hearth_pool_of_hint(hint) << 8) + hint
                                                    : 0;
}

/* The code of a return address; with `height`, unless NULL, one that does not depend on it any more. The program starts
 * behind its libraries: if several lists have a function, the program's list counts. */
static uint64_t find_code(uintptr_t address, const uint32_t *height) {
  struct hearth_code_module module;
  uint64_t number = 0;
  if (!hearth_code_module_find(address - 1, &module))
    return 0;
  for (uint32_t i = atomic_load_explicit(&part_count, memory_order_acquire); i-- > 0 && number == 0;) {
    const struct hearth_call_site *site = site_in(&parts[i], &module, address);
    if (site)
      return site->height_count == 0 ? code_of_hint(site, 0)
             : height                ? code_of_hint(site, *height)
                                     : HEARTH_KNOWN_BY_HEIGHT;
    number = number_in(&parts[i], &module, address - 1);
  }
  return number;
}

/* In a full set, the oldest entry goes. */
static void remember(_Atomic uint64_t *set, uint64_t entry) {
  for (unsigned i = HEARTH_KNOWN_WAYS - 1; i > 0; i--)
    atomic_store_explicit(&set[i], atomic_load_explicit(&set[i - 1], memory_order_acquire), memory_order_release);
  atomic_store_explicit(&set[0], entry, memory_order_release);
}

static inline _Atomic uint64_t *set_of(uint64_t key) { return hearth_known_set_of(known, key)->entries; }

static inline bool recall(uint64_t key, uint64_t *ret_code) {
  _Atomic uint64_t *set = set_of(key);
  for (unsigned i = 0; i < HEARTH_KNOWN_WAYS; i++) {
    uint64_t entry = atomic_load_explicit(&set[i], memory_order_acquire); /* the part that it is of is there, too */
    *ret_code = hearth_known_code(entry);
    if (hearth_known_key(entry) == key)
      return true;
  }
  return false;
}

static __attribute__((noinline)) uint64_t learn(uint64_t key, uintptr_t address, const uint32_t *height) {
  uint64_t code = find_code(address, height);
  if (hearth_known_is_hint(code) && (code - HEARTH_KNOWN_BY_HINT) >> 8 == HEARTH_POOL_UNKNOWN) /* not so for long */
    return code;
  remember(set_of(key), key << HEARTH_KNOWN_CODE_BITS | code);
  return code;
}

/* Where the kernel started the program; 0: not known. Heights are of the main thread. */
extern void *stack_end __asm__("__libc_stack_end") __attribute__((weak));
static uintptr_t stack_start, main_thread;

static uintptr_t this_thread(void) { return (uintptr_t)&anchor; }

/* A process has one thread when its libraries start. */
static void find_stack_start(void) {
  stack_start = &stack_end ? (uintptr_t)stack_end : 0;
  main_thread = this_thread();
}

static uint64_t code_at_height(uintptr_t address, uintptr_t stack) {
  uint32_t height = this_thread() == main_thread && stack < stack_start ? (uint32_t)(stack_start - stack) : 0;
  uint64_t key = ((address * UINT64_C(0xd6e8feb86659fd93) + height) * UINT64_C(0x9e3779b97f4a7c15) >> 17) | MADE_UP,
           code;
  return recall(key, &code) ? code : learn(key, address, &height);
}

bool hearth_library_calls_find(struct hearth_caller caller, uint8_t *ret_hint) {
  uint64_t code;
  if (!recall(caller.address, &code))
    code = learn(caller.address, caller.address, NULL);
  if (code == HEARTH_KNOWN_BY_HEIGHT)
    code = code_at_height(caller.address, caller.stack);
  if (code == 0)
    return false;
  if (hearth_known_is_hint(code)) {
    *ret_hint = (uint8_t)code;
    return true;
  }
  const struct part *part = parts;
  while (code > part->first + part->list.function_count)
    part++;
  const uint64_t *word = (const uint64_t *)((uintptr_t)&anchor + part->word_distance);
  return hearth_call_function_hint(&part->list.functions[code - 1 - part->first], *word, ret_hint);
}
