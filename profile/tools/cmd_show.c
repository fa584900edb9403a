/* hearth show: what a profile says, for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "hearth/classify.h"
#include "hearth/ids.h"
#include "hearth/profile.h"
#include "units.h"

enum { DEFAULT_FUNCTIONS = 20, DEFAULT_CONTEXTS = 5 };
#define CLASSES (HEARTH_CLASS_HOT + 1)

typedef enum sort_key { SORT_BYTES, SORT_ACCESSES, SORT_LIFETIME, SORT_COUNT } sort_key;
static const char *const sort_names[] = {"bytes", "accesses", "lifetime", "count", NULL};
static const char *const mode_names[] = {"auto", "llvm", NULL}; /* as hearth_classify_mode */

typedef struct show_options {
  const char *path;
  const char *function; /* NULL: all */
  sort_key sort;
  hearth_classify_mode mode;
  hearth_class only; /* HEARTH_CLASS_UNKNOWN: all */
  size_t top;        /* functions to print */
  size_t contexts;   /* to print for each */
  bool text;
} show_options;

typedef struct totals {
  uint64_t contexts, allocs, bytes, accesses, lifetime_ns;
} totals;

typedef struct context_row {
  uint32_t context;
  uint32_t function; /* of the leaf frame */
  hearth_class hotness;
  totals sum;
} context_row;

/* Contexts [first, first + sum.contexts) of the report that were allocated by one function. */
typedef struct function_group {
  uint32_t function;
  size_t first;
  totals sum;
} function_group;

typedef struct report {
  hearth_profile *profile;
  const show_options *options;
  hearth_classifier classifier, other; /* of the mode that was asked for, and of the other one */
  hearth_profile_summary summary;
  context_row *rows; /* those that pass the filters; grouped by function, then sorted */
  function_group *groups;
  size_t row_count, group_count;
  totals classes[CLASSES], other_classes[CLASSES], all, shown;
} report;

/* -------------------------------------------------- options -------------------------------------------------- */

static const char help[] =
    "Usage: hearth show [OPTION]... PROFILE\n"
    "Print the contexts of an indexed profile by allocating function, heaviest first.\n\n"
    "  --top=N                 print N functions (default 20)\n"
    "  --full                  print all functions and all their contexts\n"
    "  --function=TEXT         only contexts with TEXT in the name of one of their functions\n"
    "  --class=CLASS           only contexts that are cold, hot or notcold\n"
    "  --sort=KEY              bytes (default), accesses, lifetime (average) or count (allocations)\n"
    "  --classify=MODE         auto (default): relative to this run; llvm: LLVM's absolute thresholds\n"
    "  --text                  print the text form, which 'hearth index' reads, and nothing else\n"
    "  --metadata-stats        print what its contexts would be as LLVM metadata, and what chaining saves\n\n"
    "C++ names are printed as they are linked: pipe the output through c++filt.\n";

/* Position of `value` in a NULL-terminated list, or -1. */
static int find_name(const char *const *names, const char *value) {
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], value) == 0)
      return i;
  return -1;
}

static bool parse_count(const char *value, size_t *ret) {
  char *end;
  unsigned long long n = strtoull(value, &end, 10);
  *ret = (size_t)n;
  return *value >= '0' && *value <= '9' && *end == '\0';
}

static bool parse_class(const char *value, hearth_class *ret) {
  for (*ret = HEARTH_CLASS_COLD; *ret < CLASSES; (*ret)++)
    if (strcmp(hearth_class_name(*ret), value) == 0)
      return true;
  return false;
}

static int parse_option(const char *argument, show_options *options) {
  const char *value;
  int choice = 0;
  bool good = true;
  if (strcmp(argument, "--full") == 0) {
    options->top = options->contexts = SIZE_MAX;
  } else if (strcmp(argument, "--text") == 0) {
    options->text = true;
  } else if (hearth_tool_option(argument, "--function", &value)) {
    options->function = value;
  } else if (hearth_tool_option(argument, "--top", &value)) {
    good = parse_count(value, &options->top);
  } else if (hearth_tool_option(argument, "--class", &value)) {
    good = parse_class(value, &options->only);
  } else if (hearth_tool_option(argument, "--sort", &value)) {
    good = (choice = find_name(sort_names, value)) >= 0;
    options->sort = (sort_key)choice;
  } else if (hearth_tool_option(argument, "--classify", &value)) {
    good = (choice = find_name(mode_names, value)) >= 0;
    options->mode = (hearth_classify_mode)choice;
  } else {
    return hearth_tool_usage_error("show", "unknown option '%s'", argument);
  }
  return good ? HEARTH_EXIT_OK : hearth_tool_usage_error("show", "unusable value in '%s'", argument);
}

static int parse_options(int argc, char **argv, show_options *options) {
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] != '\0') {
      int code = parse_option(argv[i], options);
      if (code != HEARTH_EXIT_OK)
        return code;
    } else if (options->path) {
      return hearth_tool_usage_error("show", "one profile at a time, not '%s' too", argv[i]);
    } else {
      options->path = argv[i];
    }
  }
  return options->path ? HEARTH_EXIT_OK : hearth_tool_usage_error("show", "which profile?");
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* Names come from a file: no escape sequences to the terminal. */
static void print_name(const char *name, int width) {
  int printed = 0;
  for (; *name; name++, printed++)
    putchar((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
  printf("%*s", printed < width ? width - printed : 0, "");
}

/* -------------------------------------------------- collecting -------------------------------------------------- */

static void add_totals(totals *to, const totals *more) {
  to->contexts += more->contexts;
  to->allocs = hearth_merge_SUM(to->allocs, more->allocs);
  to->bytes = hearth_merge_SUM(to->bytes, more->bytes);
  to->accesses = hearth_merge_SUM(to->accesses, more->accesses);
  to->lifetime_ns = hearth_merge_SUM(to->lifetime_ns, more->lifetime_ns);
}

static double sort_value(sort_key key, const totals *sum) {
  switch (key) {
  case SORT_BYTES:
    return (double)sum->bytes;
  case SORT_ACCESSES:
    return (double)sum->accesses;
  case SORT_LIFETIME:
    return ratio(sum->lifetime_ns, sum->allocs);
  case SORT_COUNT:
    break;
  }
  return (double)sum->allocs;
}

static sort_key current_sort; /* qsort passes no context */

static int compare_totals(const totals *a, const totals *b) {
  double x = sort_value(current_sort, a), y = sort_value(current_sort, b);
  return (x < y) - (x > y); /* greatest first */
}

static int compare_rows(const void *a, const void *b) {
  const context_row *x = a, *y = b;
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  int order = compare_totals(&x->sum, &y->sum);
  return order ? order : x->context < y->context ? -1 : 1;
}

static int compare_groups(const void *a, const void *b) {
  const function_group *x = a, *y = b;
  int order = compare_totals(&x->sum, &y->sum);
  return order ? order : x->function < y->function ? -1 : 1;
}

/* Is the text that is looked for in the name of one of the stack's functions? `matches` has a byte for each function.
 */
static hearth_status stack_matches(const report *r, const char *matches, uint32_t node, bool *ret, hearth_error *err) {
  *ret = !r->options->function;
  while (node != HEARTH_NONE && !*ret) {
    uint32_t frame_row;
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_stack(r->profile, node, &frame_row, &node, err));
    HEARTH_TRY(hearth_profile_get_frame(r->profile, frame_row, &frame, err));
    *ret = matches[frame.function];
  }
  return HEARTH_OK;
}

static hearth_status find_functions(const report *r, char *matches, hearth_error *err) {
  for (uint32_t i = 0; r->options->function && i < hearth_profile_function_count(r->profile); i++) {
    hearth_function_info f;
    HEARTH_TRY(hearth_profile_get_function(r->profile, i, &f, err));
    matches[i] = strstr(f.name, r->options->function) != NULL;
  }
  return HEARTH_OK;
}

static hearth_status collect_context(report *r, const char *matches, uint32_t context, hearth_error *err) {
  uint32_t node, frame_row, parent;
  hearth_mib mib;
  hearth_frame_info frame;
  bool wanted;
  HEARTH_TRY(hearth_profile_get_context(r->profile, context, &node, &mib, err));
  HEARTH_TRY(hearth_profile_get_stack(r->profile, node, &frame_row, &parent, err));
  HEARTH_TRY(hearth_profile_get_frame(r->profile, frame_row, &frame, err));
  HEARTH_TRY(stack_matches(r, matches, node, &wanted, err));
  context_row row = {.context = context,
                     .function = frame.function,
                     .hotness = hearth_classify(&r->classifier, &mib),
                     .sum = {1, mib.AllocCount, mib.TotalSize, mib.TotalAccessCount, mib.TotalLifetime}};
  add_totals(&r->classes[row.hotness], &row.sum);
  add_totals(&r->other_classes[hearth_classify(&r->other, &mib)], &row.sum);
  add_totals(&r->all, &row.sum);
  if (!wanted || (r->options->only != HEARTH_CLASS_UNKNOWN && r->options->only != row.hotness))
    return HEARTH_OK;
  add_totals(&r->shown, &row.sum);
  r->rows[r->row_count++] = row;
  return HEARTH_OK;
}

static void group_rows(report *r) {
  current_sort = r->options->sort;
  qsort(r->rows, r->row_count, sizeof *r->rows, compare_rows);
  for (size_t i = 0; i < r->row_count; i++) {
    if (i == 0 || r->rows[i].function != r->rows[i - 1].function)
      r->groups[r->group_count++] = (function_group){.function = r->rows[i].function, .first = i};
    add_totals(&r->groups[r->group_count - 1].sum, &r->rows[i].sum);
  }
  qsort(r->groups, r->group_count, sizeof *r->groups, compare_groups);
}

static hearth_status collect(report *r, hearth_error *err) {
  size_t contexts = hearth_profile_context_count(r->profile), functions = hearth_profile_function_count(r->profile);
  char *matches = calloc(functions + 1, 1);
  r->rows = malloc((contexts + 1) * sizeof *r->rows);
  r->groups = malloc((functions + 1) * sizeof *r->groups);
  hearth_status status = matches && r->rows && r->groups
                             ? find_functions(r, matches, err)
                             : hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", r->options->path);
  for (uint32_t i = 0; status == HEARTH_OK && i < contexts; i++)
    status = collect_context(r, matches, i, err);
  free(matches);
  if (status == HEARTH_OK)
    group_rows(r);
  return status;
}

/* -------------------------------------------------- printing -------------------------------------------------- */

static hearth_status print_binaries(const report *r, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_binary_count(r->profile); i++) {
    const char *name;
    const uint8_t *build_id;
    uint32_t size;
    HEARTH_TRY(hearth_profile_get_binary(r->profile, i, &name, &build_id, &size, err));
    printf("  binary     ");
    print_name(name, 0);
    printf(size ? ", build id " : ", no build id");
    for (uint32_t k = 0; k < size; k++)
      printf("%02x", build_id[k]);
    putchar('\n');
  }
  return HEARTH_OK;
}

static hearth_status print_header(const report *r, hearth_error *err) {
  const hearth_profile_summary *s = &r->summary;
  printf("%s: heap profile of %llu run%s, %s on average%s\n", r->options->path, (unsigned long long)s->runs,
         plural(s->runs), hearth_units_time(ratio(s->duration_ns, s->runs)).c,
         s->id_scheme == HEARTH_IDS_LLVM ? ", LLVM's function ids" : "");
  HEARTH_TRY(print_binaries(r, err));
  printf("  allocated  %s (%llu bytes) by %llu allocation%s\n", hearth_units_bytes(s->total_bytes).c,
         (unsigned long long)s->total_bytes, (unsigned long long)s->total_allocs, plural(s->total_allocs));
  if (s->accesses_counted)
    printf("  accesses   %llu loads and stores\n", (unsigned long long)s->total_accesses);
  else
    printf("  accesses   not counted in every run: nothing can be called hot or cold\n");
  printf("  dropped    %llu allocation%s without a record, %llu address%s in no known binary\n",
         (unsigned long long)s->dropped_blocks, plural(s->dropped_blocks), (unsigned long long)s->dropped_frames,
         s->dropped_frames == 1 ? "" : "es");
  return HEARTH_OK;
}

static void print_thresholds(const report *r) {
  const hearth_classifier *c = &r->classifier;
  if (!r->summary.accesses_counted)
    return;
  printf("\nClasses (--classify=%s), by accesses per byte and second of life:\n", mode_names[c->mode]);
  if (c->cold_max_density < 0)
    printf("  cold       none\n");
  else
    printf("  cold       %s %.4g, with an average lifetime of at least %s\n",
           c->mode == HEARTH_CLASSIFY_LLVM ? "less than" : "at most", c->cold_max_density,
           hearth_units_time(c->cold_min_lifetime_ns).c);
  printf("  hot        %s %.4g\n", c->mode == HEARTH_CLASSIFY_LLVM ? "more than" : "at least", c->hot_min_density);
}

static void print_class_table(const report *r) {
  printf("\n  %-8s %10s %14s %22s %22s\n", "class", "contexts", "allocations", "bytes", "accesses");
  for (hearth_class c = HEARTH_CLASS_COLD; c < CLASSES; c++) {
    const totals *t = &r->classes[c];
    printf("  %-8s %10llu %14llu %12s (%5.1f%%) %13llu (%5.1f%%)\n", hearth_class_name(c),
           (unsigned long long)t->contexts, (unsigned long long)t->allocs, hearth_units_bytes(t->bytes).c,
           100 * ratio(t->bytes, r->all.bytes), (unsigned long long)t->accesses,
           100 * ratio(t->accesses, r->all.accesses));
  }
}

static void print_place(const char *path, uint32_t start_line, const hearth_frame_info *frame) {
  print_name(*path ? hearth_base_name(path) : "?", 0);
  if (frame->line == HEARTH_LINE_UNKNOWN)
    printf(":?");
  else if (start_line)
    printf(":%u", start_line + frame->line); /* lines of included files may precede the first one: offsets wrap */
  else
    printf(":+%u", frame->line);
  if (frame->column)
    printf(":%u", frame->column);
  if (frame->discriminator)
    printf(" discriminator %u", frame->discriminator);
  printf("%s\n", frame->inlined ? " (inlined)" : "");
}

static hearth_status print_function_name(const report *r, uint32_t row, int width, hearth_function_info *ret,
                                         char path[HEARTH_PATH_LIMIT], hearth_error *err) {
  char id[24];
  HEARTH_TRY(hearth_profile_get_function(r->profile, row, ret, err));
  HEARTH_TRY(hearth_profile_get_path(r->profile, ret->path, path, HEARTH_PATH_LIMIT, err));
  snprintf(id, sizeof id, "0x%016llx", (unsigned long long)ret->id);
  print_name(*ret->name ? ret->name : id, width);
  return HEARTH_OK;
}

static hearth_status print_stack(const report *r, uint32_t node, hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  while (node != HEARTH_NONE) {
    uint32_t row;
    hearth_frame_info frame;
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_stack(r->profile, node, &row, &node, err));
    HEARTH_TRY(hearth_profile_get_frame(r->profile, row, &frame, err));
    printf("      ");
    HEARTH_TRY(print_function_name(r, frame.function, 28, &function, path, err));
    printf("  ");
    print_place(path, function.start_line, &frame);
  }
  return HEARTH_OK;
}

static hearth_status print_context(const report *r, const context_row *row, hearth_error *err) {
  uint32_t node;
  hearth_mib m;
  HEARTH_TRY(hearth_profile_get_context(r->profile, row->context, &node, &m, err));
  printf("\n   %s: %llu allocation%s, %s (%llu bytes), %.1f bytes on average\n", hearth_class_name(row->hotness),
         (unsigned long long)m.AllocCount, plural(m.AllocCount), hearth_units_bytes(m.TotalSize).c,
         (unsigned long long)m.TotalSize, ratio(m.TotalSize, m.AllocCount));
  printf("   lives %s on average, %llu live at exit", hearth_units_time(ratio(m.TotalLifetime, m.AllocCount)).c,
         (unsigned long long)m.LiveAtExit);
  if (r->summary.accesses_counted)
    printf(", %.1f accesses per allocation, %.0f%% of it used", ratio(m.TotalAccessCount, m.AllocCount),
           ratio(m.TotalPercentUtilized, m.AllocCount));
  putchar('\n');
  return print_stack(r, node, err);
}

static void print_other_mode(const report *r) {
  const totals *cold = &r->other_classes[HEARTH_CLASS_COLD], *hot = &r->other_classes[HEARTH_CLASS_HOT];
  if (r->summary.accesses_counted)
    printf("  --classify=%s: %llu cold with %s, %llu hot with %s\n", mode_names[r->other.mode],
           (unsigned long long)cold->contexts, hearth_units_bytes(cold->bytes).c, (unsigned long long)hot->contexts,
           hearth_units_bytes(hot->bytes).c);
}

static void print_left_out(const char *indent, size_t n, const char *what, const totals *sum) {
  printf("\n%s... and %zu more %s%s with %s in %llu allocation%s (--full prints all)\n", indent, n, what, plural(n),
         hearth_units_bytes(sum->bytes).c, (unsigned long long)sum->allocs, plural(sum->allocs));
}

static hearth_status print_group(const report *r, size_t number, const function_group *g, hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  hearth_function_info function;
  totals left_out = {0};
  printf("\n%zu. ", number);
  HEARTH_TRY(print_function_name(r, g->function, 0, &function, path, err));
  printf(" (");
  print_name(*path ? path : "unknown file", 0);
  printf("): %s in %llu context%s, %llu allocation%s\n", hearth_units_bytes(g->sum.bytes).c,
         (unsigned long long)g->sum.contexts, plural(g->sum.contexts), (unsigned long long)g->sum.allocs,
         plural(g->sum.allocs));
  for (size_t i = 0; i < g->sum.contexts; i++) {
    if (i < r->options->contexts)
      HEARTH_TRY(print_context(r, &r->rows[g->first + i], err));
    else
      add_totals(&left_out, &r->rows[g->first + i].sum);
  }
  if (left_out.contexts)
    print_left_out("   ", left_out.contexts, "context", &left_out);
  return HEARTH_OK;
}

static hearth_status print_groups(const report *r, hearth_error *err) {
  totals left_out = {0};
  if (r->shown.contexts != r->all.contexts)
    printf("\n%llu of %llu contexts, with %s, pass the filters.\n", (unsigned long long)r->shown.contexts,
           (unsigned long long)r->all.contexts, hearth_units_bytes(r->shown.bytes).c);
  for (size_t i = 0; i < r->group_count; i++) {
    if (i < r->options->top)
      HEARTH_TRY(print_group(r, i + 1, &r->groups[i], err));
    else
      add_totals(&left_out, &r->groups[i].sum);
  }
  if (r->group_count > r->options->top)
    print_left_out("", r->group_count - r->options->top, "function", &left_out);
  return HEARTH_OK;
}

static hearth_status print_report(hearth_profile *profile, const show_options *options, hearth_error *err) {
  report r = {.profile = profile, .options = options};
  hearth_classify_options classify = {.mode = options->mode};
  hearth_classify_options other = {.mode = options->mode == HEARTH_CLASSIFY_LLVM ? HEARTH_CLASSIFY_AUTO
                                                                                 : HEARTH_CLASSIFY_LLVM};
  HEARTH_TRY(hearth_profile_get_summary(profile, &r.summary, err));
  HEARTH_TRY(hearth_classifier_init(&r.classifier, profile, &classify, err));
  HEARTH_TRY(hearth_classifier_init(&r.other, profile, &other, err));
  hearth_status status = collect(&r, err);
  if (status == HEARTH_OK)
    status = print_header(&r, err);
  if (status == HEARTH_OK) {
    print_thresholds(&r);
    print_class_table(&r);
    print_other_mode(&r);
    status = print_groups(&r, err);
  }
  free(r.rows);
  free(r.groups);
  return status;
}

/* Everything but the option itself is for `hearth-ir stats`. */
static int show_metadata_stats(int argc, char **argv) {
  char *arguments[argc + 2];
  int n = 2;
  arguments[1] = "stats";
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--metadata-stats") != 0)
      arguments[n++] = argv[i];
  arguments[n] = NULL;
  return hearth_tool_run_ir(arguments);
}

int hearth_cmd_show(int argc, char **argv) {
  show_options options = {.top = DEFAULT_FUNCTIONS, .contexts = DEFAULT_CONTEXTS};
  hearth_profile *profile = NULL;
  hearth_error err;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(help, stdout);
      return hearth_tool_finish();
    }
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--metadata-stats") == 0)
      return show_metadata_stats(argc, argv);
  int code = parse_options(argc, argv, &options);
  if (code != HEARTH_EXIT_OK)
    return code;
  hearth_status status = hearth_profile_open(options.path, &profile, &err);
  if (status == HEARTH_OK)
    status = hearth_profile_verify(profile, &err);
  if (status == HEARTH_OK)
    status = options.text ? hearth_profile_print_text(profile, stdout, &err) : print_report(profile, &options, &err);
  hearth_profile_close(profile);
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_error("%s", err.message);
}
