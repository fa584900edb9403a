/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts the pages of an indexed profile that looking up a module touches: count_pages PROFILE
 *
 * Each module (functions of one file) is looked up in a mapping of its own in which no page can be read: the handler of the
 * fault counts the page and lets it be read from then on. Opening the profile is counted, too. Three costs, each with
 * the one before:
 *
 *   numbers   all functions by their ids, their frames, the contexts that begin there with all numbers
 *   classes   from the leaf up, the callers of contexts whose classes differ, until they agree: what hints need
 *   stacks    all callers of all contexts, up to main */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hearth/classify.h"

enum { PAGE = 4096 };

enum cost { NUMBERS, CLASSES, STACKS };
static const char *const cost_names[] = {"numbers", "classes", "stacks"};

/* -------------------------------------------------- pages -------------------------------------------------- */

static uint8_t *watched;
static size_t watched_size;
static volatile size_t touched;

static void on_fault(int signal, siginfo_t *info, void *context) {
  size_t at = (size_t)((uint8_t *)info->si_addr - watched) / PAGE * PAGE;
  (void)signal, (void)context;
  if ((uint8_t *)info->si_addr < watched || at >= watched_size || mprotect(watched + at, PAGE, PROT_READ) != 0)
    abort();
  touched++;
}

static void watch(void) {
  touched = 0;
  if (mprotect(watched, watched_size, PROT_NONE) != 0)
    abort();
}

/* -------------------------------------------------- profiles -------------------------------------------------- */

static void check(hearth_status status, const hearth_error *err) {
  if (status == HEARTH_OK)
    return;
  fprintf(stderr, "count_pages: error: %s\n", err->message);
  exit(1);
}

static void *allocate(size_t count, size_t size) {
  void *room = calloc(count + 1, size);
  if (!room)
    abort();
  return room;
}

static void read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "count_pages: error: cannot read %s\n", path);
    exit(1);
  }
  watched_size = (size_t)ftell(file);
  watched = mmap(NULL, watched_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  rewind(file);
  if (watched == MAP_FAILED || fread(watched, 1, watched_size, file) != watched_size)
    abort();
  fclose(file);
}

static hearth_profile *open_watched(void) {
  hearth_profile *profile;
  hearth_error err;
  check(hearth_profile_open_memory(watched, watched_size, "profile", &profile, &err), &err);
  return profile;
}

typedef struct function_key {
  uint32_t module;
  uint64_t id;
} function_key;

static int compare_functions(const void *a, const void *b) {
  uint32_t x = ((const function_key *)a)->module, y = ((const function_key *)b)->module;
  return (x > y) - (x < y);
}

/* -------------------------------------------------- lookups -------------------------------------------------- */

/* A context on the way from its leaf to its root. */
typedef struct walker {
  uint64_t id; /* of the frame where it is, for the compiler */
  uint32_t node, caller;
  hearth_class class;
} walker;

static void arrive(hearth_profile *profile, walker *w, uint32_t node) {
  uint32_t row;
  hearth_frame_info frame;
  hearth_error err;
  check(hearth_profile_get_stack(profile, node, &row, &w->caller, &err), &err);
  check(hearth_profile_get_frame(profile, row, &frame, &err), &err);
  w->node = node;
  w->id = frame.stack_id;
}

static bool agree(const walker *walkers, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (walkers[i].class != walkers[0].class)
      return false;
  return true;
}

static int compare_walkers(const void *a, const void *b) {
  uint64_t x = ((const walker *)a)->id, y = ((const walker *)b)->id;
  return (x > y) - (x < y);
}

/* Walkers that came through the same frames so far. */
static void separate_classes(hearth_profile *profile, walker *walkers, size_t n) {
  size_t left = 0;
  if (agree(walkers, n))
    return;
  for (size_t i = 0; i < n; i++) {
    if (walkers[i].caller == HEARTH_NONE)
      continue;
    walkers[left] = walkers[i];
    arrive(profile, &walkers[left], walkers[left].caller);
    left++;
  }
  qsort(walkers, left, sizeof *walkers, compare_walkers);
  for (size_t first = 0, end; first < left; first = end) {
    for (end = first + 1; end < left && walkers[end].id == walkers[first].id; end++)
      ;
    separate_classes(profile, walkers + first, end - first);
  }
}

static void climb_all(hearth_profile *profile, walker *walkers, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (uint32_t node = walkers[i].node; node != HEARTH_NONE; node = walkers[i].caller)
      arrive(profile, &walkers[i], node);
}

static size_t look_up_frame(hearth_profile *profile, const hearth_classifier *classifier, uint32_t row,
                            enum cost cost) {
  hearth_frame_info frame;
  hearth_error err;
  check(hearth_profile_get_frame(profile, row, &frame, &err), &err);
  walker *walkers = allocate(frame.context_count, sizeof *walkers);
  for (uint32_t i = 0; i < frame.context_count; i++) {
    hearth_mib mib;
    check(hearth_profile_get_context(profile, frame.first_context + i, &walkers[i].node, &mib, &err), &err);
    walkers[i].class = hearth_classify(classifier, &mib);
    walkers[i].caller = walkers[i].node; /* it is below its leaf still */
  }
  if (cost == STACKS)
    climb_all(profile, walkers, frame.context_count);
  else if (cost == CLASSES)
    separate_classes(profile, walkers, frame.context_count);
  free(walkers);
  return frame.context_count;
}

/* Returns how many contexts begin in the module. */
static size_t look_up_module(const function_key *functions, size_t n, enum cost cost) {
  size_t contexts = 0;
  hearth_profile *profile = open_watched();
  hearth_classifier classifier;
  hearth_error err;
  check(hearth_classifier_init(&classifier, profile, NULL, &err), &err);
  for (size_t i = 0; i < n; i++) {
    uint32_t row;
    hearth_function_info function;
    check(hearth_profile_find_function(profile, functions[i].id, &row, &err), &err);
    check(hearth_profile_get_function(profile, row, &function, &err), &err);
    for (uint32_t k = 0; k < function.frame_count; k++)
      contexts += look_up_frame(profile, &classifier, function.first_frame + k, cost);
  }
  hearth_profile_close(profile);
  return contexts;
}

/* -------------------------------------------------- report -------------------------------------------------- */

/* The functions of the profile by module; *ret_count of them. */
static function_key *list_functions(size_t *ret_count) {
  hearth_profile *profile = open_watched();
  size_t n = hearth_profile_function_count(profile);
  function_key *functions = allocate(n, sizeof *functions);
  for (uint32_t i = 0; i < n; i++) {
    hearth_function_info function;
    hearth_error err;
    check(hearth_profile_get_function(profile, i, &function, &err), &err);
    functions[i] = (function_key){function.path, function.id};
  }
  printf("%.1f MiB, %u contexts, %u stack nodes, %u frames, %zu functions\n\n", (double)watched_size / 1048576,
         hearth_profile_context_count(profile), hearth_profile_stack_count(profile),
         hearth_profile_frame_count(profile), n);
  hearth_profile_close(profile);
  qsort(functions, n, sizeof *functions, compare_functions);
  *ret_count = n;
  return functions;
}

typedef struct module_cost {
  size_t pages, contexts;
} module_cost;

static int compare_costs(const void *a, const void *b) {
  size_t x = ((const module_cost *)a)->pages, y = ((const module_cost *)b)->pages;
  return (x > y) - (x < y);
}

static double percent_of_file(size_t pages) { return 100.0 * (double)(pages * PAGE) / (double)watched_size; }

static void report(const function_key *functions, size_t n, enum cost cost) {
  size_t modules = 0;
  module_cost *costs = allocate(n, sizeof *costs);
  for (size_t first = 0, end; first < n; first = end, modules++) {
    for (end = first + 1; end < n && functions[end].module == functions[first].module; end++)
      ;
    watch();
    costs[modules].contexts = look_up_module(functions + first, end - first, cost);
    costs[modules].pages = touched;
  }
  qsort(costs, modules, sizeof *costs, compare_costs);
  const module_cost *middle = &costs[modules / 2], *most = &costs[modules - 1],
                    *second = &costs[modules > 1 ? modules - 2 : 0];
  printf("%-10s%8zu%8.2f %%%10zu%10zu%8.2f %%%10zu%10zu%8.2f %%%10zu\n", cost_names[cost], middle->pages,
         percent_of_file(middle->pages), middle->contexts, second->pages, percent_of_file(second->pages),
         second->contexts, most->pages, percent_of_file(most->pages), most->contexts);
  free(costs);
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  size_t n;
  if (argc != 2) {
    fprintf(stderr, "usage: count_pages PROFILE\n");
    return 2;
  }
  read_file(argv[1]);
  function_key *functions = list_functions(&n);
  sigaction(SIGSEGV, &action, NULL);
  printf("%-10s%28s%30s%30s\n", "", "median module", "worst but one", "worst module");
  printf("%-10s%18s%10s%20s%10s%20s%10s\n", "", "pages", "contexts", "pages", "contexts", "pages", "contexts");
  for (enum cost cost = NUMBERS; cost <= STACKS; cost++)
    report(functions, n, cost);
  free(functions);
  return 0;
}
