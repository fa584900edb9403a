/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LD_PRELOAD and exec, after a look whether the loader will heed it there. */
#define _GNU_SOURCE /* setenv under strict C */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command.h"
#include "object_file.h"

/* ------------------------------------------------ program file ------------------------------------------------ */

/* PATH is searched as execvp does; interpreters of scripts are followed as the kernel does. The program's headers and
 * dynamic symbols tell whether a library can be preloaded. */

#define SCRIPTS_MOST 4 /* interpreters that are scripts themselves; the kernel follows as many */
#define LINE_MOST    256

bool hearth_program_find(const char *command, char *ret_path, size_t size) {
  const char *directories = getenv("PATH");
  if (strchr(command, '/')) {
    if ((size_t)snprintf(ret_path, size, "%s", command) < size)
      return access(ret_path, X_OK) == 0;
    errno = ENAMETOOLONG;
    return false;
  }
  int denied = 0;
  for (const char *at = directories ? directories : "/bin:/usr/bin";; ++at) {
    size_t length = strcspn(at, ":");
    int printed = snprintf(ret_path, size, "%.*s%s%s", (int)length, at, length ? "/" : "./", command);
    struct stat info;
    if (printed > 0 && (size_t)printed < size && stat(ret_path, &info) == 0 && S_ISREG(info.st_mode)) {
      if (access(ret_path, X_OK) == 0)
        return true;
      denied = EACCES;
    }
    at += length;
    if (!*at)
      break;
  }
  errno = denied ? denied : ENOENT;
  return false;
}

static bool refuse_preload(char *ret_reason, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse_preload(char *ret_reason, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(ret_reason, size, format, arguments);
  va_end(arguments);
  return false;
}

static bool is_privileged(const char *path) {
  struct stat info;
  return (stat(path, &info) == 0 && info.st_mode & (S_ISUID | S_ISGID)) ||
         getxattr(path, "security.capability", NULL, 0) > 0;
}

static bool is_dynamic(Elf *elf) {
  size_t count = 0;
  GElf_Phdr segment;
  elf_getphdrnum(elf, &count);
  for (size_t i = 0; i < count; ++i)
    if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
      return true;
  return false;
}

uint64_t hearth_program_symbol(hearth_elf_file *file, const char *wanted) {
  hearth_symbol_table table = hearth_symbol_table_open(file, ".dynsym", ".dynstr");
  Elf64_Sym symbol;
  const char *name;
  while (hearth_symbol_table_next(&table, &symbol, &name))
    if (symbol.st_shndx != SHN_UNDEF && name && strcmp(name, wanted) == 0)
      return symbol.st_value;
  return 0;
}

static bool check_elf(const char *path, char *ret_reason, size_t size) {
  hearth_elf_file *file;
  hearth_error err;
  if (hearth_elf_file_open(path, &file, &err) != HEARTH_OK)
    return refuse_preload(ret_reason, size, "%s (only dynamically linked 64-bit programs can be recorded)",
                          err.message);
  bool dynamic = is_dynamic(hearth_elf_file_elf(file)), own_malloc = dynamic && hearth_program_symbol(file, "malloc");
  bool is_loader = !dynamic && hearth_program_symbol(file, "_r_debug"); /* it runs the program that is its argument */
  hearth_elf_file_close(file);
  if (!dynamic && !is_loader)
    return refuse_preload(ret_reason, size,
                          "%s: statically linked, nothing can be preloaded (link it dynamically, or with the runtime: "
                          "'hearth flags instrument')",
                          path);
  if (own_malloc)
    return refuse_preload(
        ret_reason, size,
        "%s: defines malloc itself, which comes before a preloaded one (link it without that allocator)", path);
  return true;
}

/* The interpreter that a script's first line names; false: it is no script. */
static bool find_interpreter(const char *path, char *ret_interpreter, size_t size) {
  char line[LINE_MOST + 1];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, line, LINE_MOST);
  if (fd >= 0)
    close(fd);
  if (got < 2 || line[0] != '#' || line[1] != '!')
    return false;
  line[got] = '\0';
  const char *name = line + 2 + strspn(line + 2, " \t");
  return (size_t)snprintf(ret_interpreter, size, "%.*s", (int)strcspn(name, " \t\n"), name) < size;
}

/* Can a library be preloaded into the program, and stand for its allocator? Reads the ELF file; of a script, that of its
 * interpreter.
 *   ret_reason  why not, naming file and remedy */
static bool can_preload(const char *path, char *ret_reason, size_t size) {
  char program[PATH_MAX], interpreter[PATH_MAX];
  snprintf(program, sizeof program, "%s", path);
  for (int scripts = 0; scripts < SCRIPTS_MOST && find_interpreter(program, interpreter, sizeof interpreter); ++scripts)
    memcpy(program, interpreter, sizeof program);
  if (is_privileged(program))
    return refuse_preload(
        ret_reason, size,
        "%s: set-user-id, set-group-id or with capabilities: the dynamic loader preloads nothing into such "
        "programs (record a copy without them)",
        program);
  return check_elf(program, ret_reason, size);
}

/* ------------------------------------------------ preloading ------------------------------------------------ */

/* The library comes first, before those that are preloaded anyway. */
static bool preload(const char *library) {
  const char *others = getenv("LD_PRELOAD");
  char *all = NULL;
  bool any = others && *others;
  bool set =
      asprintf(&all, "%s%s%s", library, any ? ":" : "", any ? others : "") > 0 && setenv("LD_PRELOAD", all, 1) == 0;
  free(all);
  return set;
}

int hearth_preload_find(const char *library, hearth_preload_path ret_path) {
  char directory[PATH_MAX];
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return HEARTH_REFUSE("the directory of the installation cannot be told (is /proc mounted?)");
  snprintf(ret_path, sizeof(hearth_preload_path), "%s/%s", directory, library);
  if (access(ret_path, R_OK) != 0)
    return HEARTH_REFUSE("%s: %s (is the installation complete?)", ret_path, strerror(errno));
  if (strpbrk(ret_path, ": "))
    return HEARTH_REFUSE("%s: a path with blanks or colons cannot be preloaded; move it", ret_path);
  return HEARTH_EXIT_OK;
}

int hearth_preloaded_find(const char *command, const char *library, hearth_preload_path ret_path) {
  char program[PATH_MAX], reason[1024];
  if (!hearth_program_find(command, program, sizeof program)) {
    int error = errno;
    hearth_tool_error("%s: %s", command, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
  }
  if (!can_preload(program, reason, sizeof reason))
    return HEARTH_REFUSE("%s", reason);
  return hearth_preload_find(library, ret_path);
}

int hearth_preloaded_start(const hearth_preload_path library, const char *variable, const char *value, char **argv) {
  if (!preload(library) || (variable && setenv(variable, value, 1) != 0))
    return HEARTH_REFUSE("out of memory");
  execvp(argv[0], argv);
  hearth_tool_error("%s: %s", argv[0], strerror(errno));
  return EXIT_NOT_RUN;
}

static volatile sig_atomic_t child;

static void pass_on(int number) {
  if (child > 0)
    kill((pid_t)child, number);
}

int hearth_preloaded_await(pid_t pid, struct rusage *ret_usage) {
  int status;
  if (pid < 0)
    return HEARTH_REFUSE("cannot start the command: %s", strerror(errno));
  child = pid;
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTERM, pass_on);
  signal(SIGHUP, pass_on);
  while (wait4(pid, &status, 0, ret_usage) < 0)
    if (errno != EINTR)
      return HEARTH_REFUSE("cannot wait for the command: %s", strerror(errno));
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ------------------------------------------------ run ------------------------------------------------ */

/* `hearth run`: run an unchanged program with Hearth's allocator preloaded. The command takes this process's place:
 * input, output, exit and process id are its own. */

static const hearth_help help = {
    .usage = "run [OPTION...] [--] COMMAND [ARGUMENT...]",
    .about = "Run a dynamically linked program as it is, with Hearth's allocator.",
    .end =
        "HEARTH_MALLOC takes options of the allocator. Programs that the command starts inherit both.\n"
        "Exit code: the command's; 125 the allocator is not installed, 126 the command cannot be run, 127 it does not "
        "exist; 2 wrong usage."};

/* A gain shows beside a run without the allocator alone; `hearth tune` measures it. */
static int run_and_tell(const char *library, char **argv) {
  struct rusage usage;
  pid_t pid = fork();
  if (pid == 0)
    exit(hearth_preloaded_start(library, NULL, NULL, argv));
  int code = hearth_preloaded_await(pid, &usage);
  if (code >= EXIT_REFUSED && code <= EXIT_NOT_FOUND)
    return code;
  double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  fprintf(stderr, "hearth: %s ran with Hearth's allocator: %.2f s of processor time, at most %.1f MiB in memory\n",
          argv[0], seconds, (double)usage.ru_maxrss / 1024);
  return code;
}

int hearth_cmd_run(int argc, char **argv) {
  bool tells = isatty(STDERR_FILENO), is_quiet = false;
  const hearth_option options[] = {
      HEARTH_FLAG("--verbose", 'v', &tells,
                  "when the command has ended, say on standard error what it took; on a terminal, this is the default"),
      HEARTH_FLAG("--quiet", 'q', &is_quiet, "say nothing"),
      {0}};
  hearth_preload_path library;
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("run", "which command?");
  argv[operands + 1] = NULL;
  code = hearth_preloaded_find(argv[1], "libhearth_malloc.so", library);
  if (code != HEARTH_EXIT_OK)
    return code;
  return tells && !is_quiet ? run_and_tell(library, argv + 1) : hearth_preloaded_start(library, NULL, NULL, argv + 1);
}

#ifndef __x86_64__ /* attached_process.c knows the calling convention of one processor */
int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void)) {
  (void)library, (void)settings, (void)begun;
  return hearth_tool_error("%d: a program that runs can be recorded on x86-64 only; start it with 'hearth record'",
                           (int)pid);
}
#endif
