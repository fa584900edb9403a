/* `hearth index`: raw profiles and binaries -> one indexed profile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "hearth/indexer.h"
#include "hearth/profile.h"
#include "units.h"

typedef struct arguments {
  const char **inputs, **binaries, **debug_directories; /* of argc elements each */
  size_t input_count, binary_count, debug_directory_count;
  const char *output;
  bool quiet, verbose;
} arguments;

static const char usage[] =
    "Usage: hearth index PROFILE... [--binary BIN]... [--debug-dir DIR]... -o OUT\n"
    "Symbolise raw heap profiles and merge them into one indexed profile.\n"
    "\n"
    "  PROFILE       raw profiles (Hearth's or LLVM's layout), indexed profiles and text profiles, in any mixture\n"
    "  --binary BIN  a profiled program or library, with debug information (-gmlt -fdebug-info-for-profiling) and a\n"
    "                build id; without this option the files that the raw profiles name are used\n"
    "  --debug-dir DIR\n"
    "                a folder with separate debug files (DIR/.build-id/ab/cdef.debug, or by debug link), .dwo or .dwp\n"
    "                files; /usr/lib/debug and the binary's own folder are always searched\n"
    "  -o OUT        the indexed profile to write; replaced whole, or left as it is after an error\n"
    "  -q, --quiet   print errors only\n"
    "  -v, --verbose also tell which binaries are used and which not\n";

/* The value of an option that was given as "NAME=VALUE" or as "NAME" "VALUE"; *i moves on to the value then.
 * Returns false if the argument is not this option; *ret_value is NULL if the value is missing. */
static bool option_value(int argc, char **argv, int *i, const char *name, const char **ret_value) {
  if (hearth_tool_option(argv[*i], name, ret_value))
    return true;
  if (strcmp(argv[*i], name) != 0)
    return false;
  *ret_value = *i + 1 < argc ? argv[++*i] : NULL;
  return true;
}

/* Returns HEARTH_EXIT_OK or the exit code of a usage error. */
static int parse(int argc, char **argv, arguments *a) {
  bool options_end = false;
  for (int i = 1; i < argc; ++i) {
    const char *value;
    const char *arg = argv[i];
    if (options_end || arg[0] != '-' || arg[1] == '\0') {
      a->inputs[a->input_count++] = arg;
    } else if (strcmp(arg, "--") == 0) {
      options_end = true;
    } else if (strcmp(arg, "-q") == 0 || strcmp(arg, "--quiet") == 0) {
      a->quiet = true;
    } else if (strcmp(arg, "-v") == 0 || strcmp(arg, "--verbose") == 0) {
      a->verbose = true;
    } else if (option_value(argc, argv, &i, "--binary", &value)) {
      if (!value || !*value)
        return hearth_tool_usage_error("index", "--binary needs a file");
      a->binaries[a->binary_count++] = value;
    } else if (option_value(argc, argv, &i, "--debug-dir", &value)) {
      if (!value || !*value)
        return hearth_tool_usage_error("index", "--debug-dir needs a folder");
      a->debug_directories[a->debug_directory_count++] = value;
    } else if (option_value(argc, argv, &i, "-o", &value) || option_value(argc, argv, &i, "--output", &value)) {
      if (!value || !*value)
        return hearth_tool_usage_error("index", "-o needs a file");
      a->output = value;
    } else {
      return hearth_tool_usage_error("index", "unknown option '%s'", arg);
    }
  }
  if (a->input_count == 0)
    return hearth_tool_usage_error("index", "no profile was given");
  if (!a->output)
    return hearth_tool_usage_error("index", "where to write? Give -o OUT");
  return HEARTH_EXIT_OK;
}

static void on_note(void *context, hearth_note_level level, const char *text) {
  const arguments *a = context;
  if (level == HEARTH_NOTE_WARNING && !a->quiet)
    hearth_tool_warning("%s", text);
  else if (level == HEARTH_NOTE_DETAIL && a->verbose) {
    hearth_tool_progress("%s", "");
    fprintf(stderr, "hearth: %s\n", text);
  }
}

static void on_progress(void *context, const char *name, uint64_t done, uint64_t total) {
  const arguments *a = context;
  if (!a->quiet)
    hearth_tool_progress("%s: %" PRIu64 " of %" PRIu64 " addresses", name, done, total);
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

/* The summary is read back from the file: what is printed is what was written. */
static int print_summary(const char *path) {
  hearth_error err;
  hearth_profile *profile;
  hearth_profile_summary sum;
  if (hearth_profile_open(path, &profile, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  if (hearth_profile_get_summary(profile, &sum, &err) != HEARTH_OK) {
    hearth_profile_close(profile);
    return hearth_tool_error("%s", err.message);
  }
  uint32_t contexts = hearth_profile_context_count(profile), functions = hearth_profile_function_count(profile);
  hearth_profile_close(profile);
  printf("%s: %" PRIu32 " context%s, %" PRIu32 " function%s, %" PRIu64 " run%s, %s allocated, %" PRIu64
         " block%s dropped\n",
         path, contexts, plural(contexts), functions, plural(functions), sum.runs, plural(sum.runs),
         hearth_units_bytes(sum.total_bytes).c, sum.dropped_blocks, plural(sum.dropped_blocks));
  return hearth_tool_finish();
}

/* All binaries, then all inputs: one run of the command finds all that is wrong with them. */
static int index_all(const arguments *a, hearth_indexer *indexer) {
  hearth_error err;
  size_t failed = 0;
  for (size_t i = 0; i < a->debug_directory_count; ++i)
    if (hearth_indexer_add_debug_directory(indexer, a->debug_directories[i], &err) != HEARTH_OK)
      return hearth_tool_error("%s", err.message);
  for (size_t i = 0; i < a->binary_count; ++i) {
    if (!a->quiet)
      hearth_tool_progress("%s: reading debug information", a->binaries[i]);
    if (hearth_indexer_add_binary(indexer, a->binaries[i], &err) != HEARTH_OK) {
      hearth_tool_error("%s", err.message);
      ++failed;
    }
  }
  if (failed > 0)
    return HEARTH_EXIT_ERROR;
  for (size_t i = 0; i < a->input_count; ++i) {
    if (!a->quiet)
      hearth_tool_progress("%s: reading (%zu of %zu)", a->inputs[i], i + 1, a->input_count);
    if (hearth_indexer_add_input(indexer, a->inputs[i], &err) != HEARTH_OK) {
      hearth_tool_error("%s", err.message);
      ++failed;
    }
  }
  if (failed > 0)
    return HEARTH_EXIT_ERROR;
  if (!a->quiet)
    hearth_tool_progress("%s: writing", a->output);
  if (hearth_indexer_write(indexer, a->output, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_tool_progress("%s", "");
  return a->quiet ? HEARTH_EXIT_OK : print_summary(a->output);
}

int hearth_cmd_index(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(usage, stdout);
      return hearth_tool_finish();
    }
  arguments a = {.inputs = calloc((size_t)argc, sizeof(char *)),
                 .binaries = calloc((size_t)argc, sizeof(char *)),
                 .debug_directories = calloc((size_t)argc, sizeof(char *))};
  hearth_indexer_options options = {.context = &a, .note = on_note, .progress = on_progress};
  hearth_indexer *indexer = hearth_indexer_create(&options);
  int code;
  if (!a.inputs || !a.binaries || !a.debug_directories || !indexer)
    code = hearth_tool_error("out of memory");
  else if ((code = parse(argc, argv, &a)) == HEARTH_EXIT_OK)
    code = index_all(&a, indexer);
  hearth_indexer_destroy(indexer);
  free(a.inputs);
  free(a.binaries);
  free(a.debug_directories);
  return code;
}
