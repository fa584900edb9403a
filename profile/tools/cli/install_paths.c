/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* /proc/self/exe leads to the executable, or where it is missing, the path that was executed; its folder leads to
 * the others: PREFIX/bin/hearth, PREFIX/lib/hearth/ with the libraries, PREFIX/lib/hearth/llvm-N/ with what is
 * linked for one release. In a build tree both are links to lib/. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "install_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command_line.h"
#include "object_file.h"

enum { OLDEST_RELEASE = 14 };

bool hearth_tool_library_directory(char *path, size_t size) {
  char executable[PATH_MAX], folder[PATH_MAX + 16], real[PATH_MAX];
  const char *executed = (const char *)getauxval(AT_EXECFN);
  if (!realpath("/proc/self/exe", executable) && !(executed && realpath(executed, executable)))
    return false;
  char *name = strrchr(executable, '/');
  if (!name)
    return false;
  *name = '\0';
  snprintf(folder, sizeof folder, "%s/../lib/hearth", executable);
  return realpath(folder, real) && (size_t)snprintf(path, size, "%s", real) < size;
}

bool hearth_tool_release_file(int release, const char *name, char *path, size_t size) {
  char directory[PATH_MAX], file[PATH_MAX + 64], real[PATH_MAX];
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return false;
  snprintf(file, sizeof file, "%s/llvm-%d/%s", directory, release, name);
  return realpath(file, real) && (size_t)snprintf(path, size, "%s", real) < size;
}

int hearth_tool_release_below(int limit, const char *name) {
  char path[PATH_MAX];
  for (int release = limit - 1; release >= OLDEST_RELEASE; release--)
    if (hearth_tool_release_file(release, name, path, sizeof path))
      return release;
  return 0;
}

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

static bool install_path_refuse(char *ret_reason, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool install_path_refuse(char *ret_reason, size_t size, const char *format, ...) {
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

/* Does it define the function or variable where others see it? Then that is everyone's. */
static bool defines(hearth_elf_file *file, const char *wanted) {
  hearth_symbol_table table = hearth_symbol_table_open(file, ".dynsym", ".dynstr");
  Elf64_Sym symbol;
  const char *name;
  while (hearth_symbol_table_next(&table, &symbol, &name))
    if (symbol.st_shndx != SHN_UNDEF && name && strcmp(name, wanted) == 0)
      return true;
  return false;
}

static bool check_elf(const char *path, char *ret_reason, size_t size) {
  hearth_elf_file *file;
  hearth_error err;
  if (hearth_elf_file_open(path, &file, &err) != HEARTH_OK)
    return install_path_refuse(ret_reason, size, "%s (only dynamically linked 64-bit programs can be recorded)",
                               err.message);
  bool dynamic = is_dynamic(hearth_elf_file_elf(file)), own_malloc = dynamic && defines(file, "malloc");
  bool is_loader = !dynamic && defines(file, "_r_debug"); /* it runs the program that is its argument */
  hearth_elf_file_close(file);
  if (!dynamic && !is_loader)
    return install_path_refuse(
        ret_reason, size,
        "%s: statically linked, nothing can be preloaded (link it dynamically, or with the runtime: "
        "'hearth flags instrument')",
        path);
  if (own_malloc)
    return install_path_refuse(
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

bool hearth_program_can_preload(const char *path, char *ret_reason, size_t size) {
  char program[PATH_MAX], interpreter[PATH_MAX];
  snprintf(program, sizeof program, "%s", path);
  for (int scripts = 0; scripts < SCRIPTS_MOST && find_interpreter(program, interpreter, sizeof interpreter); ++scripts)
    memcpy(program, interpreter, sizeof program);
  if (is_privileged(program))
    return install_path_refuse(
        ret_reason, size,
        "%s: set-user-id, set-group-id or with capabilities: the dynamic loader preloads nothing into such "
        "programs (record a copy without them)",
        program);
  return check_elf(program, ret_reason, size);
}
