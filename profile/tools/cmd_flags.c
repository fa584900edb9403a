/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth flags`: the compiler and linker flags for a profiling build, and for a build that uses a profile.
 *
 * The output is meant for the shell's command substitution, which splits at blanks and knows no quotes: a path with a
 * blank in it is refused there, and takes --quote. Inside, words stand one a line. */
#define _GNU_SOURCE /* open_memstream under strict C */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "hearth/plan.h"
#include "hearth/profile.h"

static const hearth_help help = {
    .usage = "flags instrument [--clang=CLANG] [--compile|--link|--preload] [--quote] [--static] [--globals]\n"
             "flags use PROFILE [--clang=CLANG] [--compile|--link|--preload] [--quote] [--static] "
             "[--globals] [--huge-globals] [--lto=thin|full]\n"
             "flags malloc [--link|--preload] [--quote] [--static]",
    .about = "Print flags for clang on one line: clang $(hearth flags instrument) ... Those of 'malloc' are for any "
             "compiler.",
    .end = "Without --compile and --link all flags are printed. Every step of programs and shared objects takes them, "
           "any number of times (with --static, programs only)."};

typedef struct arguments {
  const char *profile; /* NULL for a profiling build */
  bool is_malloc;      /* Hearth's allocator alone, without a profile */
  const char *clang;
  const char *lto; /* NULL without */
  bool compile, link, preload, quote, is_static, globals, huge_globals;
} arguments;

/* Returns HEARTH_EXIT_OK or the exit code of a usage error. */
static int flags_command_check(int operands, char **argv, arguments *a) {
  bool instrument = operands > 0 && strcmp(argv[1], "instrument") == 0;
  bool use = operands > 0 && strcmp(argv[1], "use") == 0;
  a->is_malloc = operands > 0 && strcmp(argv[1], "malloc") == 0;
  if (!instrument && !use && !a->is_malloc)
    return hearth_tool_usage_error("flags", "say 'instrument', 'use PROFILE' or 'malloc'");
  if (use && operands == 1)
    return hearth_tool_usage_error("flags", "'use' needs the indexed profile");
  if (operands > 1 + use)
    return hearth_tool_usage_error("flags", "unexpected argument '%s'", argv[2 + use]);
  if (use && strcmp(argv[2], "-") == 0)
    return hearth_tool_usage_error("flags", "compilers read the profile by its path, not from standard input");
  if (a->preload && (a->compile || a->link || a->quote || a->is_static || a->lto))
    return hearth_tool_usage_error("flags", "'--preload' goes with no other option");
  if (a->globals && (a->is_malloc || a->preload))
    return hearth_tool_usage_error("flags", "'--globals' goes with 'instrument' and 'use'");
  if (a->huge_globals && !(use && a->globals))
    return hearth_tool_usage_error("flags", "'--huge-globals' goes with 'use' and '--globals'");
  if (a->is_malloc && (a->compile || a->clang))
    return hearth_tool_usage_error("flags", "'malloc' is for linking: '--compile' and '--clang' do not go with it");
  if (a->lto && !use)
    return hearth_tool_usage_error("flags", "'--lto' goes with 'use': profiling builds need nothing for it");
  if (a->lto && strcmp(a->lto, "thin") != 0 && strcmp(a->lto, "full") != 0)
    return hearth_tool_usage_error("flags", "'--lto' is thin or full, not '%s'", a->lto);
  a->profile = use ? argv[2] : NULL;
  return HEARTH_EXIT_OK;
}

static bool flags_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  *a = (arguments){.clang = NULL};
  const hearth_option options[] = {
      {.name = "instrument", .help = "for a build that writes a heap profile when it runs"},
      {.name = "use PROFILE", .help = "for a build that is optimised with this indexed profile"},
      {.name = "malloc", .help = "for a program that takes Hearth's allocator for every block, without any profile"},
      HEARTH_TEXT(
          "--clang", 0, "CLANG", "a compiler", &a->clang,
          "the compiler that the flags are for (default: clang of the newest LLVM that a plugin is installed for)"),
      HEARTH_FLAG("--compile", 0, &a->compile, "flags for compiling only (CFLAGS, CXXFLAGS)"),
      HEARTH_FLAG("--link", 0, &a->link, "flags for linking only (LDFLAGS)"),
      HEARTH_FLAG(
          "--preload", 0, &a->preload,
          "print the shared object for LD_PRELOAD, for a program that was built without Hearth and loads plug-ins "
          "that were built with it"),
      HEARTH_FLAG(
          "--quote", 0, &a->quote,
          "quote words with blanks and the like, as eval, make and CMake read them: eval \"clang $(hearth flags use "
          "'a b.heap' --quote) ...\""),
      HEARTH_FLAG("--static", 0, &a->is_static,
                  "make Hearth's code a part of the program, which then runs where Hearth is not installed; programs "
                  "linked with -static-pie need it in both builds, programs linked with -static for 'use'"),
      HEARTH_FLAG(
          "--globals", 0, &a->globals,
          "count accesses of global variables, too; with 'use', have GNU ld or lld keep hot and untouched ones apart: "
          "in each link, give these flags for linking once"),
      HEARTH_FLAG("--huge-globals", 0, &a->huge_globals,
                  "with --globals: ask for huge pages where hot global variables without an initial value fill them"),
      HEARTH_TEXT("--lto", 0, "KIND", "thin or full", &a->lto,
                  "link-time optimisation, thin or full, with lld: tells contexts of the whole program apart (before "
                  "LLVM 19: within each file only)"),
      {0}};
  int operands;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code) ||
      (*ret_code = flags_command_check(operands, argv, a)) != HEARTH_EXIT_OK)
    return false;
  if (!a->compile && !a->link && !a->preload) {
    a->compile = !a->is_malloc;
    a->link = true;
  }
  return true;
}

/* Run `clang --version` and keep the beginning of its output. Returns false if it cannot be run or fails. */
static bool read_version(const char *clang, char *output, size_t size) {
  int ends[2];
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execlp(clang, clang, "--version", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t got;
  char rest[256]; /* read to the end: the compiler must not die of a closed pipe */
  while (child > 0 && ((got = read(ends[0], rest, sizeof rest)) > 0 || (got < 0 && errno == EINTR))) {
    size_t room = size - 1 - length;
    size_t take = got < 0 ? 0 : (size_t)got < room ? (size_t)got : room;
    memcpy(output + length, rest, take);
    length += take;
  }
  output[length] = '\0';
  close(ends[0]);
  int state = -1;
  while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  return child > 0 && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/* The release of a clang that lies in a folder .../llvm-N/bin, as distributions have it: nothing is run. 0: elsewhere. */
static int release_by_folder(const char *clang) {
  char path[PATH_MAX], real[PATH_MAX], end;
  int release;
  if (!hearth_program_find(clang, path, sizeof path) || !realpath(path, real))
    return 0;
  const char *folder = strstr(real, "/llvm-"), *name = strrchr(real, '/');
  if (!folder || sscanf(folder, "/llvm-%d%c", &release, &end) != 2 || end != '/' || strncmp(name, "/clang", 6) != 0)
    return 0;
  return release;
}

/* The plugin is loaded into the compiler, so it must be the one for the same major release. `clang` is NULL for the
 * newest. Returns an exit code. */
static int find_plugin(const char *clang, int *ret_release, char *plugin, size_t size) {
  char output[1024], standard[32];
  int newest = hearth_tool_release_below(HEARTH_RELEASE_LIMIT, HEARTH_PLUGIN_NAME);
  if (!hearth_tool_library_directory(output, sizeof output))
    return hearth_tool_error("the directory of the installation cannot be told (is /proc mounted?)");
  if (newest == 0)
    return hearth_tool_error("no plugin is installed for any release of LLVM");
  if (!clang) {
    snprintf(standard, sizeof standard, "clang-%d", newest);
    clang = standard;
  }
  *ret_release = release_by_folder(clang);
  if (*ret_release == 0) {
    if (!read_version(clang, output, sizeof output))
      return hearth_tool_error("%s: cannot be run (give a clang with --clang=CLANG)", clang);
    const char *version = strstr(output, "clang version ");
    if (!version || sscanf(version, "clang version %d", ret_release) != 1)
      return hearth_tool_error("%s: not a clang (give one with --clang=CLANG)", clang);
  }
  if (!hearth_tool_release_file(*ret_release, HEARTH_PLUGIN_NAME, plugin, size))
    return hearth_tool_error("%s: is release %d, and no plugin for LLVM %d is installed (install it, or use clang-%d)",
                             clang, *ret_release, *ret_release, newest);
  return HEARTH_EXIT_OK;
}

/* Does the path survive command substitution? One with a comma survives no option for the linker, and none is on two
 * lines. Returns an exit code. */
static int check_path(const char *path, bool is_quoted, bool is_linked) {
  if (access(path, R_OK) != 0)
    return hearth_tool_error("%s: %s (is the installation complete?)", path, strerror(errno));
  if (strchr(path, '\n') || (is_linked && strchr(path, ',')))
    return hearth_tool_error("%s: a path with this sign cannot be passed to the compiler; move it", path);
  if (!is_quoted && strpbrk(path, " \t*?[,"))
    return hearth_tool_error("%s: a path with blanks, commas or wildcards cannot be passed to the compiler through the "
                             "shell's $(...); use hearth-cc, or --quote with eval, or move it",
                             path);
  return HEARTH_EXIT_OK;
}

typedef struct profile_facts {
  uint64_t id, plan; /* the plan's id, 0 if it has no tables */
} profile_facts;

static int check_profile(const char *path, bool is_quoted, char *absolute, profile_facts *ret) {
  hearth_error err;
  hearth_profile *profile;
  hearth_plan plan = {0};
  hearth_status status = hearth_profile_open(path, &profile, &err);
  if (status == HEARTH_OK) {
    ret->id = hearth_profile_id(profile);
    status = hearth_profile_get_plan(profile, &plan, &err);
    ret->plan = plan.table_count > 0 ? plan.id : 0;
    hearth_profile_close(profile);
  }
  if (status != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  if (!realpath(path, absolute))
    return hearth_tool_error("%s: %s", path, strerror(errno));
  return check_path(absolute, is_quoted, false);
}

/* `profile` is NULL for a profiling build. Its id is there for tools that compare command lines: ninja, ccache,
 * sccache. */
static void print_compile(FILE *out, const char *plugin, const char *profile, uint64_t id, bool globals) {
  bool instrument = !profile;
  /* Not -gmlt, which would take a user's -g away: the last of them counts. Where remarks are wanted, of whatever pass, clang
   * tracks locations; if it does no more than that, the plugin has line tables written. The plugin also keeps passes from composing remarks
   * if this is the only pattern. By -Wp, because libtool takes
   * -R for its own. */
  fputs("-Wp,-Rpass-analysis=hearth-locations\n-fdebug-info-for-profiling\n", out);
  if (instrument)
    fputs("-fno-omit-frame-pointer\n-mno-omit-leaf-frame-pointer\n-fno-optimize-sibling-calls\n", out);
  /* Releases before 20 parse -mllvm before they load pass plugins; -fplugin loads the same file early enough. ccache
   * hashes the content of such files, but not of those of -fpass-plugin. */
  fprintf(out, "-fplugin=%s\n-fpass-plugin=%s\n", plugin, plugin);
  if (instrument)
    fprintf(out, "-mllvm\n-memprof-instrument\n%s", globals ? "-mllvm\n-memprof-globals\n" : "");
  else
    fprintf(out, "-mllvm\n-memprof-use=%s\n-mllvm\n-memprof-profile-id=%016" PRIx64 "\n", profile, id);
}

/* The part of Hearth that goes into a program: as a shared object, which any link may name any number of times, also
 * that of a library, for there is one of it in a process; or as an archive, which becomes a part of the program
 * (--static, and what the linker takes for -l by itself where it gets -static). The archive's members are taken for
 * the names behind -u, as the objects that need them may come later. */
typedef struct library {
  const char *name, *symbols;
} library;

static const library allocator = {"hearth_malloc", "-Wl,-u,malloc,-u,malloc_hot_cold,-u,_Znwm12__hot_cold_t"};
static const library runtime_library = {"hearth_rt", "-Wl,-u,__memprof_init"};

static void print_link(FILE *out, const char *directory, const library *library, bool is_static) {
  fprintf(out, "%s\n", library->symbols);
  if (is_static)
    fprintf(out, "%s/lib%s.a\n", directory, library->name);
  else
    fprintf(out, "-L%s\n-Wl,-rpath,%s\n-l%s\n", directory, directory, library->name);
  fputs("-lpthread\n-ldl\n", out);
}

/* Libraries that the program opens later are to share its word of contexts, as those do that it is linked with, and
 * to know that it has decision sites. */
static void print_exported_word(FILE *out, uint64_t plan) {
  if (plan)
    fprintf(out,
            "-Wl,--export-dynamic-symbol=__hearth_contexts.%016" PRIx64
            "\n-Wl,--export-dynamic-symbol=__hearth_sites.%016" PRIx64 "\n",
            plan, plan);
}

enum { LEAST_LTO = 19 }; /* before, lld takes no plugins */

/* Warn in links, not for each file, and go on: the build is correct without the plugin in the link. */
static void warn_of_lto(const arguments *a, int release) {
  if (a->lto && a->link && release < LEAST_LTO)
    hearth_tool_warning(
        "%s: links with LLVM %d load no plugin, so that --lto=%s tells no contexts apart across files; use "
        "LLVM %d or later, or leave --lto out: the hints are the same",
        a->clang, release, a->lto, LEAST_LTO);
}

/* LLVM 19 plans clones for the cold contexts of one call in which those of another are cold, too, though they are not. */
#define LEAST_THIN_PLAN 20

/* The link of the bitcode tells contexts apart, and gives the hints that only then are known. Unless LLVM is told
 * that the allocator takes hints, it drops contexts first. In a thin link its own pass clones functions for calls
 * that clang annotated, which an option of LLVM's switches on. */
static void print_lto_link(FILE *out, int release, const char *kind, const char *plugin) {
  fputs("-fuse-ld=lld\n", out);
  if (release < LEAST_LTO)
    return;
  fprintf(out, "-Wl,--load-pass-plugin=%s\n-Wl,-mllvm,-supports-hot-cold-new\n", plugin);
  if (strcmp(kind, "thin") == 0 && release >= LEAST_THIN_PLAN)
    fputs("-Wl,-mllvm,-enable-memprof-context-disambiguation\n", out);
}

/* Given to every step of a build, some of the flags for compiling are always of no use: no warning about that. */
static void print_flags(FILE *out, const arguments *a, int release, const char *directory, const char *plugin,
                        const library *library, const char *profile, const profile_facts *facts) {
  if (a->compile) {
    fputs("--start-no-unused-arguments\n", out);
    print_compile(out, plugin, profile, facts->id, a->globals);
  }
  if (a->lto && a->compile && release >= LEAST_LTO)
    fputs("-mllvm\n-memprof-link-plugin\n", out);
  if (a->lto)
    fprintf(out, "-flto=%s\n", a->lto);
  if (a->link) {
    fputs(profile || a->is_malloc ? "" : "-Wl,--build-id\n", out);
    print_link(out, directory, library, a->is_static);
    print_exported_word(out, facts->plan);
    if (a->globals && profile)
      fprintf(out, "-Wl,-T,%s/globals.ld\n%s/globals_%s.o\n", directory, directory, a->huge_globals ? "huge" : "kept");
    if (a->lto)
      print_lto_link(out, release, a->lto, plugin);
    if (a->is_static && profile) /* the list: for libraries that the program opens */
      fprintf(out, "-Wl,--dynamic-list=%s/lib%s.list\n", directory, allocator.name);
  }
  if (a->compile)
    fputs("--end-no-unused-arguments\n", out);
}

/* As the shell reads it. */
static void print_quoted(FILE *out, const char *word, size_t size) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./=+-_,:@%";
  if (strspn(word, plain) >= size) {
    fwrite(word, 1, size, out);
    return;
  }
  putc('\'', out);
  for (size_t i = 0; i < size; i++)
    if (word[i] == '\'')
      fputs("'\\''", out);
    else
      putc(word[i], out);
  putc('\'', out);
}

static void print_line(FILE *out, const char *words, bool quote) {
  for (size_t size; (size = strcspn(words, "\n")) > 0; words += size + 1) {
    if (quote)
      print_quoted(out, words, size);
    else
      fwrite(words, 1, size, out);
    putc(words[size + 1] ? ' ' : '\n', out);
  }
}

/* Words one a line. */
static int write_words(const arguments *a, bool is_quoted, FILE *out) {
  char directory[PATH_MAX], plugin[PATH_MAX], file[PATH_MAX + 64], profile[PATH_MAX];
  profile_facts facts = {0};
  int code, release = 0;
  bool use = a->profile != NULL;
  if (!a->is_malloc && (code = find_plugin(a->clang, &release, plugin, sizeof plugin)) != HEARTH_EXIT_OK)
    return code;
  if (use && (code = check_profile(a->profile, is_quoted, profile, &facts)) != HEARTH_EXIT_OK)
    return code;
  warn_of_lto(a, release);
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return hearth_tool_error("cannot find out where this command is installed: %s", strerror(errno));
  const library *library = use || a->is_malloc ? &allocator : &runtime_library;
  snprintf(file, sizeof file, "%s/lib%s.%s", directory, library->name, a->is_static ? "a" : "so");
  if (((a->compile || a->lto) && (code = check_path(plugin, is_quoted, a->lto != NULL)) != HEARTH_EXIT_OK) ||
      ((a->link || a->preload) && (code = check_path(file, is_quoted, true)) != HEARTH_EXIT_OK))
    return code;
  if (a->preload)
    fprintf(out, "%s\n", file);
  else
    print_flags(out, a, release, directory, plugin, library, use ? profile : NULL, &facts);
  return HEARTH_EXIT_OK;
}

int hearth_flags_write(int argc, char **argv, bool lines, FILE *out) {
  arguments a;
  int code;
  char *words = NULL;
  size_t size;
  if (!flags_command_parse(argc, argv, &a, &code))
    return code;
  FILE *stream = open_memstream(&words, &size);
  if (!stream)
    return hearth_tool_error("%s", strerror(errno));
  code = write_words(&a, lines || a.quote, stream);
  fclose(stream);
  if (code == HEARTH_EXIT_OK && lines)
    fputs(words, out);
  else if (code == HEARTH_EXIT_OK)
    print_line(out, words, a.quote);
  free(words);
  return code;
}

/* The shell goes on when a command in $(...) fails, so the compiler has to stop: neither clang nor gcc takes an option
 * of this name. The shell leaves it one word. */
static void print_failure(int argc, char **argv) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./=+-_";
  fputs("--hearth-flags-failed", stdout);
  for (int i = 1; i < argc; i++) {
    putchar(':');
    for (const char *c = argv[i]; *c; c++)
      putchar(strchr(plain, *c) ? *c : '_');
  }
  putchar('\n');
}

int hearth_cmd_flags(int argc, char **argv) {
  int code = hearth_flags_write(argc, argv, false, stdout);
  if (code != HEARTH_EXIT_OK)
    print_failure(argc, argv);
  return code == HEARTH_EXIT_OK ? hearth_tool_finish() : code;
}
