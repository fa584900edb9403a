/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth cc`, `hearth c++`: clang with the flags of `hearth flags`, as the environment says, for any build system.
 *
 * The arguments of each step are looked at only for what decides about flags; clang reads them. Not knowing an
 * option costs nothing then: its value is taken for an input, and the flags do no harm in any step that has inputs. */
#define _GNU_SOURCE /* open_memstream, memmem under strict C */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "hearth/program_tables.h"
#include "object_file.h"

static const hearth_help help = {
    .usage = "cc [CLANG'S ARGUMENT...]\nc++ [CLANG'S ARGUMENT...]",
    .about = "Compile, link or preprocess as clang does, with Hearth's flags as the environment says. hearth-cc and "
             "hearth-c++ are the same in one word: CC=hearth-cc CXX=hearth-c++ ./configure",
    .end = "What only preprocesses, links objects to an object (-r), or tests the compiler for autoconf, CMake or "
           "Meson, gets "
           "no flags: test programs write no profiles.\n"
           "make does not see that HEARTH or the profile has changed: run 'make clean'. A link warns of objects of "
           "another build, in archives, too. A compiler cache does "
           "see it if it is in HEARTH_CC; in "
           "front of hearth-cc it would not, and stores nothing.\n"
           "Exit code: clang's; 1 error, 2 wrong usage.",
    .heading = "ENVIRONMENT"};

static const hearth_option environment[] = {
    {.name = "HEARTH=instrument", .help = "for a build that writes a heap profile when it runs"},
    {.name = "HEARTH=use=FILE",
     .help = "for a build that is optimised with this indexed profile; give the whole path if the build changes "
             "folders. Also as use:FILE"},
    {.name = "HEARTH=off", .help = "as if HEARTH were not set: clang without flags"},
    {.name = "HEARTH_FLAGS", .help = "further options of 'hearth flags', as --lto=thin or --static"},
    {.name = "HEARTH_CC",
     .help = "clang, and what comes before it: HEARTH_CC='ccache clang-22' (default: clang of the newest LLVM that a "
             "plugin is "
             "installed for)"},
    {.name = "HEARTH_CXX", .help = "the same for C++"},
    {0}};

/* Words of a command line, with a NULL behind the last; they live as long as the process does. */
typedef struct words {
  char **rows;
  int count;
} words;

static void cc_command_add(words *to, const char *word) {
  char **rows = realloc(to->rows, ((size_t)to->count + 2) * sizeof *rows);
  char *copy = strdup(word);
  if (!rows || !copy)
    exit(hearth_tool_error("out of memory"));
  rows[to->count++] = copy;
  rows[to->count] = NULL;
  to->rows = rows;
}

static void add_all(words *to, const char *text) {
  char word[PATH_MAX + 64];
  for (int length; sscanf(text, "%4159s%n", word, &length) == 1; text += length)
    cc_command_add(to, word);
}

static void add_lines(words *to, char *text) {
  for (char *end; (end = strchr(text, '\n')); text = end + 1) {
    *end = '\0';
    cc_command_add(to, text);
  }
}

/* -------------------------------------------------- the step -------------------------------------------------- */

typedef struct step {
  bool has_input, compiles_only, is_plain, is_shared, is_static;
} step;

static bool is_one_of(const char *word, const char *const *list) {
  while (*list && strcmp(*list, word) != 0)
    list++;
  return *list != NULL;
}

/* Files that build systems test compilers with. Some of these programs run, and none is a part of what is built. */
static bool is_probe(const char *path) {
  static const char *const folders[] = {"/CMakeFiles/CMakeScratch", "/CMakeFiles/CMakeTmp", "/CompilerId",
                                        "meson-private", NULL};
  const char *slash = strrchr(path, '/');
  if (strncmp(slash ? slash + 1 : path, "conftest", strlen("conftest")) == 0)
    return true;
  for (const char *const *folder = folders; *folder; folder++)
    if (strstr(path, *folder))
      return true;
  return false;
}

static step step_of(char **arguments) {
  static const char *const with_value[] = {
      "-o",       "-x",         "-I",      "-L",       "-D",     "-U",      "-l",       "-T",       "-u",
      "-z",       "-e",         "-B",      "-MF",      "-MT",    "-MQ",     "-include", "-isystem", "-iquote",
      "-imacros", "-idirafter", "-Xclang", "-Xlinker", "-mllvm", "-target", "--param",  "-arch",    NULL};
  static const char *const only_compiling[] = {"-c", "-S", NULL};
  static const char *const plain[] = {"-E", "-M", "-MM", "-fsyntax-only", "-r", "-Wl,-r", "-Wl,--relocatable", NULL};
  static const char *const shared[] = {"-shared", "--shared", NULL};
  static const char *const fully_static[] = {"-static", "--static", "-static-pie", NULL};
  char folder[PATH_MAX];
  step ret = {.is_plain = getcwd(folder, sizeof folder) && is_probe(folder)};
  for (char **at = arguments; *at; at++) {
    ret.is_plain |= is_one_of(*at, plain);
    ret.compiles_only |= is_one_of(*at, only_compiling);
    ret.is_shared |= is_one_of(*at, shared);
    ret.is_static |= is_one_of(*at, fully_static);
    bool value = is_one_of(*at, with_value) && at[1];
    bool input = !value && ((*at)[0] != '-' || !(*at)[1]);
    at += value;
    ret.has_input |= input;
    ret.is_plain |= (input || value) && is_probe(*at);
  }
  return ret;
}

/* -------------------------------------------------- the flags -------------------------------------------------- */

/* Caches look up what they have before they run us. They know neither the variable nor the profile that it names. */
static bool runs_in_cache(const char **ret_name) {
  static const char *const caches[] = {"ccache", "sccache", NULL};
  char link[64], parent[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)getppid());
  ssize_t length = readlink(link, parent, sizeof parent - 1);
  if (length < 0)
    return false;
  parent[length] = '\0';
  const char *slash = strrchr(parent, '/');
  *ret_name = is_one_of(slash + 1, caches) ? strcmp(slash + 1, "ccache") == 0 ? "ccache" : "sccache" : NULL;
  return *ret_name != NULL;
}

/* What `hearth flags` is asked for. Returns HEARTH_EXIT_OK or an exit code. */
static int request_of(const char *mode, const step *step, const char *clang, words *ret) {
  bool use = strncmp(mode, "use", 3) == 0 && (mode[3] == '=' || mode[3] == ':');
  if (!use && strcmp(mode, "instrument") != 0)
    return hearth_tool_usage_error("cc", "HEARTH is instrument, use=FILE or off, not '%s'", mode);
  cc_command_add(ret, "flags");
  cc_command_add(ret, use ? "use" : mode);
  if (use) {
    const char *profile = mode + strlen("use=");
    if (*profile == '\0')
      return hearth_tool_usage_error("cc", "HEARTH=use= names no profile, as HEARTH=use=$PWD/app.heap does");
    if (*profile != '/' && access(profile, R_OK) != 0)
      return hearth_tool_error("%s: %s; give the whole path, as in HEARTH=use=$PWD/app.heap", profile, strerror(errno));
    cc_command_add(ret, profile);
  }
  cc_command_add(ret, "--clang");
  cc_command_add(ret, clang);
  if (getenv("HEARTH_FLAGS"))
    add_all(ret, getenv("HEARTH_FLAGS"));
  if (step->is_static && !step->is_shared)
    cc_command_add(ret, "--static");
  /* Of a program that contains Hearth's code, libraries take it from there. */
  if (step->compiles_only || (step->is_shared && is_one_of("--static", (const char *const *)ret->rows)))
    cc_command_add(ret, "--compile");
  return HEARTH_EXIT_OK;
}

static int add_flags(const char *mode, const step *step, words *command) {
  words request = {0};
  char *text = NULL;
  size_t size;
  int code = request_of(mode, step, command->rows[command->count - 1], &request);
  FILE *stream = code == HEARTH_EXIT_OK ? open_memstream(&text, &size) : NULL;
  if (!stream)
    return code == HEARTH_EXIT_OK ? hearth_tool_error("%s", strerror(errno)) : code;
  code = hearth_flags_write(request.count, request.rows, true, stream);
  fclose(stream);
  add_lines(command, text);
  free(text);
  return code;
}

/* Clang, with what the user has put before it. Returns HEARTH_EXIT_OK or an exit code. */
static int add_clang(bool cxx, words *command) {
  char standard[32];
  const char *given = getenv(cxx ? "HEARTH_CXX" : "HEARTH_CC");
  int newest = hearth_tool_release_below(HEARTH_RELEASE_LIMIT, HEARTH_PLUGIN_NAME);
  snprintf(standard, sizeof standard, newest ? "clang%s-%d" : "clang%s", cxx ? "++" : "", newest);
  add_all(command, given ? given : standard);
  return command->count > 0 ? HEARTH_EXIT_OK : hearth_tool_usage_error("cc", "HEARTH_CC or HEARTH_CXX is empty");
}

/* -------------------------------------------------- compile marks -------------------------------------------------- */

/* Which builds the objects of a link are of (hearth/program_tables.h).
 *
 * Of each object, the first mark that is not the link's is enough to know. An object that clang has signed without a
 * mark was compiled without Hearth; those of assemblers and other compilers have nothing to be asked for. Libraries
 * that are searched for by -l may be someone else's, and are not looked at. */

typedef struct findings {
  char expected[64];   /* the link's mark; "": none */
  char path[PATH_MAX]; /* of the first; of a member: "lib.a(member.o)" */
  char mark[64];       /* of that object; "": none */
  int count;
} findings;

static void expected_mark(const char *mode, char *const *flags, char *ret, size_t size) {
  static const char option[] = "-memprof-profile-id=";
  snprintf(ret, size, "%s", strcmp(mode, "instrument") == 0 ? HEARTH_MARK_INSTRUMENT : "");
  for (char *const *at = flags; at && *at; at++)
    if (strncmp(*at, option, strlen(option)) == 0)
      snprintf(ret, size, HEARTH_MARK_START "use %s", *at + strlen(option));
}

/* The length of the mark that `text` starts with; 0: none. */
static size_t mark_length(hearth_bytes text) {
  static const char use[] = HEARTH_MARK_START "use ", digits[] = "0123456789abcdef";
  size_t instrument = strlen(HEARTH_MARK_INSTRUMENT), at = strlen(use), end = at + 16;
  if (text.size >= instrument && memcmp(text.data, HEARTH_MARK_INSTRUMENT, instrument) == 0)
    return instrument;
  if (text.size < end || memcmp(text.data, use, at) != 0)
    return 0;
  while (at < end && strchr(digits, text.data[at]))
    at++;
  return at == end ? end : 0;
}

/* The strings of .comment, or all of a module of bitcode: there they follow each other without an end. */
static bool finds_other(hearth_bytes text, const findings *f, char *ret_mark, size_t size) {
  static const char clang[] = "clang version ";
  const uint8_t *end = text.data + text.size, *at = text.data;
  bool is_marked = false;
  while ((at = memmem(at, (size_t)(end - at), HEARTH_MARK_START, strlen(HEARTH_MARK_START)))) {
    size_t length = mark_length((hearth_bytes){at, (size_t)(end - at)});
    snprintf(ret_mark, size, "%.*s", (int)length, (const char *)at);
    is_marked |= length > 0;
    if (length > 0 && strcmp(ret_mark, f->expected) != 0)
      return true;
    at++;
  }
  *ret_mark = '\0';
  return *f->expected && !is_marked && memmem(text.data, text.size, clang, strlen(clang));
}

/* What an object says about its build; no bytes: nothing, or it is no object for a link. */
static hearth_bytes signatures(Elf *object) {
  static const uint8_t bitcode[] = {'B', 'C', 0xc0, 0xde};
  hearth_bytes all = {0};
  if (elf_kind(object) == ELF_K_ELF) /* the plugin leaves 32 bits alone, and marks nothing there */
    return hearth_elf_is_linked(object) || gelf_getclass(object) != ELFCLASS64 ? all
                                                                               : hearth_elf_section(object, ".comment");
  all.data = (const uint8_t *)elf_rawfile(object, &all.size);
  bool is_module = all.data && all.size > sizeof bitcode && memcmp(all.data, bitcode, sizeof bitcode) == 0;
  return is_module ? all : (hearth_bytes){0};
}

static void compile_mark_look_at(Elf *object, const char *archive, const char *name, findings *f) {
  char mark[64];
  hearth_bytes text = signatures(object);
  if (text.size == 0 || !finds_other(text, f, mark, sizeof mark) || f->count++ > 0)
    return;
  snprintf(f->path, sizeof f->path, archive ? "%s(%s)" : "%s%s", archive ? archive : "", name);
  memcpy(f->mark, mark, sizeof mark);
}

static void look_at_members(int fd, Elf *archive, const char *path, findings *f) {
  Elf *member;
  for (Elf_Cmd next = ELF_C_READ_MMAP; (member = elf_begin(fd, next, archive)); elf_end(member)) {
    const Elf_Arhdr *header = elf_getarhdr(member);
    if (header)
      compile_mark_look_at(member, path, header->ar_name, f);
    next = elf_next(member);
  }
}

static void look_at_file(const char *path, findings *f) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  elf_version(EV_CURRENT);
  Elf *file = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
  if (file && elf_kind(file) == ELF_K_AR)
    look_at_members(fd, file, path, f);
  else if (file)
    compile_mark_look_at(file, NULL, path, f);
  elf_end(file);
  if (fd >= 0)
    close(fd);
}

static const char *compile_mark_describe(const char *mark, const char *expected) {
  if (!*mark)
    return "without Hearth";
  if (strcmp(mark, HEARTH_MARK_INSTRUMENT) == 0)
    return "with HEARTH=instrument";
  return strncmp(expected, mark, strlen(HEARTH_MARK_START "use ")) == 0 ? "with another profile"
                                                                        : "with HEARTH=use=PROFILE";
}

static bool is_object_or_archive(const char *path) {
  const char *suffix = strrchr(path, '.');
  return *path != '-' && suffix && (strcmp(suffix, ".o") == 0 || strcmp(suffix, ".a") == 0);
}

/* Warn, once, if objects among the link's arguments are of another build than the link. `mode` as in HEARTH, or
 * "off"; `flags` are those for clang. Looked at: objects, modules of bitcode and archives, but thin ones, that are
 * named by path. */
static void check_compile_marks(char *const *arguments, const char *mode, char *const *flags) {
  char others[64] = "";
  findings f = {.count = 0};
  expected_mark(mode, flags, f.expected, sizeof f.expected);
  for (char *const *at = arguments; *at; at++) {
    bool is_output = at > arguments && strcmp(at[-1], "-o") == 0;
    if (!is_output && is_object_or_archive(*at))
      look_at_file(*at, &f);
  }
  if (f.count == 0)
    return;
  if (f.count > 1)
    snprintf(others, sizeof others, " (and %d more)", f.count - 1);
  hearth_tool_warning("%s%s was compiled %s, and this link is HEARTH=%s: compile all anew (make clean)", f.path, others,
                      compile_mark_describe(f.mark, f.expected), mode);
}

/* -------------------------------------------------- the command -------------------------------------------------- */

int hearth_cmd_cc(int argc, char **argv) {
  words command = {0};
  const char *cache, *mode = getenv("HEARTH");
  step step = step_of(argv + 1);
  int code;
  if (argc == 2 && hearth_help_asked(argv[1], &help, environment, stdout))
    return hearth_tool_finish();
  if (runs_in_cache(&cache))
    return hearth_tool_error("%s does not see that the profile has changed: put it behind, as in HEARTH_CC='%s clang'",
                             cache, cache);
  if ((code = add_clang(strcmp(argv[0], "c++") == 0, &command)) != HEARTH_EXIT_OK)
    return code;
  bool wanted = mode && *mode && strcmp(mode, "off") != 0;
  if (wanted && step.has_input && !step.is_plain && (code = add_flags(mode, &step, &command)) != HEARTH_EXIT_OK)
    return code;
  if (step.has_input && !step.is_plain && !step.compiles_only)
    check_compile_marks(argv + 1, wanted ? mode : "off", command.rows);
  for (int i = 1; i < argc; i++)
    cc_command_add(&command, argv[i]);
  execvp(command.rows[0], command.rows);
  return hearth_tool_error("%s: %s", command.rows[0], strerror(errno));
}
